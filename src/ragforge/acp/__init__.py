"""The agent of an editor: RagForge over the Agent Client Protocol. See docs/acp.md."""
