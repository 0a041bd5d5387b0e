"""Pieces: diffs, to-do lists and calls as lines with colours."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.text import Text

from ragforge.domain.receipts import Receipt
from ragforge.domain.text import Json
from ragforge.events import ToolFinished
from ragforge.show.calls import counted, duration, headline, outcome
from ragforge.show.console import one_line, printable
from ragforge.show.screen import Signs

_DIFF_STYLES = {"+++": "bold", "---": "bold", "@@": "cyan", "+": "green", "-": "red"}
_STATES = {"done": "green", "doing": "bold", "in_progress": "bold"}


def diff_lines(diff: str) -> list[Text]:
    """Return a diff with its colours."""
    lines = printable(diff.expandtabs(4)).rstrip("\n").split("\n")
    return [Text(line, style=_style_of(line)) for line in lines]


def plan_lines(items: Sequence[Json], signs: Signs) -> list[Text]:
    """Return a plan as a list of what is done, being done and still to do."""
    lines = []
    for item in items:
        state = str(item.get("state", "")) if isinstance(item, dict) else ""
        text = item.get("text", "") if isinstance(item, dict) else item
        mark = {"done": signs.done, "": signs.open}.get(state, signs.open)
        mark = signs.now if state in ("doing", "in_progress") else mark
        style = "dim" if state == "done" else _STATES.get(state, "")
        lines.append(Text(f"{mark} {one_line(str(text), 200)}", style=style))
    return lines


def call_line(call: ToolFinished, signs: Signs, width: int) -> Text:
    """Return a call on one line: how it went, what it was about, what it gave, how long it took."""
    line = Text("  " * call.depth)
    mark, style = (signs.done, "green") if call.success else (signs.failed, "red")
    line.append(f"{mark} ", style=style)
    line.append(printable(call.name), style="bold")
    gave = outcome(call.result) if call.success else one_line(call.error or "failed", 200)
    tail = [gave] if gave else []
    if call.success:
        tail.append(duration(call.duration_ms))
    told = f"  {f' {signs.dot} '.join(tail)}"
    about = headline(call.arguments)
    room = max(10, width - line.cell_len - min(len(told), width // 2) - 1)
    if about:
        line.append(f" {one_line(about, room)}")
    line.append(told, style="dim" if call.success else "red")
    line.truncate(max(width, 20), overflow="ellipsis")
    return line


def call_whole(call: ToolFinished, signs: Signs, width: int) -> list[Text]:
    """Return all that is known of a call."""
    lines = [call_line(call, signs, width), Text("arguments", style="dim")]
    lines += _as_lines(call.arguments)
    lines.append(Text("result" if call.success else "error", style="dim"))
    result = call.result
    if not call.success:
        return lines + _as_lines(call.error)
    if isinstance(result, dict) and isinstance(result.get("diff"), str):
        rest = {key: value for key, value in result.items() if key != "diff"}
        return [*lines, *_as_lines(rest), *diff_lines(result["diff"])]
    return lines + _as_lines(result)


def receipt_line(receipt: Receipt) -> str:
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
    told = [counted(*part) for part in parts if part[0]]
    told.append(f"{receipt.chars:,} chars")
    told += [f"{search.name} {search.state}" for search in receipt.degraded]
    return f"context: {', '.join(told)}"


def _style_of(line: str) -> str:
    return next((style for lead, style in _DIFF_STYLES.items() if line.startswith(lead)), "")


def _as_lines(value: Json) -> list[Text]:
    """Return a value to read: a text as it is, anything else with its names."""
    if isinstance(value, dict) and value:
        lines = []
        for name, inner in value.items():
            told = _as_text(inner)
            if "\n" in told:
                lines.append(Text(f"  {name}:"))
                lines += [Text(f"    {line}") for line in told.split("\n")]
            else:
                lines.append(Text(f"  {name}: {told}"))
        return lines
    return [Text(f"  {line}") for line in _as_text(value).split("\n")]


def _as_text(value: Json) -> str:
    if isinstance(value, str):
        return printable(value.expandtabs(4)).rstrip("\n")
    return printable(json.dumps(value, ensure_ascii=False, indent=2))
