"""Kept outlines: the names in files that were read and are not related yet.

The store has the scopes of such a file, but not which names they use. They are kept in a private
file until all files are related, so that a run after an interruption parses no file again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias, cast

from ragforge.brain.languages.language import Import
from ragforge.brain.parse.outline import Definition, Outline, make_scope_ids
from ragforge.brain.parse.read_source import ReadFile
from ragforge.domain.code import File, FileMark
from ragforge.domain.kinds import Redactor
from ragforge.domain.text import Json
from ragforge.private_files import open_private
from ragforge.records import dataclass

_Fields: TypeAlias = list[list[Any]]
_RELATED = tuple(name for name in Definition.__match_args__ if name not in ("docstring", "text"))
_IMPORTED = Import.__match_args__
_NAME = re.compile(r"[\w.]{,19}|[A-Za-z_.]*")
"""Never a secret by itself. Most texts are names, and to look at all takes a tenth of parsing."""


@dataclass(frozen=True, slots=True)
class KeptOutlines:
    """The outlines of files of one project, each with the hash of the file that it was made of.

    A file whose names look like a secret is not kept, and one that cannot be kept or read is
    parsed again.
    """

    place: Path
    redactor: Redactor

    def add(self, files: Iterable[ReadFile]) -> None:
        """Keep the outlines of files that were just parsed."""
        rows = [
            _encode(file.parsed.file, file.outline)
            for file in files
            if file.parsed is not None and file.outline is not None
        ]
        texts = set[str]().union(*map(_list_doubtful, rows))
        if not self.redactor.is_clean(texts):
            rows = [row for row in rows if self._is_clean(row)]
        lines = map(json.dumps, rows)
        with suppress(OSError), open_private(self.place) as kept:
            kept.write("".join(f"{line}\n" for line in lines))

    def load(self, project_id: str, stored: Mapping[str, File | FileMark]) -> dict[str, ReadFile]:
        """Return the outlines of those files that have not changed since, by path."""
        found: dict[str, ReadFile] = {}
        with suppress(OSError), self.place.open(encoding="utf-8", errors="replace") as kept:
            for line in kept:
                with suppress(ValueError, TypeError):  # the run was killed while it wrote
                    path, hash_, *rest = json.loads(line)
                    known = stored.get(path)
                    if known is None or known.hash != hash_:
                        continue
                    outline = _decode(*rest)
                    ids = tuple(make_scope_ids(project_id, path, outline))
                    found[path] = ReadFile(path, outline=outline, ids=ids)
        return found

    def drop(self) -> None:
        """Forget all of them: every file is related."""
        with suppress(OSError):
            self.place.unlink()

    def _is_clean(self, row: list[Json]) -> bool:
        return self.redactor.is_clean(_list_doubtful(row)) or self.redactor.redact(row) is row


def _encode(file: File, outline: Outline) -> list[Json]:
    """Return what relating needs of a file."""
    definitions = [[getattr(one, name) for name in _RELATED] for one in outline.definitions]
    imports = [[getattr(one, name) for name in _IMPORTED] for one in outline.imports]
    return [file.path, file.hash, outline.language, definitions, imports]


def _decode(
    language: str | None, definitions: list[list[Any]], imports: list[list[Any]]
) -> Outline:
    """Return an outline without the texts of its definitions. Raises TypeError."""
    return Outline(
        language,
        tuple(
            Definition(**dict(zip(_RELATED, map(_freeze, one), strict=True))) for one in definitions
        ),
        tuple(Import(*map(_freeze, one)) for one in imports),
    )


def _freeze(value: Any) -> Any:
    """Return lists as tuples, as they were."""
    return tuple(map(_freeze, value)) if isinstance(value, list) else value


def _list_doubtful(row: list[Json]) -> set[str]:
    """Return the texts of a row that are more than a name, each once."""
    path, _, _, definitions, imports = cast(tuple[str, Any, Any, _Fields, _Fields], row)
    texts = {path}
    lists = set[tuple[Any, ...]]()
    for fields in (*definitions, *imports):
        texts.update(value for value in fields if isinstance(value, str))
        lists.update(value for value in fields if isinstance(value, tuple))
    while lists:
        items = set(chain.from_iterable(lists))
        lists = {item for item in items if isinstance(item, tuple)}
        texts.update(item for item in items if isinstance(item, str))
    return {text for text in texts if not _NAME.fullmatch(text)}
