"""Traces: which lines of which files a tool call edited, read or found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from ragforge.domain.code import FOUND, TouchKind
from ragforge.domain.conversations import ToolCall
from ragforge.domain.text import Json
from ragforge.patterns import compile_on_use
from ragforge.records import dataclass

MAX_TRACES = 200
"""The most traces of one call."""
TOOLS: Mapping[str, TouchKind] = {
    **dict.fromkeys(("edit_file", "write_file"), "edited"),
    **dict.fromkeys(("Edit", "MultiEdit", "Write", "NotebookEdit"), "edited"),
    **dict.fromkeys(("apply_patch", "edit", "write", "replace", "str_replace"), "edited"),
    **dict.fromkeys(("read_file", "Read", "read", "view"), "read"),
}
"""What tools do with code, RagForge's own and those of other agents; other tools find it."""
HARMLESS = frozenset(
    (
        *("read_file", "grep_files", "glob_files", "list_files", "search_files", "search_code"),
        *("explore_code", "search_memory", "read_memory", "sessions_about", "remember", "plan"),
        *("git_diff", "git_log", "git_status", "batch_analyze", "fetch_url", "web_search"),
    )
)
"""Tools of ours that change no file."""
_OUTPUT_LINE = compile_on_use(r"^(?:\./)?([^\s:]+):(\d+):", re.MULTILINE)
_PLACE = compile_on_use(r"([^\s:]+):(\d+)-(\d+) .+")


