"""Command: run read-only command lines, parsed and checked, never given to a shell."""
