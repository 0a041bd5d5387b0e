// Secrets in sources are redacted: the next ingestion reads every file again.
MATCH (f:File)
CALL (f) { SET f.mtime = null, f.hash = 'to be read again' } IN TRANSACTIONS OF 10000 ROWS;
