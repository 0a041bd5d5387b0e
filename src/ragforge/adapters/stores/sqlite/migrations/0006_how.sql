-- What a message or summary did with code: edited, read, named or found.
-- Older rows do not say. A message without tool calls can only have named code, and summaries
-- name what they mention. Of a message with calls, the call that was given the file decides. The
-- rest, and what no model wrote, is called found, the weakest: a search hit that counted as touching
-- would be a wrong answer.
ALTER TABLE reference ADD COLUMN how TEXT NOT NULL DEFAULT 'named';
ALTER TABLE mention ADD COLUMN how TEXT NOT NULL DEFAULT 'named';
UPDATE reference SET how = CASE
    WHEN EXISTS (
      SELECT 1 FROM tool_call c WHERE c.message_id = reference.owner_id
      AND c.tool_name IN ('edit_file', 'write_file')
      AND instr(c.arguments, reference.file || '"') > 0) THEN 'edited'
    WHEN EXISTS (
      SELECT 1 FROM tool_call c WHERE c.message_id = reference.owner_id
      AND c.tool_name = 'read_file' AND instr(c.arguments, reference.file || '"') > 0) THEN 'read'
    ELSE 'found' END
  WHERE EXISTS (SELECT 1 FROM tool_call c WHERE c.message_id = reference.owner_id)
    OR EXISTS (SELECT 1 FROM message m WHERE m.uuid = reference.owner_id AND m.role = 'system');
