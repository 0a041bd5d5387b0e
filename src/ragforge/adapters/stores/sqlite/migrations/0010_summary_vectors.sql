-- Summaries are embedded by another text: their vectors are made anew in the background.
DELETE FROM vector WHERE kind = 'summary';
