// What requests to models took. The next import reads every transcript again: until now, their counts
// of tokens were not kept.
CREATE CONSTRAINT ragforge_usage IF NOT EXISTS
FOR (n:Usage) REQUIRE n.uuid IS UNIQUE;
CREATE INDEX ragforge_usage_conversation IF NOT EXISTS
FOR (n:Usage) ON (n.conversation_id);
CREATE INDEX ragforge_usage_date IF NOT EXISTS
FOR (n:Usage) ON (n.created_ms);
MATCH (n:RagForgeTranscript) WHERE n.stamp <> ''
CALL (n) { SET n.stamp = '' } IN TRANSACTIONS OF 10000 ROWS;
