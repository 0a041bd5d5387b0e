"""Initial context: up to three searches of the files, chosen for a message, run at once."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ragforge.context.excerpts import Location
from ragforge.context.planner import BY_RULES, PlannedSearch, Planner, join_reasons
from ragforge.domain.code import File
from ragforge.domain.receipts import SearchReport
from ragforge.domain.text import Json, shorten, to_one_line, to_text
from ragforge.errors import StoreError
from ragforge.llm.calls import Tool
from ragforge.records import dataclass
from ragforge.tools.command.output import find_locations

log = logging.getLogger(__name__)

GREP = (0.9, 0.8)
COMMAND = (0.85, 0.75)
FILE_NAME = (0.7, 0.6)
FUZZY_CONFIDENCE = 0.6
SHOWN_CHARS = 80
NOTHING = "nothing in it calls for a search of the files"


MAX_CHARS = 1_500
PLACE_CHARS = 300
"""The room for the root and the working directory."""
KEPT_SECONDS = 60.0
"""How long the overview is cached: a project hardly changes between two questions."""
DEPTH = 3
MAX_LANGUAGES = 8


@dataclass(frozen=True, slots=True)
class InitialContext:
    """Searches the files for what a message mentions, each search within its time."""

    planner: Planner
    load_tools: Callable[[], Mapping[str, Tool]]  # by their names; when one is needed
    root: Path
    seconds: float
    known: Callable[[Sequence[str]], Awaitable[Collection[str]]]  # which words occur in code
    surroundings: Surroundings | None = None  # None: those of the root, from its listing

    def __post_init__(self) -> None:
        if self.surroundings is None:
            object.__setattr__(self, "surroundings", Surroundings(self.root))

    async def search(
        self, message: str, cwd: Path | None = None
    ) -> tuple[list[Location], list[SearchReport]]:
        """Return the lines that were found, and a report of each search."""
        begun = time.monotonic()
        about = ""
        if self.planner.executor is not None and self.surroundings is not None:
            about = await self.surroundings.describe(cwd)
        plan = await self.planner.plan(message, about)
        if plan.made_by == BY_RULES:
            plan = replace(plan, calls=tuple(await self._drop_needless(plan.calls)))
        chosen = SearchReport(
            f"plan by {plan.instead_of or plan.made_by}",
            "failed" if plan.instead_of else "ok",
            _measure_ms(begun),
            len(plan.calls),
            plan.problem,
            plan.reasoning or join_reasons(plan.calls) or NOTHING,
        )
        tools = self.load_tools() if plan.calls else {}
        results = await asyncio.gather(*(self._run(call, tools) for call in plan.calls))
        locations = [location for found, _ in results for location in found]
        return locations, [chosen, *(search for _, search in results)]

    async def _drop_needless(self, calls: Iterable[PlannedSearch]) -> list[PlannedSearch]:
        """Return the searches without fuzzy ones for words that occur in the code.

        Such words are not misspelt. The rules cannot know that; the index of words can.
        """
        worth: list[PlannedSearch] = []
        for call in calls:
            if call.tool != "search_files":
                worth.append(call)
                continue
            words = str(call.arguments["query"]).split()
            known = await self.known(words)
            if unknown := [word for word in words if word not in known]:
                query = " ".join(unknown)
                arguments = {**call.arguments, "query": query}
                worth.append(replace(call, arguments=arguments, why=f"has the words {query}"))
        return worth

    async def _run(
        self, call: PlannedSearch, tools: Mapping[str, Tool]
    ) -> tuple[list[Location], SearchReport]:
        begun = time.monotonic()
        given = call.arguments.get("command") or call.arguments.get("regex")
        shown = given or call.arguments.get("query") or ""
        name = f"{call.tool} {shorten(to_text(shown), SHOWN_CHARS)}"
        try:
            async with asyncio.timeout(self.seconds):
                result = await tools[call.tool].run(call.arguments)
        except TimeoutError:
            log.warning("Search %s took longer than %g s", call.tool, self.seconds)
            return [], SearchReport(name, "late", _measure_ms(begun), 0, f"over {self.seconds:g} s")
        except Exception as error:  # the other searches still count
            log.warning("Search %s failed", call.tool, exc_info=True)
            return [], SearchReport(name, "failed", _measure_ms(begun), 0, str(error))
        if result.get("refused"):
            return [], SearchReport(name, "skipped", _measure_ms(begun), 0, result["refused"])
        locations = list(self._read_locations(call, result))
        problem = "the time was up before all files were searched" if _was_cut(result) else ""
        return locations, SearchReport(name, "ok", _measure_ms(begun), len(locations), problem)

    def _read_locations(self, call: PlannedSearch, result: Json) -> Iterable[Location]:
        """Yield the lines that the result of a search lists."""
        if call.tool == "run_command":
            cwd = os.path.relpath(self.root / str(call.arguments.get("cwd") or ""), self.root)
            for place in find_locations(
                result.get("stdout") or "",
                lambda path: (self.root / path).is_file(),
                cwd,
                str(self.root),
            ):
                score, confidence = FILE_NAME if place.line is None else COMMAND
                yield Location(place.path, place.line or 1, score, confidence, "command")
            return
        for match in result.get("matches", ()):
            line = match.get("line") or 1
            if call.tool == "grep_files":
                yield Location(match["file"], line, *GREP, "grep")
            else:
                yield Location(match["file"], line, match["similarity"], FUZZY_CONFIDENCE, "fuzzy")


def _was_cut(result: Json) -> bool:
    return bool(result.get("timed_out"))


def _measure_ms(begun: float) -> int:
    return round(1_000 * (time.monotonic() - begun))


@dataclass(slots=True)
class Surroundings:
    """Describes the project at a root, by the store's files or by a directory listing."""

    root: Path
    files: Callable[[], Awaitable[Sequence[File]]] | None = None  # of the store
    _tree: str = ""
    _until: float = 0.0

    async def describe(self, cwd: Path | None = None) -> str:
        """Return the root, the working directory, the languages and the top of the tree."""
        if time.monotonic() >= self._until:
            self._tree = await asyncio.to_thread(_describe_tree, self.root, await self._read())
            self._until = time.monotonic() + KEPT_SECONDS
        head = (
            f"root: {to_one_line(str(self.root))}\nworking directory: {_format_cwd(self.root, cwd)}"
        )
        return f"{head}\n{self._tree}"[:MAX_CHARS]

    async def _read(self) -> Sequence[File]:
        try:
            return () if self.files is None else await self.files()
        except StoreError:
            return ()  # the directory can still be listed


