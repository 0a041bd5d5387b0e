"""Library: the classes that Python programs use."""
