"""Export format: a conversation as a JSON document, written and read."""
