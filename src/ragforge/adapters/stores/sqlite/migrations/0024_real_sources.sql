-- The source of a scope is its real lines. What is indexed is kept apart where it differs: of a
-- class, its lines with the signatures of its members. The next ingestion reads every file again.
ALTER TABLE scope_text ADD COLUMN search_text TEXT;
UPDATE file SET mtime = NULL, hash = 'to be read again' WHERE kind <> 'web_page';
