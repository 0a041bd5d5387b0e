"""Call lines: to-do lists, calls and receipts as lines with colours."""

from __future__ import annotations

import json
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.text import Text

from ragforge.show.calls import (
    format_count,
    format_duration,
    format_headline,
    format_outcome,
    get_failed_output,
)
from ragforge.show.console import fit_line, sanitise
from ragforge.show.diffs import format_diff

if TYPE_CHECKING:
    from ragforge.domain.receipts import Receipt
    from ragforge.domain.text import Json
    from ragforge.events import ToolFinished
    from ragforge.show.screen import Screen, Signs

ERROR_CHARS = 1_000
_STATES = {"done": "green", "doing": "bold", "in_progress": "bold"}


def format_last_lines(output: str, limit: int) -> list[Text]:
    """Return the last lines of what a failed command printed."""
    lines = sanitise(output.expandtabs(4)).rstrip("\n").split("\n")
    return [Text(line, style="red") for line in lines[-limit:]]


def format_plan(items: Sequence[Json], signs: Signs) -> list[Text]:
    """Return a plan as a list of what is done, being done and still to do."""
    lines = []
    for item in items:
        state = str(item.get("state", "")) if isinstance(item, dict) else ""
        text = item.get("text", "") if isinstance(item, dict) else item
        mark = {"done": signs.done, "": signs.open}.get(state, signs.open)
        mark = signs.now if state in ("doing", "in_progress") else mark
        style = "dim" if state == "done" else _STATES.get(state, "")
        lines.append(Text(f"{mark} {fit_line(str(text), 200)}", style=style))
    return lines


def format_call(call: ToolFinished, signs: Signs, width: int) -> Text:
    """Return a call on one line: success, subject, outcome and duration.

    An error that does not fit there follows below, with all its words.
    """
    line = Text("  " * call.depth)
    is_good = call.success and get_failed_output(call.result) is None
    mark, style = (signs.done, "green") if is_good else (signs.failed, "red")
    line.append(f"{mark} ", style=style)
    line.append(sanitise(call.name), style="bold")
    gave = format_outcome(call.result) if call.success else _get_error(call)
    tail = [gave] if gave else []
    if call.success:
        tail.append(format_duration(call.duration_ms))
    end = f"  {signs.between.join(tail)}"
    about = format_headline(call.arguments)
    if not call.success and line.cell_len + len(about) + len(end) + 1 > width:
        line.append(f" {fit_line(about, max(10, width - line.cell_len - 1))}")
        indent = "  " * call.depth + "  "
        rows = wrap(gave, max(width - len(indent), 20))
        return line.append("".join(f"\n{indent}{row}" for row in rows), style="red")
    room = max(10, width - line.cell_len - min(len(end), width // 2) - 1)
    if about:
        line.append(f" {fit_line(about, room)}")
    line.append(end, style="dim" if is_good else "red")
    line.truncate(max(width, 20), overflow="ellipsis")
    return line


def _get_error(call: ToolFinished) -> str:
    return fit_line(call.error or "failed", ERROR_CHARS)


def format_full_call(call: ToolFinished, screen: Screen) -> list[Text]:
    """Return a call with all its arguments and its result."""
    lines = [format_call(call, screen.signs, screen.out.width - 1), Text("arguments", style="dim")]
    lines += _format_lines(call.arguments)
    lines.append(Text("result" if call.success else "error", style="dim"))
    result = call.result
    if not call.success:
        return lines + _format_lines(call.error)
    if isinstance(result, dict) and isinstance(result.get("diff"), str):
        rest = {key: value for key, value in result.items() if key != "diff"}
        diff = format_diff(result["diff"], get_changed_path(call), screen.out)
        return [*lines, *_format_lines(rest), *diff]
    return lines + _format_lines(result)


def get_changed_path(call: ToolFinished) -> str:
    """Return the file that a call changed, as its result or its arguments name it."""
    facts = (call.result, call.arguments)
    found = (one.get(key) for one in facts if isinstance(one, dict) for key in ("file", "path"))
    return next((path for path in found if isinstance(path, str)), "")


def format_receipt(receipt: Receipt) -> str:
    """Return what a context is made of, on one line."""
    of = [item.section for item in receipt.items]
    parts = [
        (of.count("code"), "place in the code", "places in the code"),
        (of.count("documents"), "document", "documents"),
        (of.count("notes"), "note", "notes"),
        (of.count("past_turns"), "past turn", "past turns"),
        (of.count("recent_turns"), "recent turn", "recent turns"),
        (sum(section.endswith("summaries") for section in of), "summary", "summaries"),
    ]
    text = [format_count(*part) for part in parts if part[0]]
    text.append(f"{receipt.chars:,} chars")
    text += [f"{search.name} {search.state}" for search in receipt.degraded]
    return f"context: {', '.join(text)}"


def _format_lines(value: Json) -> list[Text]:
    """Return a value to read: a text as it is, anything else with its names."""
    if isinstance(value, dict) and value:
        lines = []
        for name, inner in value.items():
            text = _format_value(inner)
            if "\n" in text:
                lines.append(Text(f"  {name}:"))
                lines += [Text(f"    {line}") for line in text.split("\n")]
            else:
                lines.append(Text(f"  {name}: {text}"))
        return lines
    return [Text(f"  {line}") for line in _format_value(value).split("\n")]


def _format_value(value: Json) -> str:
    if isinstance(value, str):
        return sanitise(value.expandtabs(4)).rstrip("\n")
    return sanitise(json.dumps(value, ensure_ascii=False, indent=2))
