// Summaries are embedded by another text: their vectors are made anew in the background.
MATCH (s:Summary) WHERE s.embedding IS NOT NULL
REMOVE s.embedding, s.embedding_model, s.embedding_key;
