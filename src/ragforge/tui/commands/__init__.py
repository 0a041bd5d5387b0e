"""Commands: all that can be typed after `/`, one topic a file."""
