"""The command door: parse, call, show."""
