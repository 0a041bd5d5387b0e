"""Domain: the data that RagForge works with; frozen, without I/O."""
