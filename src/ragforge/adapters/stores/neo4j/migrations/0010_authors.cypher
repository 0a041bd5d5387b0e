// Who said it, and who may see it. What is here already has no author and is seen by everybody, as
// before. What is not private to anybody needs no property, so that no message is changed.
CREATE INDEX ragforge_conversation_author IF NOT EXISTS
FOR (n:Conversation) ON (n.author_key);
MATCH (n:Conversation) WHERE n.visibility IS NULL
CALL (n) { SET n.visibility = 'shared', n.agent = 'ragforge' } IN TRANSACTIONS OF 10000 ROWS;
MATCH (n:Note) WHERE n.visibility IS NULL
CALL (n) { SET n.visibility = 'shared' } IN TRANSACTIONS OF 10000 ROWS;
