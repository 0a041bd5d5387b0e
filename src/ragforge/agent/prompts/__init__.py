"""Prompts of the agent."""
