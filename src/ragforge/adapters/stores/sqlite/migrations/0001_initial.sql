CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value ANY
) STRICT, WITHOUT ROWID;

CREATE TABLE conversation (
  id            INTEGER PRIMARY KEY,
  uuid          TEXT NOT NULL UNIQUE,
  title         TEXT,
  summary       TEXT,
  tags          TEXT NOT NULL,
  status        TEXT NOT NULL,
  cwd           TEXT NOT NULL,
  project_path  TEXT NOT NULL,
  message_count INTEGER NOT NULL,
  turn_count    INTEGER NOT NULL,
  total_chars   INTEGER NOT NULL,
  created_at    TEXT NOT NULL,
  updated_at    TEXT NOT NULL,
  updated_ms    INTEGER NOT NULL
) STRICT;
CREATE INDEX conversation_by_cwd ON conversation (cwd, updated_ms);
CREATE INDEX conversation_by_activity ON conversation (updated_ms);

CREATE TABLE branch (
  source     TEXT NOT NULL REFERENCES conversation (uuid) ON DELETE CASCADE,
  target     TEXT NOT NULL REFERENCES conversation (uuid) ON DELETE CASCADE,
  message_id TEXT NOT NULL,
  PRIMARY KEY (source, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX branch_by_target ON branch (target);

CREATE TABLE message (
  uuid            TEXT PRIMARY KEY,
  conversation_id TEXT NOT NULL REFERENCES conversation (uuid) ON DELETE CASCADE,
  role            TEXT NOT NULL,
  content         TEXT NOT NULL,
  reasoning       TEXT,
  timestamp       TEXT NOT NULL,
  timestamp_ms    INTEGER NOT NULL,
  char_count      INTEGER NOT NULL,
  turn_index      INTEGER NOT NULL,
  token_count     INTEGER,
  position        INTEGER NOT NULL,
  UNIQUE (conversation_id, position)
) STRICT;
CREATE INDEX message_by_turn ON message (conversation_id, turn_index, position, char_count);

CREATE TABLE tool_call (
  uuid        TEXT PRIMARY KEY,
  message_id  TEXT NOT NULL REFERENCES message (uuid) ON DELETE CASCADE,
  position    INTEGER NOT NULL,
  tool_name   TEXT NOT NULL,
  arguments   TEXT NOT NULL,
  timestamp   TEXT NOT NULL,
  duration_ms INTEGER NOT NULL,
  success     INTEGER NOT NULL,
  iteration   INTEGER
) STRICT;
CREATE INDEX tool_call_by_message ON tool_call (message_id, position);

CREATE TABLE tool_result (
  uuid              TEXT PRIMARY KEY,
  tool_call_id      TEXT NOT NULL UNIQUE REFERENCES tool_call (uuid) ON DELETE CASCADE,
  success           INTEGER NOT NULL,
  result            TEXT NOT NULL,
  error             TEXT,
  timestamp         TEXT NOT NULL,
  result_size_bytes INTEGER NOT NULL
) STRICT;

CREATE TABLE summary (
  id                   INTEGER PRIMARY KEY,
  uuid                 TEXT NOT NULL UNIQUE,
  conversation_id      TEXT NOT NULL REFERENCES conversation (uuid) ON DELETE CASCADE,
  level                INTEGER NOT NULL,
  conversation_summary TEXT NOT NULL,
  actions_summary      TEXT NOT NULL,
  files_mentioned      TEXT NOT NULL,
  key_findings         TEXT NOT NULL,
  tools_used           TEXT NOT NULL,
  topics               TEXT NOT NULL,
  start_turn_index     INTEGER NOT NULL,
  end_turn_index       INTEGER NOT NULL,
  char_range_start     INTEGER NOT NULL,
  char_range_end       INTEGER NOT NULL,
  summary_char_count   INTEGER NOT NULL,
  parent_summaries     TEXT NOT NULL,
  made_by              TEXT NOT NULL,
  created_at           TEXT NOT NULL,
  created_ms           INTEGER NOT NULL,
  covered_by           TEXT REFERENCES summary (uuid) ON DELETE SET NULL
) STRICT;
CREATE INDEX summary_by_conversation ON summary (conversation_id, level, start_turn_index);
CREATE INDEX summary_by_cover ON summary (covered_by);
CREATE INDEX summary_by_date ON summary (created_ms);

-- What a turn is found by. Its facts are those of its messages.
CREATE TABLE turn (
  id              INTEGER PRIMARY KEY,
  message_id      TEXT NOT NULL UNIQUE REFERENCES message (uuid) ON DELETE CASCADE,
  conversation_id TEXT NOT NULL REFERENCES conversation (uuid) ON DELETE CASCADE,
  project_path    TEXT NOT NULL,
  turn_index      INTEGER NOT NULL,
  started_ms      INTEGER NOT NULL,
  covered_by      TEXT REFERENCES summary (uuid) ON DELETE SET NULL,
  UNIQUE (conversation_id, turn_index)
) STRICT;
CREATE INDEX turn_by_project ON turn (project_path, started_ms);
CREATE INDEX turn_by_date ON turn (started_ms);
CREATE INDEX turn_by_cover ON turn (covered_by);
CREATE INDEX turn_uncovered ON turn (conversation_id, turn_index) WHERE covered_by IS NULL;

CREATE TABLE reference (
  owner_id       TEXT NOT NULL REFERENCES message (uuid) ON DELETE CASCADE,
  scope_id       TEXT NOT NULL,
  file           TEXT NOT NULL,
  qualified_name TEXT NOT NULL,
  hash           TEXT NOT NULL,
  PRIMARY KEY (owner_id, scope_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX reference_by_scope ON reference (scope_id);
CREATE INDEX reference_by_file ON reference (file);

CREATE TABLE mention (
  owner_id       TEXT NOT NULL REFERENCES summary (uuid) ON DELETE CASCADE,
  kind           TEXT NOT NULL,
  target_id      TEXT NOT NULL,
  path           TEXT NOT NULL,
  qualified_name TEXT,
  hash           TEXT NOT NULL,
  PRIMARY KEY (owner_id, kind, target_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE project (
  uuid  TEXT PRIMARY KEY,
  path  TEXT NOT NULL UNIQUE,
  name  TEXT NOT NULL,
  state TEXT NOT NULL
) STRICT;

CREATE TABLE directory (
  uuid       TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES project (uuid) ON DELETE CASCADE,
  path       TEXT NOT NULL,
  name       TEXT NOT NULL,
  UNIQUE (project_id, path)
) STRICT;

CREATE TABLE file (
  uuid       TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES project (uuid) ON DELETE CASCADE,
  path       TEXT NOT NULL,
  name       TEXT NOT NULL,
  hash       TEXT NOT NULL,
  kind       TEXT NOT NULL,
  language   TEXT,
  size       INTEGER NOT NULL,
  mtime      TEXT,
  state      TEXT NOT NULL,
  UNIQUE (project_id, path)
) STRICT;

CREATE TABLE scope (
  id             INTEGER PRIMARY KEY,
  uuid           TEXT NOT NULL UNIQUE,
  file_id        TEXT NOT NULL REFERENCES file (uuid) ON DELETE CASCADE ON UPDATE CASCADE,
  project_id     TEXT NOT NULL,
  name           TEXT NOT NULL,
  qualified_name TEXT NOT NULL,
  type           TEXT NOT NULL,
  file           TEXT NOT NULL,
  language       TEXT,
  startLine      INTEGER NOT NULL,
  endLine        INTEGER NOT NULL,
  signature      TEXT NOT NULL,
  docstring      TEXT NOT NULL,
  source         TEXT NOT NULL,
  hash           TEXT NOT NULL,
  embedding_hash TEXT
) STRICT;
CREATE INDEX scope_by_file ON scope (file_id, startLine);
CREATE INDEX scope_by_path ON scope (project_id, file, type);
CREATE INDEX scope_by_name ON scope (project_id, name);
CREATE INDEX scope_by_qualified_name ON scope (project_id, qualified_name);

CREATE TABLE relation (
  kind       TEXT NOT NULL,
  source     TEXT NOT NULL,
  target     TEXT NOT NULL,
  project_id TEXT NOT NULL REFERENCES project (uuid) ON DELETE CASCADE,
  file_id    TEXT NOT NULL REFERENCES file (uuid) ON DELETE CASCADE ON UPDATE CASCADE,
  PRIMARY KEY (source, kind, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX relation_by_target ON relation (target, kind);
CREATE INDEX relation_by_file ON relation (file_id);
CREATE INDEX relation_by_project ON relation (project_id);

CREATE TABLE model (
  id        INTEGER PRIMARY KEY,
  name      TEXT NOT NULL UNIQUE,
  dimension INTEGER NOT NULL
) STRICT;

-- Ids only grow, so that a reader who has seen id n loads what is newer, and no more.
CREATE TABLE vector (
  id    INTEGER PRIMARY KEY AUTOINCREMENT,
  kind  TEXT NOT NULL,
  owner INTEGER NOT NULL,
  model INTEGER NOT NULL REFERENCES model (id),
  data  BLOB NOT NULL,
  UNIQUE (kind, owner)
) STRICT;
CREATE INDEX vector_by_model ON vector (kind, model, owner);

CREATE TABLE job (
  id            INTEGER PRIMARY KEY,
  key           TEXT NOT NULL UNIQUE,
  kind          TEXT NOT NULL,
  payload       TEXT NOT NULL,
  status        TEXT NOT NULL,
  attempts      INTEGER NOT NULL,
  run_after     TEXT NOT NULL,
  run_after_ms  INTEGER NOT NULL,
  created_at    TEXT NOT NULL,
  error         TEXT,
  token         TEXT,
  host          TEXT,
  pid           INTEGER,
  started       REAL,
  lease_until   INTEGER
) STRICT;
CREATE INDEX job_due ON job (status, run_after_ms, id);

CREATE TABLE lock (
  name        TEXT PRIMARY KEY,
  token       TEXT NOT NULL,
  host        TEXT NOT NULL,
  pid         INTEGER NOT NULL,
  started     REAL NOT NULL,
  acquired_at TEXT NOT NULL,
  lease_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The words are made by RagForge; the ascii tokeniser only parts them at the spaces.
-- Keys stand for the conversation and the project: a search within one of them then reads
-- its turns alone, not every turn that holds a common word.
CREATE VIRTUAL TABLE turn_words
  USING fts5 (words, keys, content='', contentless_delete=1, tokenize='ascii');
CREATE VIRTUAL TABLE summary_words
  USING fts5 (words, content='', contentless_delete=1, tokenize='ascii');
CREATE VIRTUAL TABLE scope_words
  USING fts5 (name, path, signature, docstring, source,
              content='', contentless_delete=1, tokenize='ascii');

CREATE TRIGGER conversation_gone AFTER DELETE ON conversation BEGIN
  DELETE FROM vector WHERE kind = 'conversation' AND owner = old.id;
END;
CREATE TRIGGER turn_gone AFTER DELETE ON turn BEGIN
  DELETE FROM turn_words WHERE rowid = old.id;
  DELETE FROM vector WHERE kind = 'turn' AND owner = old.id;
END;
CREATE TRIGGER summary_gone AFTER DELETE ON summary BEGIN
  DELETE FROM summary_words WHERE rowid = old.id;
  DELETE FROM vector WHERE kind = 'summary' AND owner = old.id;
END;
CREATE TRIGGER scope_gone AFTER DELETE ON scope BEGIN
  DELETE FROM scope_words WHERE rowid = old.id;
  DELETE FROM vector WHERE kind = 'scope' AND owner = old.id;
  DELETE FROM relation WHERE source = old.uuid OR target = old.uuid;
END;
CREATE TRIGGER file_gone AFTER DELETE ON file BEGIN
  DELETE FROM relation WHERE source = old.uuid OR target = old.uuid;
END;
CREATE TRIGGER vector_gone AFTER DELETE ON vector BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'vectors_deleted';
END;

INSERT INTO meta VALUES ('vectors_deleted', 0), ('tokeniser', '');
