"""Prompts: Markdown files next to the code that uses them."""

from __future__ import annotations

from functools import cache
from string import Template

from ragforge.resources import read_resource


@cache
def _load_template(package: str, name: str) -> Template:
    folder = package.removeprefix("ragforge.").replace(".", "/")
    return Template(read_resource(f"{folder}/{name}.md").strip())


def load_prompt(package: str, name: str, **values: str) -> str:
    """Return the prompt `name`.md of a package, with its $values filled in."""
    return _load_template(package, name).substitute(values)
