"""Structured execution, the tool loop, and patience with providers: no provider's name."""
