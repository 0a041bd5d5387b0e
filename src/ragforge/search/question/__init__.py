"""Questions: what a message asks for, and in which words to search for it."""
