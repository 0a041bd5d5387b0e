"""Exact index: which SCIP index a project's relations come from, and for which of its files.

The index itself stays where it is. Next to the kept outlines a small file says which one it is,
and what hash each file had when it fitted: a file with another hash is related by names again.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from ragforge.brain.files.beneath import read_bytes
from ragforge.brain.files.exclusions import decode
from ragforge.brain.graph.exact import ExactRelations
from ragforge.brain.graph.scip import Document, read_index
from ragforge.domain.code import hash_content
from ragforge.errors import InputError
from ragforge.private_files import open_private
from ragforge.records import dataclass

log = logging.getLogger(__name__)

FILENAME = "index.scip"


@dataclass(frozen=True, slots=True)
class ExactIndex:
    """An index that was taken, as it was then."""

    source: str
    size: int
    mtime_ns: int
    fresh: Mapping[str, str]  # the hash of each file that it describes as it was
    stale: tuple[str, ...]  # files that had changed since it was made
    was_asked_for: bool

    def is_unchanged(self) -> bool:
        """Tell whether the file is still the one that was read."""
        return _stamp(Path(self.source)) == (self.size, self.mtime_ns)

    def load(self, root: Path) -> ExactRelations | None:
        """Return the relations of the index, None if it has changed or is gone."""
        if not self.is_unchanged():
            return None
        try:
            documents = read_index(Path(self.source), find_folder(root, Path(self.source)))
        except InputError as error:
            log.warning("%s", error)
            return None
        return ExactRelations(documents, self.fresh)


class ExactIndexFile:
    """Remembers the index of one project."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def load(self) -> ExactIndex | None:
        """Return the index that was taken last, None if there is none."""
        try:
            facts = json.loads(self._file.read_text("utf-8"))
            return ExactIndex(**{**facts, "stale": tuple(facts["stale"])})
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def save(self, index: ExactIndex | None) -> None:
        if index is None:
            self._file.unlink(missing_ok=True)
        else:
            new = self._file.with_name(f"{self._file.name}.new")
            new.unlink(missing_ok=True)
            with open_private(new) as out:
                out.write(json.dumps(asdict(index)))
            new.replace(self._file)

    def choose(
        self, root: Path, asked: Path | None, uses_found: bool, paths: Collection[str]
    ) -> ExactIndex | None:
        """Return the index to use: the one that is asked for, the former one, or that of the root.

        Raises InputError if the one that is asked for cannot be read; another one is ignored with
        a warning.
        """
        known = self.load()
        if asked is not None:
            return take(root, asked.resolve(), paths, was_asked_for=True)
        sources = [(known.source, True)] if known is not None and known.was_asked_for else []
        sources += [(str(root / FILENAME), False)] if uses_found else []
        for source, was_asked_for in sources:
            if known is not None and source == known.source and known.is_unchanged():
                return known
            if Path(source).is_file():
                try:
                    return take(root, Path(source), paths, was_asked_for=was_asked_for)
                except InputError as error:
                    log.warning("%s Its relations are found by names.", error)
        return None


def take(root: Path, source: Path, paths: Collection[str], *, was_asked_for: bool) -> ExactIndex:
    """Read an index and compare it with the files that it describes. Raises InputError."""
    documents = read_index(source, find_folder(root, source))
    size, mtime_ns = _stamp(source) or (0, 0)
    fresh: dict[str, str] = {}
    stale: list[str] = []
    described = sorted(documents.keys() & set(paths))
    if not described:
        raise InputError(
            f"{source} describes no file of {root}. Its paths must begin at the root, or at the "
            "folder of the project that the index is in."
        )
    for path in described:
        found = _compare(root, documents[path], mtime_ns)
        if found is None:
            stale.append(path)
        else:
            fresh[path] = found
    return ExactIndex(str(source), size, mtime_ns, fresh, tuple(stale), was_asked_for)


def _compare(root: Path, document: Document, made_ns: int) -> str | None:
    """Return the hash of a file that is as the indexer saw it, None if it changed since."""
    with suppress(OSError):
        is_older = (root / document.path).stat().st_mtime_ns <= made_ns
        data = read_bytes(str(root), document.path)
        if (is_older or document.text) and document.fits(decode(data)):
            return hash_content(data)
    return None


def find_folder(root: Path, source: Path) -> str:
    """Return the folder of the project in which an index lies: its paths begin there."""
    try:
        folder = source.parent.relative_to(root).as_posix()
    except ValueError:
        return ""
    return "" if folder == "." else folder


def list_affected(before: ExactIndex | None, after: ExactIndex | None) -> set[str]:
    """Return the files whose relations come from another source than before."""
    if before == after:
        return set()
    indexes: Iterable[ExactIndex] = [one for one in (before, after) if one is not None]
    return {path for one in indexes for path in one.fresh}


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns
