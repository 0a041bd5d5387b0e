-- What a file imports, as it is written there: whom a change elsewhere may concern.
ALTER TABLE file ADD COLUMN imports TEXT NOT NULL DEFAULT '[]';

-- Keys stand for the project, as they do for turns; documents are searched apart from code.
-- The words are made anew.
DROP TABLE scope_words;
CREATE VIRTUAL TABLE scope_words
  USING fts5 (name, path, signature, docstring, source, keys,
              content='', contentless_delete=1, tokenize='ascii');
CREATE VIRTUAL TABLE section_words
  USING fts5 (name, path, signature, docstring, source, keys,
              content='', contentless_delete=1, tokenize='ascii');
DROP TRIGGER scope_gone;
CREATE TRIGGER scope_gone AFTER DELETE ON scope BEGIN
  DELETE FROM scope_words WHERE rowid = old.id AND old.type <> 'section';
  DELETE FROM section_words WHERE rowid = old.id AND old.type = 'section';
  DELETE FROM vector WHERE kind = 'scope' AND owner = old.id;
  DELETE FROM relation WHERE source = old.uuid OR target = old.uuid;
END;
UPDATE meta SET value = '' WHERE name = 'tokeniser';

-- Sources stand apart: names, places and types are read for thousands of scopes a search.
CREATE TABLE scope_text (
  id     INTEGER PRIMARY KEY REFERENCES scope (id) ON DELETE CASCADE,
  source TEXT NOT NULL
) STRICT;
INSERT INTO scope_text SELECT id, source FROM scope;
ALTER TABLE scope DROP COLUMN source;

-- What a vector was made of stands beside it: a note in the scope's own row would have its
-- whole source written again.
ALTER TABLE vector ADD COLUMN hash TEXT;
UPDATE vector SET hash = (SELECT s.embedding_hash FROM scope s WHERE s.id = owner)
  WHERE kind = 'scope';
ALTER TABLE scope DROP COLUMN embedding_hash;
