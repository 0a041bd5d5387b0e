"""Benchmarks: one program a question; results are kept with their commit."""
