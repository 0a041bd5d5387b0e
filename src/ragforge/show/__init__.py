"""Show: each thing as text for people and as JSON for scripts, for all doors."""
