"""Prompts of the tools: the description of each, for the model."""
