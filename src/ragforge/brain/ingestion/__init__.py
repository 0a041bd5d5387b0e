"""Ingestion: bring what the store holds of a project up to date."""
