// Dates become date-times, which keep their offset. They were texts, which no date compares with.
CREATE INDEX ragforge_conversation_created_at IF NOT EXISTS
FOR (n:Conversation) ON (n.created_at);
CREATE INDEX ragforge_conversation_updated_at IF NOT EXISTS
FOR (n:Conversation) ON (n.updated_at);
CREATE INDEX ragforge_message_timestamp IF NOT EXISTS
FOR (n:Message) ON (n.timestamp);
CREATE INDEX ragforge_summary_created_at IF NOT EXISTS
FOR (n:Summary) ON (n.created_at);
MATCH (n:Conversation) WHERE n.created_at IS :: STRING NOT NULL OR n.updated_at IS :: STRING NOT NULL
CALL (n) { SET n.created_at = datetime(n.created_at), n.updated_at = datetime(n.updated_at) }
IN TRANSACTIONS OF 10000 ROWS;
MATCH (n:Message|ToolCall|ToolResult) WHERE n.timestamp IS :: STRING NOT NULL
CALL (n) { SET n.timestamp = datetime(n.timestamp) } IN TRANSACTIONS OF 10000 ROWS;
MATCH (n:Summary) WHERE n.created_at IS :: STRING NOT NULL
CALL (n) { SET n.created_at = datetime(n.created_at) } IN TRANSACTIONS OF 10000 ROWS;
MATCH (n:File|WebPage) WHERE n.mtime IS :: STRING NOT NULL
CALL (n) { SET n.mtime = datetime(n.mtime) } IN TRANSACTIONS OF 10000 ROWS;
MATCH (n:RagForgeJob) WHERE n.created_at IS :: STRING NOT NULL
CALL (n) { SET n.created_at = datetime(n.created_at), n.run_after = datetime(n.run_after) }
IN TRANSACTIONS OF 10000 ROWS;
