// Sessions of other agents: how far their files were read, and what was deleted and must not come back
// with the next reading.
CREATE CONSTRAINT ragforge_transcript IF NOT EXISTS
FOR (n:RagForgeTranscript) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT ragforge_forgotten IF NOT EXISTS
FOR (n:RagForgeForgotten) REQUIRE (n.uuid, n.owner) IS UNIQUE;
CREATE INDEX ragforge_transcript_agent IF NOT EXISTS
FOR (n:RagForgeTranscript) ON (n.owner, n.host, n.agent);
