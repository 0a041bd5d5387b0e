"""Search: find code and documents of a project."""
