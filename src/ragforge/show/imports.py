"""Imports of other agents' sessions, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from ragforge.show.console import Fields, fit_line, print_note, print_table

if TYPE_CHECKING:
    from ragforge.app.features.imports import ImportReport

WIDEST = 200
MAX_PROBLEMS = 20


def show_import(
    report: ImportReport, names: Mapping[str, str], only_look: bool, again: bool = False
) -> None:
    """Show what was imported from each agent, and what was left out and why."""
    if not report.agents:
        found = "No transcripts of other agents were found."
        print_note("The files of all kept transcripts still exist, unchanged." if again else found)
        return
    columns = ["Agent", "Files", "New", "Sessions", "Turns", "Tool calls", "MB read"]
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
        if one.elsewhere:
            print_note(
                f"{name}: another process imported {one.elsewhere:,} of these files, or parts of "
                "them, at the same time. They are stored, but not counted here."
            )
    left_out = sum(one.skipped.total() for one in report.agents.values())
    lines = (f"{one.path}:{one.number} was left out: {one.reason}" for one in report.lines)
    _list_some(lines, left_out, "lines")
    without_turns = (f"{one.path} has no turns: {one.reason}" for one in report.empty)
    _list_some(without_turns, len(report.empty), "files")
    not_read = (f"{one.path} was not read: {one.reason}" for one in report.problems)
    _list_some(not_read, len(report.problems), "files")
    if only_look:
        print_note("Nothing was stored.")


_AGENT = Fields(
    "files files_read=read files_elsewhere=elsewhere sessions turns messages tool_calls=calls"
    " bytes=size lines unknown skipped"
)
_PROBLEM = Fields("agent path reason")
_LISTS = Fields(
    "skipped_lines=lines empty problems",
    skipped_lines=Fields("agent path line=number reason"),
    empty=_PROBLEM,
    problems=_PROBLEM,
)


def import_to_json(report: ImportReport) -> dict[str, object]:
    return {"agents": {agent: _AGENT(one) for agent, one in report.agents.items()}} | _LISTS(report)


def _list_some(sentences: Iterable[str], count: int, what: str) -> None:
    """Print the first sentences of many, and how many others there are."""
    for sentence in islice(sentences, MAX_PROBLEMS):
        print_note(fit_line(sentence, WIDEST))
    if (more := count - MAX_PROBLEMS) > 0:
        print_note(f"… and {more:,} other {what}.")


def _list_counts(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{fit_line(name, 60)} ({number:,})" for name, number in counts)
