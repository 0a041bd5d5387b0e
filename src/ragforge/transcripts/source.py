"""Source: where an agent keeps its transcripts, and how one of them is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from ragforge.domain.text import Json
from ragforge.transcripts.record import Entry


class Reader(Protocol):
    """Reads one transcript, line by line. What it has to remember is stored with the position."""

    unknown: Counter[str]
    """Kinds of records that it does not know, with their numbers."""

    def read(self, content: Mapping[str, Any]) -> Iterator[Entry]:
        """Yield what one line says. Odd content is counted as unknown, and never raises."""

    def save(self) -> Json:
        """Return what is needed to go on after the last line."""

    def load(self, state: Json) -> None:
        """Take up what `save` returned; anything else is ignored."""


class LineSource(Protocol):
    """An agent that writes a line of JSON for each thing that happens."""

    name: str

    def find(self, home: Path, environ: Mapping[str, str]) -> Iterable[Path]:
        """Return the transcripts that are there, the oldest first."""

    def open(self, path: Path) -> Reader:
        """Return a reader for a transcript."""
