-- Who said it, and who may see it. What is here already has no author and is seen by everybody, as
-- before: a column that is added costs the same for any number of turns.
ALTER TABLE conversation ADD COLUMN author TEXT;
ALTER TABLE conversation ADD COLUMN author_key TEXT;
ALTER TABLE conversation ADD COLUMN host TEXT;
ALTER TABLE conversation ADD COLUMN agent TEXT NOT NULL DEFAULT 'ragforge';
ALTER TABLE conversation ADD COLUMN visibility TEXT NOT NULL DEFAULT 'shared';
ALTER TABLE conversation ADD COLUMN private_to TEXT;
CREATE INDEX conversation_by_author ON conversation (author_key, uuid) WHERE author_key IS NOT NULL;
CREATE INDEX conversation_private ON conversation (private_to) WHERE private_to IS NOT NULL;
ALTER TABLE message ADD COLUMN author TEXT;
ALTER TABLE message ADD COLUMN private_to TEXT;
ALTER TABLE turn ADD COLUMN private_to TEXT;
ALTER TABLE summary ADD COLUMN private_to TEXT;
ALTER TABLE note ADD COLUMN author TEXT;
ALTER TABLE note ADD COLUMN author_key TEXT;
ALTER TABLE note ADD COLUMN visibility TEXT NOT NULL DEFAULT 'shared';
ALTER TABLE note ADD COLUMN private_to TEXT;
CREATE INDEX note_private ON note (private_to) WHERE private_to IS NOT NULL;
-- With who may see a turn, so that the turns of a project are counted without reading them.
DROP INDEX turn_by_project;
CREATE INDEX turn_by_project ON turn (project_path, started_ms, private_to);

-- Whose model and key a job uses, and on which machine it can be done. Older jobs are anybody's.
ALTER TABLE job ADD COLUMN owner TEXT;
ALTER TABLE job ADD COLUMN machine TEXT;
