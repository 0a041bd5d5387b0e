// What somebody wants remembered of a project
CREATE CONSTRAINT ragforge_note IF NOT EXISTS
FOR (n:Note) REQUIRE n.uuid IS UNIQUE;
CREATE INDEX ragforge_note_project IF NOT EXISTS
FOR (n:Note) ON (n.project_path);
CREATE INDEX ragforge_note_conversation IF NOT EXISTS
FOR (n:Note) ON (n.conversation_id);
CREATE INDEX ragforge_note_superseded IF NOT EXISTS
FOR (n:Note) ON (n.supersedes);
CREATE INDEX ragforge_note_created IF NOT EXISTS
FOR (n:Note) ON (n.created_ms);
CREATE INDEX ragforge_note_model IF NOT EXISTS
FOR (n:Note) ON (n.embedding_key);
CREATE FULLTEXT INDEX ragforge_note_words IF NOT EXISTS
FOR (n:Note) ON EACH [n.words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};
CREATE VECTOR INDEX ragforge_note_vectors IF NOT EXISTS
FOR (n:Note) ON (n.embedding)
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};
