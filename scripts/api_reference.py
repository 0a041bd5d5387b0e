"""Write docs/api.md: every public name with its signature and its docstring.

python -m scripts.api_reference
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import ragforge
import ragforge.errors
import ragforge.events
import ragforge.permissions

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
MODULES = (ragforge, ragforge.events, ragforge.permissions, ragforge.errors)
HEAD = """\
# API reference

Made from docstrings by `python -m scripts.api_reference`. [library.md](library.md) shows how
things go together.
"""


def render_page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for module in MODULES:
        parts.append(f"## {module.__name__}\n")
        parts += (_render(name, getattr(module, name)) for name in list_names(module))
    return "\n".join(parts)


def list_names(module: ModuleType) -> list[str]:
    """Return the public names of a module."""
    if hasattr(module, "__all__"):
        return sorted(name for name in module.__all__ if not name.startswith("__"))
    return sorted(
        name
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__
    )


def _render(name: str, value: Any) -> str:
    if inspect.isclass(value):
        return "\n".join(_render_class(name, value))
    if inspect.isfunction(value):
        return f"### `{_sign(name, value)}`\n\n{_read_docstring(value)}\n"
    return f"### `{name}`\n\n```python\n{name} = {_render_alias(value)}\n```\n"


def _render_class(name: str, kind: type) -> Iterator[str]:
    bases = ", ".join(base.__name__ for base in kind.__bases__ if base is not object)
    yield f"### `class {name}{f'({bases})' if bases else ''}`\n\n{_read_docstring(kind)}\n"
    if is_dataclass(kind) and (own := [one for one in fields(kind) if one.name[0] != "_"]):
        yield "| field | type |\n| --- | --- |"
        yield from (f"| `{one.name}` | `{_escape(str(one.type))}` |" for one in own)
        yield ""
    for method, value in vars(kind).items():
        if method.startswith("_"):
            continue
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if isinstance(function, property | cached_property) and function.__doc__:
            yield f"- `{method}`: {_join_lines(function.__doc__)}"
        elif inspect.isfunction(function) and function.__doc__:
            yield f"- `{_sign(method, function)}`: {_join_lines(function.__doc__)}"
    yield ""


def _sign(name: str, function: Any) -> str:
    signature = inspect.signature(function)
    shown = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
    head = "async " if inspect.iscoroutinefunction(function) else ""
    text = f"{head}{name}{signature.replace(parameters=shown)}".replace("'", "")
    return re.sub(r"<function .*? at 0x[0-9a-f]+>", "…", text)


def _render_alias(value: Any) -> str:
    return re.sub(r"\b(typing|collections\.abc|ragforge(\.[a-z_]+)+)\.", "", str(value))


def _read_docstring(value: Any) -> str:
    return inspect.getdoc(value) or ""


def _join_lines(text: str) -> str:
    return " ".join(text.split())


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(render_page(), "utf-8")
    subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", str(PAGE)], check=True)
