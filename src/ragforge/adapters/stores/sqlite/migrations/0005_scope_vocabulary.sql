-- How many scopes hold a word: what most of them hold is not worth a search beside rarer words.
CREATE VIRTUAL TABLE scope_vocabulary USING fts5vocab (scope_words, 'row');
