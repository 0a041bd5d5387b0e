"""RagForge: a coding agent and a library that remember."""

__version__ = "0.1.0"
__all__ = ["__version__"]
