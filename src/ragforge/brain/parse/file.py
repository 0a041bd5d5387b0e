"""File: the outline of one file, whatever it is written in."""

from __future__ import annotations

import re

from ragforge.brain.parse.chunks import outline_chunks
from ragforge.brain.parse.languages import language_named, language_of
from ragforge.brain.parse.markdown import outline_markdown
from ragforge.brain.parse.notebook import NOTEBOOK, outline_notebook
from ragforge.brain.parse.outline import Outline
from ragforge.brain.parse.prose import FORMATS, is_prose, outline_prose
from ragforge.brain.parse.tree import outline_tree

# What a header says in C++ and could not say in C.
_CPP_ONLY = re.compile(
    r"^\s*(?:class\s+\w+|namespace\b|template\s*<|using\s+\w+|public:|private:|protected:)"
    r"|\bstd::|\bconstexpr\b|\bnullptr\b",
    re.MULTILINE,
)


def parse(path: str, text: str) -> Outline:
    """Return the outline of a file. Any text has one: this raises nothing."""
    name = language_of(path) or "text"
    if name == "markdown":
        return outline_markdown(path, text)
    if name in FORMATS and is_prose(path):
        return outline_prose(name, path, text)
    if name == NOTEBOOK:
        return outline_notebook(path, text) or outline_chunks("json", path, text)
    if name == "c" and path.lower().endswith(".h") and _CPP_ONLY.search(text):
        name = "cpp"
    language = language_named(name)
    if language is None:
        return outline_chunks(name, path, text)
    return outline_tree(language, path, text)
