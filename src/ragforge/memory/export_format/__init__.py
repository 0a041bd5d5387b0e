"""Exchange: export and import conversations, and copy whole stores."""
