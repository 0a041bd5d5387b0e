"""Code: which code a memory is about, and what has become of it."""
