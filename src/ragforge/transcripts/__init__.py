"""Transcripts: what other agents wrote down of their sessions, read as it is and never changed."""
