-- What a conversation shows of its own summaries is found without reading all of them.
CREATE INDEX summary_outermost ON summary (conversation_id, start_turn_index)
  WHERE covered_by IS NULL;
