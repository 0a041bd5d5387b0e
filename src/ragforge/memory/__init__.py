"""Memory: record what was said and done, and find it again."""
