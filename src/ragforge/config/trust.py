"""Trust: what a user allowed of a folder, remembered outside of it.

A folder may come from another person. Until its user trusts it, its `ragforge.config.yaml` sets
nothing and its instruction files are not obeyed; a folder that is not a project is not read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ragforge.config.dotted_keys import resolve_key
from ragforge.config.files import read_file
from ragforge.domain.text import list_fields
from ragforge.errors import InputError, SettingsError
from ragforge.private_files import make_private_folder, replace_file
from ragforge.records import dataclass

FILE_NAME = "trust.json"
SENSITIVE = (
    "store.",
    "llm.",
    "models.",
    "embeddings.",
    "agent.memory.persistence.",
    "agent.memory.trim_",
    "agent.hooks",
    "permissions.",
    "tools.",
    "mcp.",
)
"""How keys begin whose values a trusted project cannot change without another yes: where memory
is and what is deleted from it, which models receive it, what may be run."""

ProjectFileState: TypeAlias = Literal["in force", "not trusted", "changed", "refused"]


MAX_ENTRIES = 1_000


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """The `ragforge.config.yaml` of a project, and whether it is applied."""

    path: Path
    state: ProjectFileState

    @property
    def is_in_force(self) -> bool:
        return self.state == "in force"


@dataclass(frozen=True, slots=True)
class FolderDecision:
    """What the user said of a folder; None: nothing yet."""

    trusted: bool | None = None
    readable: bool | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    """The digest of the sensitive settings that were shown, by the file's path in the folder."""
    decided_at: str = ""

    def judge(self, file: str, digest: str) -> ProjectFileState:
        """Return whether a project's file with this digest is applied."""
        if self.trusted is None:
            return "not trusted"
        if self.settings.get(file, NOTHING_SENSITIVE) != digest:
            return "changed"
        return "in force" if self.trusted else "refused"


class TrustFile:
    """The decisions about all folders, in one file of the user."""

    def __init__(self, state_dir: Path) -> None:
        self.path = state_dir / FILE_NAME

    def find(self, folder: Path) -> FolderDecision:
        """Return what was decided about a folder, known by its real path."""
        return self.find_all().get(str(folder.resolve()), FolderDecision())

    def find_all(self) -> dict[str, FolderDecision]:
        """Return all decisions. A file that cannot be read trusts nothing."""
        try:
            folders = json.loads(self.path.read_text("utf-8"))["folders"]
            return {path: _parse(entry) for path, entry in folders.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def remember(self, folder: Path, decision: FolderDecision | None) -> None:
        """Replace what was decided about a folder; None forgets it.

        Raises InputError if the file cannot be written.
        """
        every = self.find_all()
        every.pop(str(folder.resolve()), None)
        if decision is not None:
            every[str(folder.resolve())] = decision
        entries = {path: list_fields(one) for path, one in sorted(every.items())}
        text = json.dumps({"version": 1, "folders": entries}, indent=2) + "\n"
        try:
            make_private_folder(self.path.parent)
            replace_file(str(self.path), text.encode())
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror}.") from error


def digest_sensitive(settings: Iterable[tuple[str, str]]) -> str:
    """Return a digest of the sensitive ones among dotted keys and their values."""
    chosen = sorted(item for item in settings if item[0].startswith(SENSITIVE))
    return hashlib.sha256(json.dumps(chosen).encode()).hexdigest()


def format_moment() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _parse(entry: object) -> FolderDecision:
    if not isinstance(entry, dict):
        raise TypeError("an entry must be a mapping")
    trusted, readable, settings = (entry.get(key) for key in ("trusted", "readable", "settings"))
    return FolderDecision(
        trusted if isinstance(trusted, bool) else None,
        readable if isinstance(readable, bool) else None,
        {str(key): str(value) for key, value in (settings or {}).items()},
        str(entry.get("decided_at", "")),
    )


NOTHING_SENSITIVE = digest_sensitive(())


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
    """Return a value as text, as in YAML."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    try:
        return str(value) if isinstance(value, int | float) else f"a {type(value).__name__}"
    except ValueError:  # Python refuses to write out huge numbers
        return "a huge number"
