"""Benchmarks: one program for each question; results are kept with their commit."""
