// A project is a repository, whose checkouts lie at paths of machines. Until now a path was a project:
// each becomes one with a checkout on a machine that is not known, and gets its identity when it is
// opened. A second run of this changes nothing.
CREATE CONSTRAINT ragforge_checkout IF NOT EXISTS
FOR (n:Checkout) REQUIRE n.uuid IS UNIQUE;
CREATE INDEX ragforge_checkout_path IF NOT EXISTS
FOR (n:Checkout) ON (n.path);
CREATE INDEX ragforge_checkout_project IF NOT EXISTS
FOR (n:Checkout) ON (n.project_id);
CREATE INDEX ragforge_checkout_remote IF NOT EXISTS
FOR (n:Checkout) ON (n.remote);
DROP CONSTRAINT ragforge_project_path IF EXISTS;
CREATE CONSTRAINT ragforge_project_place IF NOT EXISTS
FOR (n:Project) REQUIRE (n.project_id, n.path, n.host) IS UNIQUE;
CREATE INDEX ragforge_project_repository IF NOT EXISTS
FOR (n:Project) ON (n.project_id);
DROP INDEX ragforge_conversation_project IF EXISTS;
DROP INDEX ragforge_message_project IF EXISTS;
DROP INDEX ragforge_summary_project IF EXISTS;
DROP INDEX ragforge_note_project IF EXISTS;
CREATE INDEX ragforge_conversation_repository IF NOT EXISTS
FOR (n:Conversation) ON (n.project_id);
CREATE INDEX ragforge_message_repository IF NOT EXISTS
FOR (n:Message) ON (n.project_id);
CREATE INDEX ragforge_summary_repository IF NOT EXISTS
FOR (n:Summary) ON (n.project_id);
CREATE INDEX ragforge_note_repository IF NOT EXISTS
FOR (n:Note) ON (n.project_id);
MATCH (n:Conversation|Note|Project) WHERE n.project_id IS NULL
WITH DISTINCT coalesce(n.project_path, n.path) AS path
CALL (path) {
  OPTIONAL MATCH (p:Project {path: path})
  WITH path, coalesce(p.uuid, 'path:' + path) AS uuid
  MERGE (k:Checkout {uuid: uuid})
  ON CREATE SET k.path = path, k.project_id = randomUUID(), k.host = '', k.roots = [],
    k.former_ids = [], k.stamp = '', k.seen_at = datetime('1970-01-01T00:00:00Z')
} IN TRANSACTIONS OF 1000 ROWS;
MATCH (n:Conversation|Note) WHERE n.project_id IS NULL
CALL (n) { MATCH (k:Checkout {path: n.project_path}) WITH n, k LIMIT 1 SET n.project_id = k.project_id }
IN TRANSACTIONS OF 10000 ROWS;
MATCH (n:Project) WHERE n.project_id IS NULL
CALL (n) {
  MATCH (k:Checkout {path: n.path}) WITH n, k LIMIT 1 SET n.project_id = k.project_id, n.host = ''
} IN TRANSACTIONS OF 10000 ROWS;
MATCH (n:Message|Summary) WHERE n.project_path IS NOT NULL
CALL (n) {
  MATCH (c:Conversation {uuid: n.conversation_id})
  SET n.project_id = c.project_id REMOVE n.project_path
} IN TRANSACTIONS OF 10000 ROWS;
