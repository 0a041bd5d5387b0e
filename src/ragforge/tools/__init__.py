"""Tools: what an agent can do, one tool a file."""
