"""Structured execution, the tool loop and retries, independent of providers."""
