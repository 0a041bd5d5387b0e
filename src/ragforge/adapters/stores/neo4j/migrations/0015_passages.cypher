// The pieces of long turns, and what was done in them. They are made when the words of a turn are
// indexed: those of older turns with the words of the new tokeniser. What was done has an index of its
// own: its texts have other lengths and other words.
CREATE CONSTRAINT ragforge_passage IF NOT EXISTS
FOR (n:Passage) REQUIRE n.uuid IS UNIQUE;
CREATE INDEX ragforge_passage_turn IF NOT EXISTS
FOR (n:Passage) ON (n.turn_id);
CREATE INDEX ragforge_passage_conversation IF NOT EXISTS
FOR (n:Passage) ON (n.conversation_id);
CREATE INDEX ragforge_passage_repository IF NOT EXISTS
FOR (n:Passage) ON (n.project_id);
CREATE INDEX ragforge_passage_started IF NOT EXISTS
FOR (n:Passage) ON (n.started_ms);
CREATE INDEX ragforge_passage_model IF NOT EXISTS
FOR (n:Passage) ON (n.embedding_key);
CREATE FULLTEXT INDEX ragforge_passage_words IF NOT EXISTS
FOR (n:Passage) ON EACH [n.words, n.project_id, n.private_to]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};
CREATE FULLTEXT INDEX ragforge_deed_words IF NOT EXISTS
FOR (n:Passage) ON EACH [n.deeds, n.project_id, n.private_to]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};
CREATE VECTOR INDEX ragforge_passage_vectors IF NOT EXISTS
FOR (n:Passage) ON (n.embedding)
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};
