"""`ragforge memory summaries` and `trim`: see what was condensed, and throw old summaries away."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli import dates
from ragforge.cli.state import JsonOption, current_directory, load

if TYPE_CHECKING:
    from ragforge.config import Settings
    from ragforge.domain.summaries import Level, Summary

EXAMPLES = """\b
Examples:
  ragforge memory summaries
  ragforge memory summaries --level 2 --since 7d --all
  ragforge memory summaries --json
"""
TRIM_EXAMPLES = """\b
Examples:
  ragforge memory trim --before 90d
  ragforge memory trim --before 2026-01-31 --level 2 --yes

What the summaries covered stays, and is summarised again when it is due.
"""

LevelOption = Annotated[
    int | None, typer.Option("--level", min=1, max=2, help="1: of turns; 2: of summaries.")
]
AllOption = Annotated[bool, typer.Option("--all", help="Of all projects, not only this one.")]


def summaries(
    context: typer.Context,
    level: LevelOption = None,
    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="Made since then: 2026-01-31 or 7d.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="DATE", help="Made until then.")] = None,
    everywhere: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the summaries of this project's conversations."""
    import asyncio

    from ragforge.tui.console import print_json
    from ragforge.tui.remembered import show_summaries

    settings = load(context).settings
    found = asyncio.run(
        _find(
            settings, _level(level), dates.since(since), dates.until(until), everywhere=everywhere
        )
    )
    if as_json:
        print_json({"summaries": [_as_json(summary) for summary in found]})
    else:
        show_summaries(found)


def trim(
    context: typer.Context,
    before: Annotated[
        str, typer.Option(metavar="DATE", help="Those made before then: 2026-01-31 or 90d.")
    ],
    level: LevelOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Delete old summaries of all projects; their turns stay and may be summarised again."""
    import asyncio

    from ragforge.tui.console import print_json, print_note

    limit = dates.before(before)
    if not yes:
        confirm(f"Delete all summaries made before {limit:%Y-%m-%d %H:%M}?")
    gone = asyncio.run(_trim(load(context).settings, limit, _level(level)))
    if as_json:
        print_json({"deleted": gone})
    else:
        print_note(f"{gone:,} summaries deleted." if gone != 1 else "One summary deleted.")


def confirm(question: str) -> None:
    """Go on only if the user says yes. Raises BadParameter if there is nobody to ask."""
    if not sys.stdin.isatty():
        raise typer.BadParameter("nobody can be asked here: add --yes", param_hint="--yes")
    typer.confirm(question, abort=True)


def _level(level: int | None) -> Level | None:
    return 1 if level == 1 else 2 if level == 2 else None


async def _find(
    settings: Settings,
    level: Level | None,
    since: datetime | None,
    until: datetime | None,
    *,
    everywhere: bool,
) -> list[Summary]:
    from ragforge.app import open_app
    from ragforge.domain.summaries import SummaryFilter

    async with open_app(settings, current_directory()) as app:
        project = None if everywhere else str(app.project_path)
        where = SummaryFilter(project_path=project, level=level, since=since, until=until)
        return await app.store.summaries.find(where)


async def _trim(settings: Settings, before: datetime, level: Level | None) -> int:
    from ragforge.app import open_app

    async with open_app(settings, current_directory()) as app:
        return await app.history.trim_summaries_by_date(before, level)


def _as_json(summary: Summary) -> dict[str, object]:
    from ragforge.domain.instants import format_instant

    return {
        "summary_id": summary.uuid,
        "conversation_id": summary.conversation_id,
        "level": summary.level,
        "turns": [summary.start_turn_index, summary.end_turn_index],
        "chars": [summary.char_range_start, summary.char_range_end],
        "conversation_summary": summary.conversation_summary,
        "actions_summary": summary.actions_summary,
        "key_findings": list(summary.key_findings),
        "files_mentioned": list(summary.files_mentioned),
        "tools_used": list(summary.tools_used),
        "topics": list(summary.topics),
        "made_by": summary.made_by,
        "created_at": format_instant(summary.created_at),
    }
