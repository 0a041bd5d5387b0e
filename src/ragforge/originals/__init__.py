"""Originals: transcripts of other agents as they were, kept for a later import."""
