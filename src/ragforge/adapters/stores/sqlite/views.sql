-- The relationships of the graph as views for users' queries; query.py has those of its nodes.

CREATE TEMP VIEW HAS_MESSAGE AS
SELECT conversation_id AS source, uuid AS target FROM main.message;

CREATE TEMP VIEW HAS_PASSAGE AS
SELECT turn_id AS source, uuid AS target FROM main.passage;

CREATE TEMP VIEW MADE_TOOL_CALL AS
SELECT message_id AS source, uuid AS target FROM main.tool_call;

CREATE TEMP VIEW PRODUCED_RESULT AS
SELECT tool_call_id AS source, uuid AS target FROM main.tool_result;

CREATE TEMP VIEW HAS_SUMMARY AS
SELECT conversation_id AS source, uuid AS target FROM main.summary;

CREATE TEMP VIEW SUMMARIZES AS
SELECT r.covered_by AS source, m.uuid AS target
FROM main.turn r JOIN main.message m
  ON m.conversation_id = r.conversation_id AND m.turn_index = r.turn_index
WHERE r.covered_by IS NOT NULL
UNION ALL
SELECT covered_by AS source, uuid AS target FROM main.summary WHERE covered_by IS NOT NULL;

CREATE TEMP VIEW HAS_BRANCH AS
SELECT source AS source, target AS target, message_id FROM main.branch;

CREATE TEMP VIEW SUPERSEDES AS
SELECT r.uuid AS source, o.uuid AS target
FROM main.note r JOIN main.note o ON o.uuid = r.supersedes
UNION
SELECT r.uuid AS source, o.uuid AS target
FROM main.note r, json_each(r.corrects) c JOIN main.note o ON o.uuid = c.value;

CREATE TEMP VIEW REFERENCES_CODE AS
SELECT r.owner_id AS source, r.scope_id AS target, r.hash AS hash, r.how AS how
FROM main.reference r JOIN main.scope s ON s.uuid = r.scope_id;

CREATE TEMP VIEW MENTIONS_FILE AS
SELECT r.owner_id AS source, r.target_id AS target, r.hash AS hash, r.how AS how
FROM main.mention r JOIN main.file f ON f.uuid = r.target_id WHERE r.kind = 'file';

CREATE TEMP VIEW MENTIONS_SCOPE AS
SELECT r.owner_id AS source, r.target_id AS target, r.hash AS hash, r.how AS how
FROM main.mention r JOIN main.scope s ON s.uuid = r.target_id WHERE r.kind = 'scope';

CREATE TEMP VIEW BELONGS_TO AS
SELECT uuid AS source, project_id AS target FROM main.file;

CREATE TEMP VIEW DEFINED_IN AS
SELECT uuid AS source, file_id AS target FROM main.scope;

CREATE TEMP VIEW IN_DIRECTORY AS
SELECT r.uuid AS source, d.uuid AS target
FROM main.file r JOIN main.directory d
  ON d.project_id = r.project_id AND d.path = substr(r.path, 1, length(r.path) - length(r.name) - 1)
UNION ALL
SELECT r.uuid AS source, d.uuid AS target
FROM main.directory r JOIN main.directory d
  ON d.project_id = r.project_id AND d.path = substr(r.path, 1, length(r.path) - length(r.name) - 1);
