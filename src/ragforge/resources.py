"""Resources: the texts of the package that are not Python, beside the code that reads them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_ROOT = Path(__file__).parent


@cache
def read_resource(path: str) -> str:
    """Return a text by its path below the package, such as `llm/prompts/one.md`.

    It is read when it is first needed, and once.
    """
    with open(f"{_ROOT}/{path}", encoding="utf-8") as file:
        return file.read()
