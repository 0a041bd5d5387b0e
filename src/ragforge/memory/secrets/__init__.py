"""Secrets: find and remove them before anything is stored."""
