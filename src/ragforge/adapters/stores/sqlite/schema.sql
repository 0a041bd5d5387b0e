-- The newest schema, for a new file. An older file gets there by the numbered steps in `migrations`;
-- a test compares both ways, so a step that is added there is repeated here. The reasons for a
-- table's shape are in the step that gave it that shape.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value ANY
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('vectors_deleted', 0), ('turns_changed', 0), ('tokeniser', '');

-- Conversations

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
  updated_ms    INTEGER NOT NULL,
  author        TEXT,
  author_key    TEXT,
  host          TEXT,
  agent         TEXT NOT NULL DEFAULT 'ragforge',
  visibility    TEXT NOT NULL DEFAULT 'shared',
  private_to    TEXT,
  project_id    TEXT NOT NULL DEFAULT '',
  agent_version TEXT,
  agent_session TEXT,
  git_branch    TEXT,
  parent_id     TEXT
) STRICT;
CREATE INDEX conversation_by_cwd ON conversation (cwd, updated_ms);
CREATE INDEX conversation_by_activity ON conversation (updated_ms);
CREATE INDEX conversation_by_project ON conversation (project_id, updated_ms);
CREATE INDEX conversation_by_author ON conversation (author_key, uuid) WHERE author_key IS NOT NULL;
CREATE INDEX conversation_private ON conversation (private_to) WHERE private_to IS NOT NULL;

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
  receipt         TEXT,
  summary_trimmed INTEGER NOT NULL DEFAULT 0,
  link_pending    INTEGER NOT NULL DEFAULT 0,
  process         TEXT,
  author          TEXT,
  private_to      TEXT,
  model           TEXT,
  usd             REAL,
  UNIQUE (conversation_id, position)
) STRICT;
CREATE INDEX message_by_turn ON message (conversation_id, turn_index, position, char_count);
CREATE INDEX message_to_link ON message (uuid) WHERE link_pending;

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
  covered_by           TEXT REFERENCES summary (uuid) ON DELETE SET NULL,
  summary_trimmed      INTEGER NOT NULL DEFAULT 0,
  read_at              TEXT,
  private_to           TEXT
) STRICT;
CREATE INDEX summary_by_conversation ON summary (conversation_id, level, start_turn_index);
CREATE INDEX summary_by_cover ON summary (covered_by);
CREATE INDEX summary_by_date ON summary (created_ms);
CREATE INDEX summary_unread ON summary (created_ms) WHERE read_at IS NULL;
CREATE INDEX summary_outermost ON summary (conversation_id, start_turn_index)
  WHERE covered_by IS NULL;

-- What a turn is found by. Its facts are those of its messages.
CREATE TABLE turn (
  id              INTEGER PRIMARY KEY,
  message_id      TEXT NOT NULL UNIQUE REFERENCES message (uuid) ON DELETE CASCADE,
  conversation_id TEXT NOT NULL REFERENCES conversation (uuid) ON DELETE CASCADE,
  project_id      TEXT NOT NULL,
  turn_index      INTEGER NOT NULL,
  started_ms      INTEGER NOT NULL,
  covered_by      TEXT REFERENCES summary (uuid) ON DELETE SET NULL,
  length          INTEGER NOT NULL DEFAULT 0,
  private_to      TEXT,
  UNIQUE (conversation_id, turn_index)
) STRICT;
CREATE INDEX turn_by_project ON turn (project_id, started_ms, private_to);
CREATE INDEX turn_by_date ON turn (started_ms);
CREATE INDEX turn_by_cover ON turn (covered_by);
CREATE INDEX turn_uncovered ON turn (conversation_id, turn_index) WHERE covered_by IS NULL;

-- A piece of what was said in a long turn, or all that was done in it.
CREATE TABLE passage (
  id              INTEGER PRIMARY KEY,
  uuid            TEXT NOT NULL UNIQUE,
  turn_id         TEXT NOT NULL REFERENCES turn (message_id) ON DELETE CASCADE,
  conversation_id TEXT NOT NULL,
  project_id      TEXT NOT NULL,
  private_to      TEXT,
  turn_index      INTEGER NOT NULL,
  started_ms      INTEGER NOT NULL,
  kind            TEXT NOT NULL,
  asked           TEXT NOT NULL,
  text            TEXT NOT NULL,
  files           TEXT NOT NULL
) STRICT;
CREATE INDEX passage_by_turn ON passage (turn_id);
CREATE INDEX passage_by_project ON passage (project_id, started_ms, private_to);
CREATE INDEX passage_by_conversation ON passage (conversation_id, turn_index);

