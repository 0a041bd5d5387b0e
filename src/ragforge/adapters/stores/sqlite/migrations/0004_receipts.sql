-- The account of the context that an answer rests on, as JSON.
ALTER TABLE message ADD COLUMN receipt TEXT;
