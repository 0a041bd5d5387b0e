// The source of a scope is its real lines. What is indexed is kept apart where it differs: of a
// class, its lines with the signatures of its members. The next ingestion reads every file again.
MATCH (f:File) WHERE f.hash <> 'to be read again'
CALL (f) { SET f.mtime = null, f.hash = 'to be read again' } IN TRANSACTIONS OF 10000 ROWS;
