-- What a conversation shows of its own summaries is found without reading all of them.
CREATE INDEX summary_outermost ON summary (conversation_id, start_turn_index)
  WHERE covered_by IS NULL;

-- How many summaries hold a word: what half of them hold has no weight in a ranking.
CREATE VIRTUAL TABLE summary_vocabulary USING fts5vocab (summary_words, 'row');

-- Which turns pass a filter is kept in memory and followed by their ids, unless older ones changed.
INSERT INTO meta VALUES ('turns_changed', 0);
CREATE TRIGGER turn_deleted AFTER DELETE ON turn BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'turns_changed';
END;
CREATE TRIGGER turn_moved
AFTER UPDATE OF id, conversation_id, project_id, started_ms, private_to ON turn BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'turns_changed';
END;
