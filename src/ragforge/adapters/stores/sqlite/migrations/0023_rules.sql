-- Rules are notes that always arrive. A note corrects older notes and turns that it contradicts; of
-- others the user said that they hold next to it.
ALTER TABLE note ADD COLUMN is_rule INTEGER NOT NULL DEFAULT 0;
ALTER TABLE note ADD COLUMN corrects TEXT NOT NULL DEFAULT '[]';
ALTER TABLE note ADD COLUMN keeps TEXT NOT NULL DEFAULT '[]';