def _describe_tree(root: Path, files: Sequence[File]) -> str:
    """Return the languages and the top of the tree."""
    counts = Counter(file.language for file in files if file.language and file.kind == "code")
    languages = [f"{name} ({many})" for name, many in counts.most_common(MAX_LANGUAGES)]
    first_line = f"languages: {', '.join(languages)}\n" if languages else ""
    head = f"{first_line}top of the tree, with the number of files:\n"
    paths = [file.path for file in files] or _list_entries(root)
    return head + list_top_of_tree(paths, MAX_CHARS - PLACE_CHARS - len(head))


def list_top_of_tree(paths: Iterable[str], max_chars: int) -> str:
    """Return the folders with their numbers of files, and the files of the root, by path.

    A path that ends with `/` is a folder whose files are not known. If there is no room for all,
    outer folders come before inner ones and large ones before small ones.
    """
    counts: Counter[str] = Counter()
    for path in paths:
        *folders, name = path.split("/")
        above = ["/".join(folders[:depth]) + "/" for depth in range(1, len(folders) + 1)]
        counts.update(above if name else dict.fromkeys(above, 0))
        if not folders:
            counts[name] = 0

    def outer_first(entry: str) -> tuple[int, int, str]:
        return entry.count("/") if entry.endswith("/") else DEPTH + 1, -counts[entry], entry

    kept: list[str] = []
    for entry in sorted(counts, key=outer_first):
        name = to_one_line(entry)
        line = f"{name} {counts[entry]}" if counts[entry] else name
        if entry.count("/") <= DEPTH and max_chars > len(line):
            kept.append(line)
            max_chars -= len(line) + 1
    return "\n".join(sorted(kept))


def _format_cwd(root: Path, cwd: Path | None) -> str:
    try:
        return to_one_line((cwd or root).relative_to(root).as_posix()) + "/"
    except ValueError:
        return to_one_line(str(cwd))


def _list_entries(root: Path) -> list[str]:
    """Return the entries of a directory that are not hidden; folders end with `/`."""
    try:
        with os.scandir(root) as found:
            shown = [entry for entry in found if not entry.name.startswith(".")]
            return [f"{entry.name}/" if entry.is_dir() else entry.name for entry in shown]
    except OSError:
        return []
