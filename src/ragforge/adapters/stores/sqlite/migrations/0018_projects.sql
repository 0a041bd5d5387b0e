-- A project is a repository, whose checkouts lie at paths of machines. Until now a path was a project:
-- each becomes one with a checkout on a machine that is not known, and gets its identity when it is
-- opened. The words of its turns are indexed under its path, which stays among its former ids.
CREATE TABLE checkout (
  uuid       TEXT PRIMARY KEY,
  path       TEXT NOT NULL,
  project_id TEXT NOT NULL,
  host       TEXT NOT NULL,
  remote     TEXT,
  roots      TEXT NOT NULL,
  former_ids TEXT NOT NULL,
  stamp      TEXT NOT NULL,
  seen_at    TEXT NOT NULL
) STRICT;
CREATE INDEX checkout_by_path ON checkout (path);
CREATE INDEX checkout_by_project ON checkout (project_id);
CREATE INDEX checkout_by_remote ON checkout (remote);
CREATE INDEX checkout_by_roots ON checkout (roots);
INSERT INTO checkout
SELECT coalesce((SELECT p.uuid FROM project p WHERE p.path = known.path), lower(hex(randomblob(16)))),
       known.path, lower(hex(randomblob(16))), '', NULL, '[]', json_array(known.path), '',
       '1970-01-01T00:00:00.000+00:00'
FROM (SELECT project_path AS path FROM conversation
      UNION SELECT project_path FROM note UNION SELECT path FROM project) known;

ALTER TABLE conversation ADD COLUMN project_id TEXT NOT NULL DEFAULT '';
UPDATE conversation
SET project_id = (SELECT k.project_id FROM checkout k WHERE k.path = conversation.project_path);
CREATE INDEX conversation_by_project ON conversation (project_id, updated_ms);

ALTER TABLE turn RENAME COLUMN project_path TO project_id;
UPDATE turn
SET project_id = (SELECT c.project_id FROM conversation c WHERE c.uuid = turn.conversation_id);

ALTER TABLE note ADD COLUMN project_id TEXT NOT NULL DEFAULT '';
UPDATE note SET project_id = (SELECT k.project_id FROM checkout k WHERE k.path = note.project_path);
DROP INDEX note_by_project;
CREATE INDEX note_by_project ON note (project_id, created_ms);

-- Two repositories may have lain at one path, and one path may be that of many machines. Foreign keys
-- are not looked at meanwhile: to drop a table would drop what refers to it.
CREATE TABLE project_anew (
  uuid       TEXT PRIMARY KEY,
  path       TEXT NOT NULL,
  name       TEXT NOT NULL,
  state      TEXT NOT NULL,
  host       TEXT NOT NULL,
  project_id TEXT NOT NULL,
  UNIQUE (project_id, path, host)
) STRICT;
INSERT INTO project_anew
SELECT p.uuid, p.path, p.name, p.state, '', k.project_id
FROM project p JOIN checkout k ON k.path = p.path;
DROP TABLE project;
ALTER TABLE project_anew RENAME TO project;
