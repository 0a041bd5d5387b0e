"""Prompts of the command runner."""
