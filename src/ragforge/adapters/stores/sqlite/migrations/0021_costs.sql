-- What the request for an answer cost, in US dollars, where the price is known.
ALTER TABLE message ADD COLUMN usd REAL;
