"""Parse: the scopes of a source file, what it imports and which names it uses."""

from __future__ import annotations

from ragforge.brain.parse.file import parse
from ragforge.brain.parse.languages import language_of
from ragforge.brain.parse.outline import Definition, Import, Outline

__all__ = ["Definition", "Import", "Outline", "language_of", "parse"]
