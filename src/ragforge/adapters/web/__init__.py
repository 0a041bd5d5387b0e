"""The web: pages are read over HTTP."""
