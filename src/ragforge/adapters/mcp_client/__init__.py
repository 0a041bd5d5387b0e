"""Servers of tools, through the official SDK of the Model Context Protocol."""