_HEAD = compile_on_use(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Trace:
    """Lines of a file in the arguments or the result of a tool call."""

    how: TouchKind
    file: str
    first: int = 1
    last: int | None = None  # None: to the end of the file


@dataclass(frozen=True, slots=True)
class Edit:
    """The changes of an edit to a file, and the hash of the file after it."""

    file: str
    hunks: tuple[Hunk, ...]
    after_hash: str | None


def read_edits(call: ToolCall) -> list[Edit]:
    """Return the edits of a call, as far as its result tells.

    Calls of other agents may change several files without telling the lines: they have no hunks.
    """
    result = None if call.result is None else call.result.result
    if not isinstance(result, dict):
        return []
    changes = result.get("changes")  # these were made, also if a command failed after them
    if isinstance(changes, list):
        made = [_make_edit(change) for change in changes if isinstance(change, dict)]
        # Lines count only in the file that the edit left: without its hash they may be others now.
        return [
            edit if edit.after_hash else replace(edit, hunks=())
            for edit in made
            if edit is not None
        ]
    is_edit = TOOLS.get(call.tool_name) == "edited" and _get_result(call) is not None
    edit = _make_edit(result) if is_edit else None
    return [edit] if edit is not None and edit.hunks else []


def _make_edit(change: Mapping[str, Json]) -> Edit | None:
    file, diff, after = (change.get(name) for name in ("file", "diff", "after_hash"))
    if not isinstance(file, str):
        return None
    hunks = tuple(read_diff(diff)) if isinstance(diff, str) else ()
    return Edit(file, hunks, after if isinstance(after, str) else None)


def list_edited(calls: Iterable[ToolCall]) -> list[str]:
    """Return the files that the calls of a turn edited; none if there may be others."""
    files: dict[str, None] = {}
    for call in calls:
        result = _get_result(call)
        file = result.get("file") if isinstance(result, dict) else None
        is_edit = TOOLS.get(call.tool_name) == "edited"
        if is_edit and isinstance(file, str):
            files[file] = None
        elif call.tool_name not in HARMLESS and not (is_edit and not call.success):
            return []
    return list(files)


def read_traces(call: ToolCall) -> list[Trace]:
    """Return the traces of a successful call; for the lines of an edit, see `read_edits`."""
    result = _get_result(call)
    if result is None:
        return []
    how = TOOLS.get(call.tool_name, FOUND)
    found = list(islice(_find_traces(how, result), MAX_TRACES))
    if not found and how != FOUND:  # the result may be cut, the arguments are not
        found = list(islice(_read_arguments(how, call.arguments), 1))
    return found


def _get_result(call: ToolCall) -> Json:
    """Return the result of a call; None if it failed or was interrupted."""
    if not call.success or call.result is None or not call.result.success:
        return None
    return call.result.result


def _find_traces(how: TouchKind, value: Json) -> Iterator[Trace]:
    for item in _walk_objects(value):
        if (file := _get_file(item)) is not None and (first := _get_first(item)) is not None:
            yield Trace(how, file, first, _get_last(item) or first)
        if how == FOUND:
            yield from _find_in_text(item)


def _find_in_text(item: Mapping[str, Json]) -> Iterator[Trace]:
    """Yield places in the output of a command or of explore_code."""
    if isinstance(output := item.get("stdout"), str):
        for hit in _OUTPUT_LINE.finditer(output):
            yield Trace(FOUND, hit[1], int(hit[2]), int(hit[2]))
    if isinstance(place := item.get("place"), str) and (one := _PLACE.fullmatch(place)):
        yield Trace(FOUND, one[1], int(one[2]), int(one[3]))


def _read_arguments(how: TouchKind, arguments: Json) -> Iterator[Trace]:
    for item in _walk_objects(arguments):
        if (file := _get_file(item)) is None:
            continue
        first, last = _get_first(item), _get_last(item)
        if how == "edited" and last is None:
            last = first
        yield Trace(how, file, first or 1, last)


def _get_file(item: Mapping[str, Json]) -> str | None:
    file = item.get("file") or item.get("path") or item.get("file_path")
    return file if isinstance(file, str) else None


def _get_first(item: Mapping[str, Json]) -> int | None:
    return _get_line(item, "line", "start_line", "startLine")


def _get_last(item: Mapping[str, Json]) -> int | None:
    return _get_line(item, "line", "end_line", "endLine")


def _get_line(item: Mapping[str, Json], *names: str) -> int | None:
    found = (item[name] for name in names if isinstance(item.get(name), int))
    return next((max(1, line) for line in found), None)


def _walk_objects(value: Json) -> Iterator[dict[str, Json]]:
    """Yield every object in a JSON value."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            yield item
            waiting.extend(reversed(item.values()))
        elif isinstance(item, list | tuple):
            waiting.extend(reversed(item))


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk of a unified diff."""

    old_start: int  # its first line before and after; lines count from 1
    new_start: int
    signs: str  # of each of its lines: " ", "-" or "+"

    @property
    def old_end(self) -> int:
        """The first line after the hunk, before the edit."""
        return self.old_start + len(self.signs) - self.signs.count("+")

    @property
    def growth(self) -> int:
        """How many lines the edit added."""
        return self.signs.count("+") - self.signs.count("-")


def read_diff(diff: str) -> list[Hunk]:
    """Return the hunks of a unified diff; other lines are skipped."""
    hunks: list[Hunk] = []
    head: tuple[int, int] | None = None
    signs: list[str] = []
    for line in [*diff.split("\n"), "@@"]:
        found = _HEAD.match(line)
        if head is not None and (found or line[:1] not in (" ", "-", "+")):
            hunks.append(Hunk(*head, "".join(signs)))
            head, signs = None, []
        if found:
            old, old_count, new, new_count = found.groups()
            # An empty side has the number of the line before it.
            head = int(old) + (old_count == "0"), int(new) + (new_count == "0")
        elif head is not None:
            signs.append(line[0])
    return hunks


def list_changed_lines(hunks: Iterable[Hunk]) -> list[int]:
    """Return the new file's lines that were written, and those before removed lines."""
    found: dict[int, None] = {}
    for hunk in hunks:
        line = hunk.new_start
        for sign in hunk.signs:
            if sign == "-":
                found[max(1, line - 1)] = None
            else:
                if sign == "+":
                    found[line] = None
                line += 1
    return list(found)


def follow_line(line: int, hunks: Sequence[Hunk]) -> int:
    """Return the number in the new file of a line of the old file, or of what replaced it."""
    moved = line
    for hunk in hunks:
        if line >= hunk.old_end:
            moved += hunk.growth
        elif line >= hunk.old_start:
            return _follow_inside(line, hunk)
    return moved


def _follow_inside(line: int, hunk: Hunk) -> int:
    old, new = hunk.old_start, hunk.new_start
    for sign in hunk.signs:
        if sign == "+":
            new += 1
            continue
        if old == line:
            break
        old += 1
        new += sign == " "
    return max(1, new)
