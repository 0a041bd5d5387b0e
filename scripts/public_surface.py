"""Public surface: what docs/versions.md promises not to break, as data to compare with.

python -m scripts.public_surface writes tests/fixtures/public_surface.json. A release runs it
after its version is set; between releases the test compares with what the last one wrote.
"""

from __future__ import annotations

import inspect
import json
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import typer

import ragforge
from ragforge.cli.main import build_program
from ragforge.config.dotted_keys import list_keys
from ragforge.mcp.definitions import TOOLS
from ragforge.show.console import Fields
from scripts.api_reference import MODULES, list_names

FILE = Path(__file__).parents[1] / "tests" / "fixtures" / "public_surface.json"
DOORS = ("cli", "mcp", "show", "web")
Surface = Mapping[str, Any]


def describe() -> dict[str, Any]:
    """Return everything that other programs may rely on."""
    return {
        "version": ragforge.__version__,
        "python": dict(_list_python()),
        "commands": dict(_list_commands(typer.main.get_command(build_program()), "ragforge")),
        "json": sorted({tuple(one) for one in _list_json()}),
        "mcp": {
            tool["name"]: {
                "required": tool["inputSchema"].get("required", []),
                "properties": {
                    name: field.get("type")
                    for name, field in tool["inputSchema"]["properties"].items()
                },
            }
            for tool in TOOLS
        },
        "settings": sorted(list_keys()),
    }


def _list_python() -> Iterator[tuple[str, Any]]:
    for module in MODULES:
        for name in list_names(module):
            value, path = getattr(module, name), f"{module.__name__}.{name}"
            if isinstance(value, FunctionType):
                yield path, _list_parameters(value)
            elif inspect.isclass(value):
                yield from _list_class(value, path)
            else:
                yield path, None


def _list_class(kind: type, path: str) -> Iterator[tuple[str, Any]]:
    is_data = is_dataclass(kind)
    yield path, _list_parameters(kind) if is_data or "__init__" in vars(kind) else None
    if is_dataclass(kind):
        yield from ((f"{path}.{one.name}", None) for one in fields(kind) if one.name[0] != "_")
    for name, value in vars(kind).items():
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if name[0] != "_" and not (is_data and name in kind.__dataclass_fields__):  # type: ignore[attr-defined]
            yield (
                f"{path}.{name}",
                (_list_parameters(function) if isinstance(function, FunctionType) else None),
            )


def _list_parameters(function: Any) -> list[list[Any]]:
    """Return name, kind and whether it must be given, of each parameter."""
    return [
        [one.name, one.kind.name, one.default is one.empty]
        for one in inspect.signature(function).parameters.values()
        if one.name[0] != "_"
    ]


def _list_commands(command: Any, path: str) -> Iterator[tuple[str, list[str]]]:
    names = [name for one in command.params for name in one.opts if not getattr(one, "hidden", 0)]
    yield path, sorted(names)
    for name in getattr(command, "commands", ()):
        inner = command.get_command(None, name)  # loaded when it is needed
        if inner is not None and not inner.hidden:
            yield from _list_commands(inner, f"{path} {name}")


def _list_json() -> Iterator[list[str]]:
    for found in pkgutil.walk_packages(ragforge.__path__, "ragforge."):
        if found.name.split(".")[1] in DOORS:
            module = import_module(found.name)
            yield from (list(one.keys) for one in vars(module).values() if isinstance(one, Fields))


def find_broken(before: Surface, now: Surface) -> list[str]:
    """Return what a user of the surface before cannot rely on any more."""
    broken = [f"{path} is gone" for path in before["python"].keys() - now["python"].keys()]
    for path, parameters in before["python"].items():
        if path in now["python"]:
            broken += _compare_parameters(path, parameters, now["python"][path])
    for kind, named in (("commands", "option"), ("mcp", "tool")):
        broken += [f"{path} is gone" for path in before[kind].keys() - now[kind].keys()]
        for path in before[kind].keys() & now[kind].keys():
            broken += _compare_inner(path, named, before[kind][path], now[kind][path])
    shown = [set(keys) for keys in now["json"]]
    broken += [
        f"no JSON object has the keys {', '.join(keys)}"
        for keys in before["json"]
        if not any(set(keys) <= one for one in shown)
    ]
    broken += [f"setting {key} is gone" for key in set(before["settings"]) - set(now["settings"])]
    return sorted(broken)


def _compare_parameters(path: str, before: Any, now: Any) -> Iterator[str]:
    if before is None or now is None:
        if before != now:
            yield f"{path} was a name or a function, and is the other now"
        return
    after = {name: (kind, must) for name, kind, must in now}
    for name, kind, must in before:
        if name not in after:
            yield f"{path}: {name} is gone"
        elif after[name][0] != kind and after[name][0] != "POSITIONAL_OR_KEYWORD":
            yield f"{path}: {name} is passed in another way"
        elif after[name][1] and not must:
            yield f"{path}: {name} must be given"
    order = [name for name, kind, _ in before if kind != "KEYWORD_ONLY"]
    if [name for name, _, _ in now if name in order] != order:
        yield f"{path}: the parameters have another order"
    known = {name for name, _, _ in before}
    yield from (f"{path}: {name} is new and must be given" for name, _, must in now
                if must and name not in known)  # fmt: skip


def _compare_inner(path: str, named: str, before: Any, now: Any) -> Iterator[str]:
    if isinstance(before, Sequence):
        yield from (f"{path}: {named} {one} is gone" for one in set(before) - set(now))
        return
    for name, kind in before["properties"].items():
        if now["properties"].get(name) != kind:
            yield f"{path}: {name} is gone or has another type"
    for name in set(now["required"]) - set(before["required"]):
        yield f"{path}: {name} must be given"


def format_surface(surface: Surface) -> str:
    """Return it as JSON with an entry a line, so that a difference can be read."""
    sections = []
    for name, value in surface.items():
        brackets = "{}" if isinstance(value, dict) else "[]"
        lines = [json.dumps(one) for one in value]
        if isinstance(value, dict):
            lines = [f"{json.dumps(key)}: {json.dumps(one)}" for key, one in value.items()]
        inner = ",\n  ".join(lines)
        is_text = isinstance(value, str)
        shown = json.dumps(value) if is_text else f"{brackets[0]}\n  {inner}\n{brackets[1]}"
        sections.append(f"{json.dumps(name)}: {shown}")
    return "{\n" + ",\n".join(sections) + "\n}\n"


def main() -> None:
    FILE.write_text(format_surface(describe()), "utf-8")


if __name__ == "__main__":
    main()
