"""Show: how things look, as text for people and as JSON for scripts. All doors share it."""
