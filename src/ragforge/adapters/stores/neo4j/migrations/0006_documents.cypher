// Documents are cut at their headings: the next ingestion reads their files again.
MATCH (f:File)
WHERE f.language IN ['markdown', 'restructuredtext', 'text'] OR f.path ENDS WITH '.ipynb'
SET f.mtime = null, f.hash = 'to be read again';
