-- Turns whose links to code are still to be made, because the code was not known when they were
-- stored. Older turns without any link are tried once more.
ALTER TABLE message ADD COLUMN link_pending INTEGER NOT NULL DEFAULT 0;
UPDATE message SET link_pending = 1 WHERE role = 'user' AND NOT EXISTS (
  SELECT 1 FROM message m JOIN reference r ON r.owner_id = m.uuid
  WHERE m.conversation_id = message.conversation_id AND m.turn_index = message.turn_index);
CREATE INDEX message_to_link ON message (uuid) WHERE link_pending;
