"""Transcripts: the session files of other agents, which are read and never changed."""
