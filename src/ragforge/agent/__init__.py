"""The agent: one turn from question to answer."""
