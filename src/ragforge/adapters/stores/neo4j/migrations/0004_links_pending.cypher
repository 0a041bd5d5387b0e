// Turns whose links to code are still to be made, because the code was not known when they were
// stored. Older turns without any link are tried once more; a second run of this changes nothing.
CREATE INDEX ragforge_message_link_pending IF NOT EXISTS
FOR (n:Message) ON (n.link_pending);
MATCH (n:Message {role: 'user'}) WHERE n.link_pending IS NULL AND NOT EXISTS {
  MATCH (m:Message {conversation_id: n.conversation_id, turn_index: n.turn_index})
  MATCH (:CodeReference {owner_id: m.uuid}) }
CALL (n) { SET n.link_pending = true } IN TRANSACTIONS OF 10000 ROWS;
