"""Parse: the scopes of a source file, what it imports and which names it uses."""
