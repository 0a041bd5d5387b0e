"""Levels: turns become short-term summaries, and those long-term ones."""
