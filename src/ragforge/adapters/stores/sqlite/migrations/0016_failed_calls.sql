-- A call whose result is a failure is no success; earlier versions stored some as one.
UPDATE tool_call SET success = 0
WHERE success <> 0
  AND uuid IN (SELECT tool_call_id FROM tool_result WHERE success = 0);
