"""Search: pure functions over text and hits."""
