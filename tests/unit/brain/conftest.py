"""Outlines of the sample files, as tables that a test can hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ragforge.brain.parse.outline import Definition, Outline
from ragforge.brain.parse.read_source import parse

_SAMPLES = Path(__file__).parent / "samples"


@dataclass(frozen=True)
class Reading:
    """An outline and what tests ask of it."""

    outline: Outline

    @property
    def table(self) -> list[str]:
        """One line a definition, inner ones indented: type, qualified name, lines."""
        return [
            f"{'  ' * self._depth(d)}{d.type} {d.qualified_name} {d.start_line}-{d.end_line}"
            for d in self.outline.definitions
        ]

    @property
    def imports(self) -> list[str]:
        return [
            f"{i.line}: {i.module}"
            + (f" as {i.alias}" if i.alias else "")
            + (" *" if i.wildcard else "")
            + "".join(f" {name}={local}" for name, local in i.names)
            for i in self.outline.imports
        ]

    @property
    def bases(self) -> dict[str, str]:
        found = self.outline.definitions
        return {d.qualified_name: " ".join(d.bases) for d in found if d.bases}

    @property
    def decorators(self) -> dict[str, str]:
        found = self.outline.definitions
        return {d.qualified_name: " ".join(d.decorators) for d in found if d.decorators}

    @property
    def docstrings(self) -> dict[str, str]:
        return {d.qualified_name: d.docstring for d in self.outline.definitions if d.docstring}

    def get(self, qualified_name: str, type_: str | None = None) -> Definition:
        module, *others = self.outline.definitions  # a class may have its file's name
        return next(
            d
            for d in (*others, module)
            if d.qualified_name == qualified_name and type_ in (None, d.type)
        )

    def signature(self, qualified_name: str) -> str:
        return self.get(qualified_name).signature

    def calls(self, qualified_name: str, type_: str | None = None) -> str:
        return " ".join(self.get(qualified_name, type_).calls)

    def uses(self, qualified_name: str, type_: str | None = None) -> str:
        return " ".join(self.get(qualified_name, type_).uses)

    def _depth(self, definition: Definition) -> int:
        depth = 0
        while definition.parent is not None:
            definition = self.outline.definitions[definition.parent]
            depth += 1
        return depth


@pytest.fixture
def read() -> Callable[[str, str], Reading]:
    """Outlines a text as the file of that name."""
    return lambda path, text: Reading(parse(path, text))


@pytest.fixture
def sample() -> Callable[[str], Reading]:
    """Outlines a file of the samples folder; `.txt` keeps linters away from some."""

    def outlined(name: str) -> Reading:
        path = _SAMPLES / name
        if not path.exists():
            path = _SAMPLES / f"{name}.txt"
        with path.open(encoding="utf-8", newline="") as file:
            return Reading(parse(f"src/{name}", file.read()))

    return outlined
