"""The terminal: the door in which people talk with RagForge."""
