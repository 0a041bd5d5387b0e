"""Ingestion run: one ingestion of one project, step by step.

The store has the scopes of a file that is not related yet, but not which names it uses. Its outline
is kept in a private file until all files are related, so that a run after an interruption parses
no file again.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias, cast

from ragforge.brain.files.compare import PARSED, RELATED, SKIPPED, is_skipped
from ragforge.brain.files.walk import FoundFile, SkippedFile, WantedFiles
from ragforge.brain.graph.changes import (
    ChangedNames,
    find_affected,
    find_changed_names,
    find_dependents,
    find_moved_imports,
    is_unmentioned,
    make_mention_search,
)
from ragforge.brain.graph.name_index import Modules
from ragforge.brain.graph.project_graph import ProjectGraph, find_type_families, read_manifests
from ragforge.brain.ingestion.embed import unsettle
from ragforge.brain.ingestion.pool import BATCH_FILES, SourceReader
from ragforge.brain.ingestion.progress import FoundChanges, IngestionReport, IngestionStep, OnStep
from ragforge.brain.languages.language import Import
from ragforge.brain.languages.table import (
    detect_language,
    find_family,
    find_language,
    is_document,
    is_manifest,
)
from ragforge.brain.parse.outline import Definition, Outline, make_scope_ids
from ragforge.brain.parse.read_source import ReadFile
from ragforge.domain.code import File, FileFilter, FileMark, Project, Scope, ScopeFilter
from ragforge.domain.kinds import Redactor
from ragforge.domain.schema import FILE, SCOPE
from ragforge.domain.text import Json
from ragforge.errors import InputError, NotFound
from ragforge.ports.store import Store
from ragforge.private_files import open_private
from ragforge.records import dataclass
from ragforge.search.rank_paths import is_secondary

_Fields: TypeAlias = list[list[Any]]
_RELATED = tuple(name for name in Definition.__match_args__ if name not in ("docstring", "text"))
_IMPORTED = Import.__match_args__
_NAME = re.compile(r"[\w.]{,19}|[A-Za-z_.]*")
"""Never a secret by itself. Most texts are names, and to look at all takes a tenth of parsing."""
RELATED_TOGETHER = 1_000
"""How many files' relations go into one transaction."""

_OF_OTHERS = re.compile(
    r"(^|/)(vendor(ed)?|third[-_]?party|externals?|node_modules|dist|static|generated)/",
    re.IGNORECASE,
)


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


