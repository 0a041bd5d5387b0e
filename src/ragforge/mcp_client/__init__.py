"""Servers: other programs whose tools, resources and prompts the agent uses."""
