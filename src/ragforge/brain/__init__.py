"""The brain: a graph of the project's code."""
