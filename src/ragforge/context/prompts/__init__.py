"""Prompts of the context."""
