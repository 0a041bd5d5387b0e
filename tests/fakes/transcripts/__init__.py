"""Transcripts in the formats of other agents, about an invented shop."""
