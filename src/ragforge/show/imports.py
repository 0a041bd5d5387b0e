"""Imports of other agents' sessions, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ragforge.show.console import fit_line, print_note, print_table

if TYPE_CHECKING:
    from ragforge.app.imports import ImportReport

WIDEST = 200
MOST_PROBLEMS = 20


def show_import(report: ImportReport, names: Mapping[str, str], only_look: bool) -> None:
    """Show what was taken in of each agent, and what was left out and why."""
    if not report.agents:
        print_note("No transcripts of other agents were found.")
        return
    columns = ["Agent", "Files", "With news", "Sessions", "Turns", "Tool calls", "MB read"]
    rows = [
        [
            names.get(agent, agent),
            *(f"{one.files:,}", f"{one.read:,}", f"{one.sessions:,}", f"{one.turns:,}"),
            *(f"{one.calls:,}", f"{one.size / 1e6:,.1f}"),
        ]
        for agent, one in report.agents.items()
    ]
    print_table(columns, rows)
    for agent, one in report.agents.items():
        name = names.get(agent, agent)
        for what, counts in (("unknown kinds", one.unknown), ("lines left out", one.skipped)):
            if counts:
                print_note(f"{name}, {what}: {_list_counts(counts.most_common())}.")
    for problem in report.problems[:MOST_PROBLEMS]:
        print_note(fit_line(f"{problem.path} was not read: {problem.reason}", WIDEST))
    if (more := len(report.problems) - MOST_PROBLEMS) > 0:
        print_note(f"… and {more:,} other files.")
    if only_look:
        print_note("Nothing was stored.")


def import_to_json(report: ImportReport) -> dict[str, object]:
    return {
        "agents": {
            agent: {
                "files": one.files,
                "files_read": one.read,
                "sessions": one.sessions,
                "turns": one.turns,
                "messages": one.messages,
                "tool_calls": one.calls,
                "bytes": one.size,
                "lines": one.lines,
                "unknown": dict(one.unknown),
                "skipped": dict(one.skipped),
            }
            for agent, one in report.agents.items()
        },
        "problems": [
            {"agent": one.agent, "path": str(one.path), "reason": one.reason}
            for one in report.problems
        ],
    }


def _list_counts(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{fit_line(name, 60)} ({number:,})" for name, number in counts)
