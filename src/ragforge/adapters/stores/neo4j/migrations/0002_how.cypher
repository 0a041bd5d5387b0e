// What a message or summary did with code: edited, read, named or found.
// Older nodes do not say. A message without tool calls can only have named code, and summaries
// name what they mention. Of a message with calls, the call that was given the file decides. The
// rest, and what no model wrote, is called found, the weakest: a search hit that counted as touching
// would be a wrong answer.
MATCH (f:CodeReference) WHERE f.how IS NULL
CALL (f) {
  OPTIONAL MATCH (m:Message {uuid: f.owner_id})
  OPTIONAL MATCH (m)-[:MADE_TOOL_CALL]->(t:ToolCall)
  WITH f, m, collect(t) AS calls
  WITH f, m, calls, [t IN calls WHERE t.arguments CONTAINS f.file + '"' | t.tool_name] AS given
  SET f.how = CASE
    WHEN size(calls) = 0 AND m.role <> 'system' THEN 'named'
    WHEN 'edit_file' IN given OR 'write_file' IN given THEN 'edited'
    WHEN 'read_file' IN given THEN 'read'
    ELSE 'found' END
  WITH f MATCH (:Message {uuid: f.owner_id})-[e:REFERENCES_CODE]->(s {uuid: f.scope_id})
  SET e.how = f.how
} IN TRANSACTIONS OF 10000 ROWS;
MATCH (f:CodeMention) WHERE f.how IS NULL
CALL (f) { SET f.how = 'named' } IN TRANSACTIONS OF 10000 ROWS;
MATCH (:Summary)-[e:MENTIONS_FILE|MENTIONS_SCOPE]->() WHERE e.how IS NULL
CALL (e) { SET e.how = 'named' } IN TRANSACTIONS OF 10000 ROWS;
