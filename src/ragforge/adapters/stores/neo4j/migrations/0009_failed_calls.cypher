// A call whose result is a failure is no success; earlier versions stored some as one.
MATCH (t:ToolCall)-[:PRODUCED_RESULT]->(r:ToolResult)
WHERE t.success AND NOT r.success
CALL (t) { SET t.success = false } IN TRANSACTIONS OF 10000 ROWS;
