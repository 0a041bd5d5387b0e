"""Prompts: Markdown files beside the code that uses them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template


@cache
def _load_template(package: str, name: str) -> Template:
    return Template(files(package).joinpath(f"{name}.md").read_text(encoding="utf-8").strip())


def load_prompt(package: str, name: str, **values: str) -> str:
    """Return the prompt `name`.md of a package, with its $values filled in."""
    return _load_template(package, name).substitute(values)
