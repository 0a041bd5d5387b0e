"""Parse: the scopes of a source file, what it imports and which names it uses."""

from __future__ import annotations

from ragforge.brain.languages.language import Import
from ragforge.brain.languages.table import detect_language
from ragforge.brain.parse.file import parse
from ragforge.brain.parse.outline import Definition, Outline

__all__ = ["Definition", "Import", "Outline", "detect_language", "parse"]
