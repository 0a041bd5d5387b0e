-- When somebody was first shown what a summary found out.
ALTER TABLE summary ADD COLUMN read_at TEXT;
CREATE INDEX summary_unread ON summary (created_ms) WHERE read_at IS NULL;
CREATE INDEX mention_by_path ON mention (path);
