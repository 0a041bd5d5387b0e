"""Prompts of the tools: what a model is told of each."""
