"""Prompts of the memory."""
