"""Connect: add RagForge to the configuration files of other agents, and take it out again."""
