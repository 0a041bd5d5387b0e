"""SQLite: the embedded store, one file, no server."""
