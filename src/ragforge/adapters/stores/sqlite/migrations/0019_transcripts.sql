-- Sessions of other agents: what they say of themselves, how far their files were read, and what was
-- deleted and must not come back with the next reading.
ALTER TABLE conversation ADD COLUMN agent_version TEXT;
ALTER TABLE conversation ADD COLUMN agent_session TEXT;
ALTER TABLE conversation ADD COLUMN git_branch TEXT;
ALTER TABLE conversation ADD COLUMN parent_id TEXT;
ALTER TABLE message ADD COLUMN model TEXT;

CREATE TABLE transcript (
  id       INTEGER PRIMARY KEY,
  owner    TEXT NOT NULL,
  host     TEXT NOT NULL,
  agent    TEXT NOT NULL,
  path     TEXT NOT NULL,
  stamp    TEXT NOT NULL,
  revision INTEGER NOT NULL,
  state    TEXT NOT NULL,
  UNIQUE (owner, host, agent, path)
) STRICT;

CREATE TABLE forgotten (
  uuid  TEXT NOT NULL,
  owner TEXT NOT NULL,
  PRIMARY KEY (uuid, owner)
) STRICT, WITHOUT ROWID;
