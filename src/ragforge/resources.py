"""Resources: the texts of the package that are not Python, next to the code that reads them."""

from __future__ import annotations

import os
from functools import cache

_ROOT = os.path.dirname(__file__)  # pathlib takes a while to import


@cache
def read_resource(path: str) -> str:
    """Return a text by its path below the package, such as `llm/prompts/one.md`.

    It is read when it is first needed, and once.
    """
    with open(f"{_ROOT}/{path}", encoding="utf-8") as file:
        return file.read()


@cache
def read_word_lists(path: str) -> dict[str, frozenset[str]]:
    """Return the lists of words in a text, each below its name in brackets.

    A line that begins with `#` is a comment.
    """
    lists: dict[str, list[str]] = {}
    words: list[str] = []
    for line in read_resource(path).splitlines():
        if line.startswith("["):
            words = lists.setdefault(line.strip("[]"), [])
        elif not line.startswith("#"):
            words += line.split()
    return {name: frozenset(words) for name, words in lists.items()}
