"""Exchange: conversations and whole stores, out of here and into here."""