CREATE TABLE reference (
  owner_id       TEXT NOT NULL REFERENCES message (uuid) ON DELETE CASCADE,
  scope_id       TEXT NOT NULL,
  file           TEXT NOT NULL,
  qualified_name TEXT NOT NULL,
  hash           TEXT NOT NULL,
  how            TEXT NOT NULL DEFAULT 'named',
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
  how            TEXT NOT NULL DEFAULT 'named',
  PRIMARY KEY (owner_id, kind, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mention_by_path ON mention (path);

CREATE TABLE note (
  id              INTEGER PRIMARY KEY,
  uuid            TEXT NOT NULL UNIQUE,
  project_path    TEXT NOT NULL,
  conversation_id TEXT,
  text            TEXT NOT NULL,
  tags            TEXT NOT NULL,
  supersedes      TEXT,
  created_at      TEXT NOT NULL,
  created_ms      INTEGER NOT NULL,
  author          TEXT,
  author_key      TEXT,
  visibility      TEXT NOT NULL DEFAULT 'shared',
  private_to      TEXT,
  project_id      TEXT NOT NULL DEFAULT '',
  is_rule         INTEGER NOT NULL DEFAULT 0,
  corrects        TEXT NOT NULL DEFAULT '[]',
  keeps           TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE INDEX note_by_project ON note (project_id, created_ms);
CREATE INDEX note_by_conversation ON note (conversation_id);
CREATE INDEX note_by_superseded ON note (supersedes);
CREATE INDEX note_private ON note (private_to) WHERE private_to IS NOT NULL;

-- What requests to models took

CREATE TABLE usage (
  uuid            TEXT PRIMARY KEY,
  conversation_id TEXT NOT NULL REFERENCES conversation (uuid) ON DELETE CASCADE,
  model           TEXT,
  input_tokens    INTEGER NOT NULL,
  output_tokens   INTEGER NOT NULL,
  cached_tokens   INTEGER NOT NULL,
  written_tokens  INTEGER NOT NULL,
  requests        INTEGER NOT NULL,
  usd             REAL,
  created_at      TEXT NOT NULL,
  created_ms      INTEGER NOT NULL,
  private_to      TEXT
) STRICT;
CREATE INDEX usage_by_conversation ON usage (conversation_id);
CREATE INDEX usage_by_date ON usage (created_ms);

-- Sessions of other agents

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

-- Code

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

CREATE TABLE project (
  uuid       TEXT PRIMARY KEY,
  path       TEXT NOT NULL,
  name       TEXT NOT NULL,
  state      TEXT NOT NULL,
  host       TEXT NOT NULL,
  project_id TEXT NOT NULL,
  UNIQUE (project_id, path, host)
) STRICT;

CREATE TABLE directory (
  uuid       TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES project (uuid) ON DELETE CASCADE,
  path       TEXT NOT NULL,
  name       TEXT NOT NULL,
  UNIQUE (project_id, path)
) STRICT;

CREATE TABLE file (
  id         INTEGER PRIMARY KEY,
  uuid       TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL REFERENCES project (uuid) ON DELETE CASCADE,
  path       TEXT NOT NULL,
  name       TEXT NOT NULL,
  hash       TEXT NOT NULL,
  kind       TEXT NOT NULL,
  language   TEXT,
  size       INTEGER NOT NULL,
  mtime      TEXT,
  state      TEXT NOT NULL,
  imports    TEXT NOT NULL DEFAULT '[]',
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
  hash           TEXT NOT NULL,
  source_from    INTEGER NOT NULL DEFAULT 0,
  source_to      INTEGER NOT NULL DEFAULT 0,
  search_from    INTEGER,
  search_to      INTEGER
) STRICT;
CREATE INDEX scope_by_file ON scope (file_id, startLine);
CREATE INDEX scope_by_path ON scope (project_id, file, type);
CREATE INDEX scope_by_name ON scope (project_id, name);
CREATE INDEX scope_by_qualified_name ON scope (project_id, qualified_name);

-- The texts of a file's scopes, compressed: see file_texts.py.
CREATE TABLE file_text (
  file_id TEXT PRIMARY KEY REFERENCES file (uuid) ON DELETE CASCADE ON UPDATE CASCADE,
  data    BLOB NOT NULL
) STRICT;

CREATE TABLE library (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- Kinds have numbers: see relations.py. Up to 3 they are between scopes, then from files.
CREATE TABLE relation (
  source INTEGER NOT NULL,
  kind   INTEGER NOT NULL,
  target INTEGER NOT NULL,
  PRIMARY KEY (source, kind, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX relation_by_target ON relation (target, kind);

-- Vectors

CREATE TABLE model (
  id        INTEGER PRIMARY KEY,
  name      TEXT NOT NULL UNIQUE,
  dimension INTEGER NOT NULL
) STRICT;

CREATE TABLE vector (
  id    INTEGER PRIMARY KEY AUTOINCREMENT,
  kind  TEXT NOT NULL,
  owner INTEGER NOT NULL,
  model INTEGER NOT NULL REFERENCES model (id),
  data  BLOB NOT NULL,
  hash  TEXT,
  UNIQUE (kind, owner)
) STRICT;
CREATE INDEX vector_by_model ON vector (kind, model, owner);

-- Work

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
  lease_until   INTEGER,
  lease_clock   INTEGER,
  owner         TEXT,
  machine       TEXT
) STRICT;
CREATE INDEX job_due ON job (status, run_after_ms, id);

CREATE TABLE lock (
  name        TEXT PRIMARY KEY,
  token       TEXT NOT NULL,
  host        TEXT NOT NULL,
  pid         INTEGER NOT NULL,
  started     REAL NOT NULL,
  acquired_at TEXT NOT NULL,
  lease_until INTEGER NOT NULL,
  lease_clock INTEGER
) STRICT, WITHOUT ROWID;

-- Words. RagForge makes them; the ascii tokeniser only splits them at spaces.

CREATE VIRTUAL TABLE turn_words
  USING fts5 (words, often, keys, content='', contentless_delete=1, detail=column, tokenize='ascii');
CREATE VIRTUAL TABLE passage_words
  USING fts5 (words, keys, content='', contentless_delete=1, tokenize='ascii');
CREATE VIRTUAL TABLE deed_words
  USING fts5 (words, keys, content='', contentless_delete=1, tokenize='ascii');
CREATE VIRTUAL TABLE summary_words
  USING fts5 (words, content='', contentless_delete=1, tokenize='ascii');
CREATE VIRTUAL TABLE note_words
  USING fts5 (words, content='', contentless_delete=1, tokenize='ascii');
CREATE VIRTUAL TABLE scope_words
  USING fts5 (name, path, signature, docstring, source, keys,
              content='', contentless_delete=1, tokenize='ascii');
CREATE VIRTUAL TABLE section_words
  USING fts5 (name, path, signature, docstring, source, keys,
              content='', contentless_delete=1, tokenize='ascii');
CREATE VIRTUAL TABLE turn_vocabulary USING fts5vocab (turn_words, 'row');
CREATE VIRTUAL TABLE passage_vocabulary USING fts5vocab (passage_words, 'row');
CREATE VIRTUAL TABLE deed_vocabulary USING fts5vocab (deed_words, 'row');
CREATE VIRTUAL TABLE summary_vocabulary USING fts5vocab (summary_words, 'row');
CREATE VIRTUAL TABLE scope_vocabulary USING fts5vocab (scope_words, 'row');

-- What is deleted leaves no words, vectors or relations; caches of other processes notice.

CREATE TRIGGER conversation_gone AFTER DELETE ON conversation BEGIN
  DELETE FROM vector WHERE kind = 'conversation' AND owner = old.id;
END;
CREATE TRIGGER turn_gone AFTER DELETE ON turn BEGIN
  DELETE FROM turn_words WHERE rowid = old.id;
  DELETE FROM vector WHERE kind = 'turn' AND owner = old.id;
END;
CREATE TRIGGER passage_gone AFTER DELETE ON passage BEGIN
  DELETE FROM passage_words WHERE rowid = old.id AND old.kind = 'said';
  DELETE FROM deed_words WHERE rowid = old.id AND old.kind = 'done';
  DELETE FROM vector WHERE kind = 'passage' AND owner = old.id;
END;
CREATE TRIGGER summary_gone AFTER DELETE ON summary BEGIN
  DELETE FROM summary_words WHERE rowid = old.id;
  DELETE FROM vector WHERE kind = 'summary' AND owner = old.id;
END;
CREATE TRIGGER note_gone AFTER DELETE ON note BEGIN
  DELETE FROM note_words WHERE rowid = old.id;
  DELETE FROM vector WHERE kind = 'note' AND owner = old.id;
END;
CREATE TRIGGER scope_gone AFTER DELETE ON scope BEGIN
  DELETE FROM scope_words WHERE rowid = old.id AND old.type <> 'section';
  DELETE FROM section_words WHERE rowid = old.id AND old.type = 'section';
  DELETE FROM vector WHERE kind = 'scope' AND owner = old.id;
  DELETE FROM relation WHERE source = old.id AND kind < 4;
  DELETE FROM relation WHERE target = old.id AND kind < 4;
END;
CREATE TRIGGER file_gone AFTER DELETE ON file BEGIN
  DELETE FROM relation WHERE source = old.id AND kind >= 4;
  DELETE FROM relation WHERE target = old.id AND kind = 4;
END;
CREATE TRIGGER project_gone AFTER DELETE ON project BEGIN
  DELETE FROM library
  WHERE NOT EXISTS (SELECT 1 FROM relation WHERE target = library.id AND kind = 5);
END;
CREATE TRIGGER vector_gone AFTER DELETE ON vector BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'vectors_deleted';
END;
CREATE TRIGGER turn_deleted AFTER DELETE ON turn BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'turns_changed';
END;
CREATE TRIGGER turn_moved
AFTER UPDATE OF id, conversation_id, project_id, started_ms, private_to ON turn BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'turns_changed';
END;
CREATE TRIGGER passage_moved
AFTER UPDATE OF conversation_id, project_id, turn_index, started_ms, private_to ON turn BEGIN
  UPDATE passage SET conversation_id = new.conversation_id, project_id = new.project_id,
    turn_index = new.turn_index, started_ms = new.started_ms, private_to = new.private_to
  WHERE turn_id = new.message_id;
END;
