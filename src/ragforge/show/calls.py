"""Calls: the arguments and the outcome of a tool call, in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ragforge.domain.text import Json, to_text
from ragforge.show.console import fit_line

SHORT = 200
_TELLING = (
    "command",
    "regex",
    "query",
    "question",
    "task",
    "message",
    "file",
    "path",
    "file_path",
    "pattern",
    "name",
    "url",
)
"""Arguments that say most about a call, the best first."""
_PATHS = ("file", "path", "file_path")
_PLACES = (*_PATHS, "pattern", "cwd")
_COUNTED = {
    "matches": ("match", "matches"),
    "hits": ("hit", "hits"),
    "code": ("place", "places"),
    "files": ("file", "files"),
    "entries": ("entry", "entries"),
    "results": ("result", "results"),
    "commits": ("commit", "commits"),
}
_TOTALS = {"matches": "total_matches", "files": "total_files"}

Facts: TypeAlias = Mapping[str, Json]


def format_headline(arguments: Json) -> str:
    """Return the argument that says what a call is about, and where."""
    if not isinstance(arguments, dict):
        return fit_line(to_text(arguments), SHORT)
    given = {key: value for key, value in arguments.items() if value not in (None, "", [], {})}
    key = next((key for key in _TELLING if isinstance(given.get(key), str)), None)
    if key is None:
        scalars = (str(value) for value in given.values() if isinstance(value, str | int | float))
        return fit_line(", ".join(scalars), SHORT)
    text = fit_line(given[key], SHORT)
    where = next((given[p] for p in _PLACES if p != key and isinstance(given.get(p), str)), None)
    return text if where is None or key in _PATHS else f"{text} in {fit_line(where, 80)}"


def format_outcome(result: Json) -> str:
    """Return what came out of a call that went well."""
    if isinstance(result, list):
        return format_count(len(result), "result", "results")
    if isinstance(result, str):
        return format_count(len(result.splitlines()), "line", "lines")
    if not isinstance(result, dict):
        return "" if result is None else fit_line(to_text(result), 40)
    if diffs := find_diffs(result):
        return count_changes("\n".join(diffs))
    if isinstance(result.get("items"), list):
        return _count_done(result["items"])
    if "exit_code" in result:
        return "timed out" if result.get("timed_out") else f"exit {result['exit_code']}"
    for key, (one, many) in _COUNTED.items():
        if isinstance(result.get(key), list):
            total = result.get(_TOTALS.get(key, ""), len(result[key]))
            more = "+" if result.get("truncated") else ""
            return format_count(total, one, many, more)
    return _count_lines(result)


def get_failed_output(result: Json) -> str | None:
    """Return what a command printed that failed; None if it did not, or is none.

    One that prints nothing and ends with 1 has found nothing.
    """
    if not isinstance(result, dict) or "exit_code" not in result:
        return None
    code = result["exit_code"]
    texts = [result.get(name) for name in ("stdout", "output", "stderr")]
    printed = "\n".join(
        text.strip("\n") for text in texts if isinstance(text, str) and text.strip()
    )
    if code in (0, None) and not result.get("timed_out"):
        return None
    return None if code == 1 and not printed else printed


def find_diffs(result: Json) -> list[str]:
    """Return the diffs in the result of an edit: its own, or those of the files it changed."""
    if not isinstance(result, dict):
        return []
    changes = result.get("changes")
    parts = [result, *(changes if isinstance(changes, list) else ())]
    return [
        one["diff"] for one in parts if isinstance(one, dict) and isinstance(one.get("diff"), str)
    ]


def count_changes(diff: str) -> str:
    """Return how many lines a diff adds and takes away."""
    lines = diff.splitlines()
    added = sum(line.startswith("+") and not line.startswith("+++") for line in lines)
    gone = sum(line.startswith("-") and not line.startswith("---") for line in lines)
    return f"+{added} −{gone}"


def format_duration(milliseconds: float) -> str:
    """Return a time as people say it."""
    if milliseconds < 1000:
        return f"{round(milliseconds)} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min {int(seconds % 60)} s"


def format_count(number: int, one: str, many: str, more: str = "") -> str:
    return f"{number:,}{more} {one if number == 1 else many}"


def _count_lines(result: Facts) -> str:
    first, last = result.get("startLine"), result.get("endLine")
    if isinstance(first, int) and isinstance(last, int):
        return format_count(max(0, last - first + 1), "line", "lines")
    for key in ("content", "text", "output", "answer", "stdout"):
        if isinstance(result.get(key), str):
            return format_count(len(result[key].splitlines()), "line", "lines")
    return ""


def _count_done(items: list[Json]) -> str:
    done = sum(isinstance(item, dict) and item.get("state") == "done" for item in items)
    return f"{done} of {len(items)} done"
