-- Words that a turn holds more than once stand apart as well: that is all of a word's frequency
-- that ranking needs, so that no positions are kept. The words are made anew.
DROP TABLE turn_words;
CREATE VIRTUAL TABLE turn_words
  USING fts5 (words, often, keys, content='', contentless_delete=1, detail=column, tokenize='ascii');
CREATE VIRTUAL TABLE turn_vocabulary USING fts5vocab (turn_words, 'row');
UPDATE meta SET value = '' WHERE name = 'tokeniser';

-- How many words a turn has: long ones hold a word more easily.
ALTER TABLE turn ADD COLUMN length INTEGER NOT NULL DEFAULT 0;
