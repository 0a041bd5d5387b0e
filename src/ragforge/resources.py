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
