"""MCP: the door for other agents, which ask for memory and code over standard input and output."""
