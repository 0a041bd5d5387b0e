-- Documents are cut at their headings: the next ingestion reads their files again.
UPDATE file SET mtime = NULL, hash = 'to be read again'
WHERE language IN ('markdown', 'restructuredtext', 'text') OR path LIKE '%.ipynb';
