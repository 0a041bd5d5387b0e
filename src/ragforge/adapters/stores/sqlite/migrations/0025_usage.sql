-- What requests to models took. A record belongs to its conversation and is deleted with it. The
-- next import reads every transcript again: until now, their counts of tokens were not kept.
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
UPDATE transcript SET stamp = '';
