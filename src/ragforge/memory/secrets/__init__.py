"""Secrets: found and taken out before anything is stored."""
