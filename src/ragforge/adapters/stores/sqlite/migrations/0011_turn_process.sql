-- Which process is to answer a user's message: while it runs the turn may grow, and once it is
-- gone the turn is over, answered or not.
ALTER TABLE message ADD COLUMN process TEXT;
