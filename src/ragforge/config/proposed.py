"""Proposed settings: what a project's file would set, read without applying any of it.

The file is a stranger's: aliases of YAML can make a small file expand without end, so only so
much of it is looked at, and values that no setting has are named by their type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from ragforge.config.dotted_keys import resolve_key
from ragforge.config.files import read_file
from ragforge.config.trust import digest_sensitive
from ragforge.errors import SettingsError
from ragforge.records import dataclass

MAX_ENTRIES = 1_000


@dataclass(frozen=True, slots=True)
class ProposedSettings:
    """What a project's file would set: dotted keys, and values as text."""

    items: tuple[tuple[str, str], ...] = ()
    digest: str = ""  # of the sensitive ones
    problem: str = ""  # why the file cannot be read


def read_proposed_settings(path: Path) -> ProposedSettings:
    """Return what a project's file would set."""
    try:
        tree = read_file(path, path.name)
        items = tuple(_flatten(tree, "", count(1), path.name))
    except (SettingsError, RecursionError) as error:
        return ProposedSettings(problem=str(error) or f"{path.name}: it is nested too deeply.")
    return ProposedSettings(items, digest_sensitive(items))


def _flatten(
    section: Mapping[Any, Any], prefix: str, entries: count[int], shown: str
) -> Iterator[tuple[str, str]]:
    for name, value in section.items():
        if next(entries) > MAX_ENTRIES:
            raise SettingsError(f"{shown}: it has more than {MAX_ENTRIES:,} entries.")
        key = prefix + _write(name)
        if isinstance(value, dict):
            yield from _flatten(value, f"{key}.", entries, shown)
        else:
            yield resolve_key(key), _write(value)


def _write(value: object) -> str:
    """Return a value as text, as it would stand in YAML."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    try:
        return str(value) if isinstance(value, int | float) else f"a {type(value).__name__}"
    except ValueError:  # Python refuses to write out huge numbers
        return "a huge number"
