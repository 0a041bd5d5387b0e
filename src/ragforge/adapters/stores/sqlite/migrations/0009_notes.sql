-- What somebody wants remembered of a project. A note outlives the conversation it was made in.
CREATE TABLE note (
  id              INTEGER PRIMARY KEY,
  uuid            TEXT NOT NULL UNIQUE,
  project_path    TEXT NOT NULL,
  conversation_id TEXT,
  text            TEXT NOT NULL,
  tags            TEXT NOT NULL,
  supersedes      TEXT,
  created_at      TEXT NOT NULL,
  created_ms      INTEGER NOT NULL
) STRICT;
CREATE INDEX note_by_project ON note (project_path, created_ms);
CREATE INDEX note_by_conversation ON note (conversation_id);
CREATE INDEX note_by_superseded ON note (supersedes);
CREATE VIRTUAL TABLE note_words
  USING fts5 (words, content='', contentless_delete=1, tokenize='ascii');
CREATE TRIGGER note_gone AFTER DELETE ON note BEGIN
  DELETE FROM note_words WHERE rowid = old.id;
  DELETE FROM vector WHERE kind = 'note' AND owner = old.id;
END;
