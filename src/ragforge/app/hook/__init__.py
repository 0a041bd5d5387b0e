"""Hook: the context that other agents get while they work."""
