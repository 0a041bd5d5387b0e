-- The pieces of long turns, and what was done in them. They are made when the words of a turn are
-- indexed: those of older turns with the words of the new tokeniser.
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
CREATE VIRTUAL TABLE passage_words
  USING fts5 (words, keys, content='', contentless_delete=1, tokenize='ascii');
CREATE VIRTUAL TABLE deed_words
  USING fts5 (words, keys, content='', contentless_delete=1, tokenize='ascii');
CREATE VIRTUAL TABLE passage_vocabulary USING fts5vocab (passage_words, 'row');
CREATE VIRTUAL TABLE deed_vocabulary USING fts5vocab (deed_words, 'row');
CREATE TRIGGER passage_gone AFTER DELETE ON passage BEGIN
  DELETE FROM passage_words WHERE rowid = old.id AND old.kind = 'said';
  DELETE FROM deed_words WHERE rowid = old.id AND old.kind = 'done';
  DELETE FROM vector WHERE kind = 'passage' AND owner = old.id;
END;
CREATE TRIGGER passage_moved
AFTER UPDATE OF conversation_id, project_id, turn_index, started_ms, private_to ON turn BEGIN
  UPDATE passage SET conversation_id = new.conversation_id, project_id = new.project_id,
    turn_index = new.turn_index, started_ms = new.started_ms, private_to = new.private_to
  WHERE turn_id = new.message_id;
END;
