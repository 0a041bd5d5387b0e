"""Edits: changes of files, shown before they are made and kept so that they can be undone."""