@dataclass(slots=True)
class IngestionRun:
    """One ingestion of one project.

    The state PARSED marks a file whose relations may be wrong. Files are marked before a
    change makes their relations wrong, so that the next run can complete one that dies.
    """

    store: Store
    root: Path
    project: Project
    found: FoundChanges
    on_step: OnStep
    recent: Sequence[str] = ()  # files that changed lately
    wanted: WantedFiles | None = None  # files that questions ask for meanwhile
    outlines: KeptOutlines | None = None  # for a run after an interruption
    modules: Modules = field(default_factory=lambda: Modules(()))
    new: dict[str, File] = field(default_factory=dict)
    read: dict[str, ReadFile] = field(default_factory=dict)
    changed: dict[str, ChangedNames | None] = field(default_factory=dict)  # with changed names
    skipped: list[SkippedFile] = field(init=False)
    old: dict[str, File] = field(init=False)  # as stored: all of them, or those that were named
    marks: Mapping[str, FileMark] | None = field(init=False)  # of all, while `old` is not all
    scopes: int = 0
    is_unsettled: bool = False  # the project's state says that scopes change

    def __post_init__(self) -> None:
        self.skipped = list(self.found.skipped)
        self.old, self.marks = self.found.known, self.found.marks

    @property
    def project_id(self) -> str:
        return self.project.uuid

    async def execute(self) -> IngestionReport:
        """Bring the store up to date with the files. Work that is done survives an interruption."""
        as_found = self.project
        difference = self.found.difference
        self.new = dict(self.old)
        self.changed = dict.fromkeys(difference.half_done)
        manifests = read_manifests(self.root, self.found.paths)
        self.modules = Modules(self.found.paths, manifests)
        came = any(file.path not in self.old for file in difference.suspects)
        if came or difference.gone:
            await self._load_all()
            before = Modules(self.old, manifests)
            await self._mark(find_moved_imports(difference.gone, self.old, before, self.modules))
        await self._remove(difference.gone)
        await self._read(difference.suspects)
        related = await self._relate()
        return IngestionReport(
            self.project_id,
            files=len(self.new if self.marks is None else self.marks),
            read=sum(file.outline is not None for file in self.read.values()),
            removed=len(difference.gone),
            scopes=self.scopes,
            related=related,
            skipped=tuple(self.skipped),
            changed=tuple(self.read),
            before=as_found,
            after=self.project,
        )

    async def _unsettle(self) -> None:
        """Change the project's state before the first scope changes.

        A file that was written a moment ago is read again and mostly found as it was: that must
        hide nothing from a question.
        """
        if not self.is_unsettled:
            self.project = await unsettle(self.store.records, self.project)
            self.is_unsettled = True

    async def _load_all(self) -> None:
        """Load the files that were not named: what changed may concern any of them."""
        if self.marks is not None:
            self.marks = None
            found = await self.store.records.find(FILE, FileFilter(self.project_id))
            stored = {file.path: file for file in found}
            self.old = stored | self.old
            self.new = stored | self.new

    async def _mark(self, paths: Iterable[str]) -> None:
        """Mark files whose relations are about to be wrong."""
        marked = {path for path in paths if not is_skipped(self.new[path])}
        if marked:
            await self._unsettle()
            await self._set_parsed(marked)
            self.changed |= dict.fromkeys(marked)

    async def _set_parsed(self, paths: Collection[str]) -> None:
        states = dict.fromkeys(sorted(paths), PARSED)
        await self.store.code.set_files(self.project_id, "state", states)

    async def _remove(self, gone: Sequence[str]) -> None:
        for path in gone:
            del self.new[path]
        if gone:
            await self._unsettle()
            await self.store.code.remove_files(self.project_id, gone)

    async def _read(self, suspects: Sequence[FoundFile]) -> None:
        """Read the suspects and store those that changed."""
        hashes = {path: file.hash for path, file in self.old.items() if file.state != SKIPPED}
        done = 0
        wanted = () if self.wanted is None else self.wanted.take()
        ordered = order_files(suspects, wanted, self.recent)
        async with SourceReader(self.root, self.project_id, len(suspects)) as reader:
            async for batch in reader.read_batches(ordered, hashes):
                await self._store(batch)
                done += len(batch)
                if self.wanted is not None:
                    reader.prefer(self.wanted.take())
                self.on_step(IngestionStep("reading", done, len(suspects), self.scopes))

    async def _store(self, batch: Sequence[ReadFile]) -> None:
        changed: list[ReadFile] = []
        lost: list[str] = []
        times: dict[str, datetime | None] = {}
        for file in batch:
            if file.skipped is not None:
                self.skipped.append(SkippedFile(file.path, file.skipped))
            known = self.old.get(file.path)
            if file.parsed is None:
                if known is not None:
                    lost.append(file.path)
            elif known is None or known.state == SKIPPED or known.hash != file.parsed.file.hash:
                changed.append(file)
            elif known.mtime != file.parsed.file.mtime:
                times[file.path] = file.parsed.file.mtime
        if times:
            await self.store.code.set_files(self.project_id, "mtime", times)
        # A file that loses its names cannot be marked itself, so its dependents are marked.
        nameless = [
            file.path
            for file in changed
            if file.outline is None and (file.path in self.old or is_manifest(file.path))
        ]
        if self.marks is not None:
            nameless = await self._drop_lone(nameless)
        if lost or nameless:
            await self._load_all()
        await self._mark(
            find_dependents([*lost, *nameless], self.new, self.modules).difference(lost)
        )
        await self._remove(lost)
        if self.outlines is not None and len(self.found.difference.suspects) > BATCH_FILES:
            await asyncio.to_thread(self.outlines.add, changed)
        names = find_changed_names(changed, self.old, await self._load_stored(changed))
        self.changed = names | self.changed  # an earlier change without names stays one
        for file in await self._replace(changed):
            assert file.parsed is not None
            self.new[file.path] = file.parsed.file
            self.scopes += len(file.parsed.scopes)
            # Sources are in the store now; relating needs only names and uses.
            self.read[file.path] = replace(file, parsed=None)

    async def _drop_lone(self, paths: Sequence[str]) -> list[str]:
        """Return the files without those that no other can speak of: documents mostly."""
        imported = await self.store.code.importers(self.project_id, paths) if paths else ()
        return [
            path
            for path in paths
            if path in imported or is_manifest(path) or find_family(self.old[path].language)
        ]

    async def _replace(self, changed: Sequence[ReadFile]) -> Sequence[ReadFile]:
        """Store files and return those that the store takes; another one costs only itself."""
        parsed = [file.parsed for file in changed if file.parsed is not None]
        if not parsed:
            return changed
        await self._unsettle()
        try:
            await self.store.code.replace_files(self.project_id, parsed)
        except InputError:
            if len(changed) > 1:
                return [taken for file in changed for taken in await self._replace([file])]
            self.skipped.append(SkippedFile(changed[0].path, "name"))
            return ()
        return changed

    async def _load_stored(self, files: Iterable[ReadFile]) -> Iterable[Scope]:
        """Return the stored scopes of files, before they are replaced."""
        paths = [file.path for file in files if file.path in self.old]
        if not paths:
            return ()
        return await self.store.records.find(SCOPE, ScopeFilter(self.project_id, paths))

    async def _relate(self) -> int:
        """Make the relations of all files that may have wrong ones."""
        wanted = set(self.changed)
        if self.marks is None or not await self._affects_no_others(self.marks):
            await self._load_all()
            files = _drop_skipped(self.new)
            mention = make_mention_search(self.root, self.store.code, self.project_id, files)
            wanted = await find_affected(self.changed, files, self.modules, mention)
        settled = _drop_skipped(self.new)
        wanted = (wanted | self.read.keys()) & settled.keys()
        unmarked = [path for path in wanted if settled[path].state != PARSED]
        if unmarked:
            await self._set_parsed(unmarked)
        stored: dict[str, File | FileMark] = {**(self.marks or {}), **settled}
        read = await self._load_kept(stored) | self.read
        exact = self.found.exact
        relations = None
        if exact is not None and wanted & exact.fresh.keys():
            relations = await asyncio.to_thread(exact.load, self.root)
        graph = ProjectGraph(
            self.root, self.project_id, read, self.modules, settled, stored, relations
        )
        await graph.load_types(self.store.records, wanted)
        paths = sorted(wanted)
        for start in range(0, len(paths), RELATED_TOGETHER):
            some = paths[start : start + RELATED_TOGETHER]
            await self._relate_some(graph, some)
            self.on_step(IngestionStep("relating", min(start + len(some), len(paths)), len(paths)))
        if graph.missed:
            missed = dict.fromkeys(graph.missed)
            await self.store.code.set_files(self.project_id, "mtime", missed)
        if self.outlines is not None and not graph.missed:
            self.outlines.drop()
        return len(paths)

    async def _load_kept(self, stored: Mapping[str, File | FileMark]) -> dict[str, ReadFile]:
        """Return what an interrupted run has parsed and not related."""
        if self.outlines is None or not self.found.difference.half_done:
            return {}
        return await asyncio.to_thread(self.outlines.load, self.project_id, stored)

    async def _affects_no_others(self, marks: Mapping[str, FileMark]) -> bool:
        """Tell whether what changed in the named files can be related without other files."""
        if find_type_families(self.new.values()):
            return False
        mention = make_mention_search(self.root, self.store.code, self.project_id, marks)
        return await is_unmentioned(self.changed, mention)

    async def _relate_some(self, graph: ProjectGraph, paths: Sequence[str]) -> None:
        relations = await asyncio.to_thread(graph.find_relations, paths)
        # The names of a file that changed meanwhile are missing: the next run relates again.
        state = PARSED if graph.missed else RELATED
        try:
            await self.store.code.relate_files(self.project_id, paths, relations, state)
        except NotFound:
            # Something was removed or changed meanwhile. Relate the files one by one; those
            # that fail keep their mark for the next run.
            if len(paths) > 1:
                for path in paths:
                    await self._relate_some(graph, [path])


def _drop_skipped(files: Mapping[str, File]) -> dict[str, File]:
    """Return the files that were parsed."""
    return {path: file for path, file in files.items() if not is_skipped(file)}


def order_files(
    files: Iterable[FoundFile], wanted: Sequence[str] = (), recent: Sequence[str] = ()
) -> list[FoundFile]:
    """Return files in the order in which they are read.

    Those that are wanted come first, then source, other files, documents, tests and what others
    wrote; of each kind those first that changed lately.
    """
    asked = _number(wanted)
    changed = _number(recent)

    def weigh(file: FoundFile) -> tuple[int, int, int, str]:
        path = file.path
        place = asked.get(path, len(asked))
        return place, _weigh(path), changed.get(path, len(changed)), path

    return sorted(files, key=weigh)


def _number(paths: Sequence[str]) -> dict[str, int]:
    return {path: number for number, path in enumerate(dict.fromkeys(paths))}


def _weigh(path: str) -> int:
    if _OF_OTHERS.search(path):
        return 4
    if is_secondary(path):
        return 3
    language = detect_language(path)
    if is_document(language):
        return 2
    return 0 if find_language(language) is not None else 1
