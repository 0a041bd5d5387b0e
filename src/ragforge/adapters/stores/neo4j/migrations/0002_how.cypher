// What a message or summary did with code: edited, read, named or found.
// Older nodes do not say. A message without tool calls can only have named code, and summaries
// name what they mention. Of a message with calls, the call that was given the file decides. The
// rest is called found, the weakest: a search hit that counted as touching would be a wrong answer.
MATCH (f:CodeReference) WHERE f.how IS NULL WITH f LIMIT $page
OPTIONAL MATCH (:Message {uuid: f.owner_id})-[:MADE_TOOL_CALL]->(t:ToolCall)
WITH f, collect(t) AS calls, [t IN collect(t) WHERE t.arguments CONTAINS f.file + '"' | t.tool_name]
  AS given
SET f.how = CASE
  WHEN size(calls) = 0 THEN 'named'
  WHEN 'edit_file' IN given OR 'write_file' IN given THEN 'edited'
  WHEN 'read_file' IN given THEN 'read'
  ELSE 'found' END
WITH f OPTIONAL MATCH (:Message {uuid: f.owner_id})-[e:REFERENCES_CODE]->(s {uuid: f.scope_id})
SET e.how = f.how
RETURN count(f);
MATCH (f:CodeMention) WHERE f.how IS NULL WITH f LIMIT $page
SET f.how = 'named' RETURN count(f);
MATCH (:Summary)-[e:MENTIONS_FILE|MENTIONS_SCOPE]->() WHERE e.how IS NULL WITH e LIMIT $page
SET e.how = 'named' RETURN count(e);
