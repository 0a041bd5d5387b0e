"""What happened since a moment, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from ragforge.show.console import Fields, fit_line, open_console, print_note
from ragforge.show.notes import name_source, rule_to_json
from ragforge.show.sessions import name_other, shorten_id

if TYPE_CHECKING:
    from ragforge.app.features.overview import Today, TodaySession

WIDEST = 120
MAX_FILES = 12
DEEPER = "  "
"""Begins lines that say more about the line above."""


today_to_json = Fields(
    "since sessions commits decisions uncommitted to_review",
    sessions=Fields(
        "conversation_id=conversation.uuid title=conversation.title agent=conversation.agent"
        " author=conversation.author project_path=conversation.project_path"
        " git_branch=conversation.git_branch questions answer edited is_open"
    ),
    commits=Fields("id when author subject"),
    decisions=rule_to_json,
)


def show_today(report: Today, viewer: str | None, everywhere: bool) -> None:
    """Show what was done, what was decided and what is open, each under a heading."""
    if report.is_empty:
        hint = "" if everywhere else " Try --all."
        print_note(f"Nothing happened since {report.since.astimezone():%Y-%m-%d %H:%M}.{hint}")
        return
    out = open_console()
    for heading, lines in (
        ("Done", [line for one in report.sessions for line in _tell(one, viewer, everywhere)]),
        ("Commits", [f"{one.id}  {one.subject} ({one.author})" for one in report.commits]),
        ("Decided", [f"{one.text} ({name_source(one)})" for one in report.decisions]),
        ("Open", list(_list_open(report, viewer, everywhere))),
    ):
        if lines:
            out.print(heading, style="bold")
        for line in lines:
            depth = "    " if line.startswith(DEEPER) else "  "
            out.print(f"{depth}{fit_line(line.removeprefix(DEEPER), WIDEST)}")


def _tell(one: TodaySession, viewer: str | None, everywhere: bool) -> Iterator[str]:
    """Yield a session in up to three lines: what it is, its last answer, what it edited."""
    yield _name(one, viewer, everywhere)
    if one.answer:
        yield f"{DEEPER}{fit_line(one.answer, WIDEST)}"
    if one.edited:
        yield f"{DEEPER}Edited: {_list_files(one.edited)}"


def _list_open(report: Today, viewer: str | None, everywhere: bool) -> Iterator[str]:
    """Yield questions without an answer, edits that are not committed, and what to review."""
    for one in report.open_sessions:
        yield f"Not answered: {_name(one, viewer, everywhere)}"
    if report.uncommitted:
        yield f"Not committed: {_list_files(report.uncommitted)}"
    if report.to_review:
        what = "1 pair" if report.to_review == 1 else f"{report.to_review} pairs"
        yield f"Notes that may contradict an older one: {what}. Run: ragforge memory review"


def _name(one: TodaySession, viewer: str | None, everywhere: bool) -> str:
    """Return a session on one line: id, agent, author, project, title, number of questions."""
    talk = one.conversation
    count = len(one.questions)
    parts = [
        shorten_id(talk.uuid),
        talk.agent,
        name_other(talk.author, viewer),
        PurePath(talk.project_path).name if everywhere else "",
        fit_line(talk.title or "(no title)", WIDEST),
        "1 question" if count == 1 else f"{count} questions",
    ]
    return ", ".join(part for part in parts if part)


def _list_files(files: Sequence[str]) -> str:
    more = f" and {len(files) - MAX_FILES} more" if len(files) > MAX_FILES else ""
    return ", ".join(files[:MAX_FILES]) + more
