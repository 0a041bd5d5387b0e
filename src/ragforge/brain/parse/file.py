"""File: the outline of one file in any language."""

from __future__ import annotations

from dataclasses import replace

from ragforge.brain.languages.table import detect_language, find_language
from ragforge.brain.parse.allowance import TooCostly
from ragforge.brain.parse.chunks import outline_chunks
from ragforge.brain.parse.markdown import outline_markdown
from ragforge.brain.parse.notebook import NOTEBOOK, outline_notebook
from ragforge.brain.parse.outline import Outline
from ragforge.brain.parse.prose import FORMATS, is_prose, outline_prose
from ragforge.brain.parse.tree import outline_tree


def parse(path: str, text: str) -> Outline:
    """Return the outline of a file. It never raises: any text has an outline."""
    name = detect_language(path) or "text"
    if name == "markdown":
        return outline_markdown(path, text)
    if name in FORMATS and is_prose(path):
        return outline_prose(name, path, text)
    if name == NOTEBOOK:
        return outline_notebook(path, text) or outline_chunks("json", path, text)
    language = find_language(name)
    if language is not None and language.detect_dialect is not None:
        language = find_language(language.detect_dialect(path, text))
    if language is None:
        return outline_chunks(name, path, text)
    try:
        return outline_tree(language, path, text)
    except TooCostly:
        return replace(outline_chunks("text", path, text), reduced="costly")
