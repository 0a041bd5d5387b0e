"""Search: find turns, summaries, notes and similar conversations."""
