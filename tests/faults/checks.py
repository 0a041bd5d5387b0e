"""Checks after a fault: what a store still holds, and what it left on the disk."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import psutil

from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from tests.fakes.copying import everything, records


@dataclass(frozen=True, slots=True)
class Kept:
    """What a store holds of what it acknowledged."""

    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    calls: str = ""  # the arguments of all tool calls


async def look_for(path: Path, acknowledged: Iterable[str]) -> Kept:
    """Look for messages, by their texts or ids; no two questions may have the same text."""
    problems = find_damage(path)
    store = await open_sqlite(path, WORDS, REDACTOR)
    try:
        messages = await records(store, "message")
        calls = await records(store, "tool_call")
    finally:
        await store.close()
    texts = Counter(str(one["content"]) for one in messages if one["role"] == "user")
    known = {str(one[name]) for one in messages for name in ("content", "uuid")}
    positions = defaultdict(list)
    for one in messages:
        positions[one["conversation_id"]].append(one["position"])
    problems += [
        f"{path}: the positions in {talk} are {sorted(places, key=str)}"
        for talk, places in positions.items()
        if sorted(places, key=str) != sorted(range(len(places)), key=str)
    ]
    return Kept(
        lost=sorted(set(acknowledged) - known),
        doubled=sorted(text for text, times in texts.items() if times > 1),
        problems=problems,
        calls=" ".join(str(call["arguments"]) for call in calls),
    )


async def read_everything(path: Path) -> Mapping[str, object]:
    """Return all records of a store, by their kind."""
    store = await open_sqlite(path, WORDS, REDACTOR)
    try:
        return {**await everything(store)}
    finally:
        await store.close()


def find_damage(path: Path, pragma: str = "quick_check") -> list[str]:
    """Return what SQLite says of a file; looks at a copy, since opening it may change it."""
    if not path.exists():
        return []
    with tempfile.TemporaryDirectory() as folder:
        for part in path.parent.glob(f"{path.name}*"):
            if not part.name.endswith("-shm"):
                shutil.copy(part, folder)
        try:
            connection = apsw.Connection(f"{folder}/{path.name}")
            found = [str(row[0]) for row in connection.execute(f"PRAGMA {pragma}")]
            connection.close()
        except (apsw.Error, UnicodeDecodeError) as error:
            found = [str(error)]
    return [f"{path}: {line}" for line in found if line != "ok"]


def find_processes(folder: Path) -> list[str]:
    """Return the processes that work in a folder or were started with a path in it."""
    found = []
    for process in psutil.process_iter():
        try:
            words = [process.cwd(), *process.cmdline()]
        except psutil.Error:
            continue
        if any(str(folder) in word for word in words):
            found.append(f"process {process.pid}: {' '.join(words[1:])[:200]}")
    return found
