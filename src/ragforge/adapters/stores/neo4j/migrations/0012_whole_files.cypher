// The scopes that stand for whole files have a label, and so an index of vectors of their own: a search
// looks for the nearest files first, and of all scopes nine in ten would be passed over.
CREATE VECTOR INDEX ragforge_whole_file_vectors IF NOT EXISTS
FOR (n:WholeFile) ON (n.embedding)
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};
MATCH (n:Scope) WHERE n.type IN ['module', 'chunk'] AND NOT n:WholeFile
CALL (n) { SET n:WholeFile } IN TRANSACTIONS OF 1000 ROWS;
