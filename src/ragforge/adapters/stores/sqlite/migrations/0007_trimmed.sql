-- What was trimmed by age is not made again: a turn, or a summary of level 1, remembers that the
-- summary which covered it was trimmed. A turn's facts are those of its user message.
ALTER TABLE message ADD COLUMN summary_trimmed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE summary ADD COLUMN summary_trimmed INTEGER NOT NULL DEFAULT 0;
