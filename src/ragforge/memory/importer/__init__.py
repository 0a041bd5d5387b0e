"""Importer: bring the sessions that other agents recorded into memory."""
