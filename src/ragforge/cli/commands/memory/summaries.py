"""`ragforge memory summaries` and `trim`: see what was condensed, and throw old summaries away."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli import dates
from ragforge.cli.state import JsonOption, current_directory, load

if TYPE_CHECKING:
    from ragforge.config import Settings
    from ragforge.domain.summaries import Level, Summary, SummaryFilter

EXAMPLES = """\b
Examples:
  ragforge memory summaries
  ragforge memory summaries --level 2 --since 7d --all
  ragforge memory summaries --file src/auth.py
  ragforge memory summaries --unread
  ragforge memory summaries --json
"""
TRIM_EXAMPLES = """\b
Examples:
  ragforge memory trim --level 1 --older-than 30d
  ragforge memory trim --level 2 --older-than 90d --all
  ragforge memory trim --before 2026-01-31 --session 3f2a91c0 --yes

Nothing else is deleted: a summary of level 2 stays when those it was made of go. What they covered
is not summarised again, except by `ragforge memory rebuild --anew`.
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
    file: Annotated[
        str | None, typer.Option("--file", metavar="PATH", help="Those that mention this file.")
    ] = None,
    unread: Annotated[
        bool, typer.Option("--unread", help="Those with findings that were not shown yet.")
    ] = False,
    everywhere: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the summaries of this project's conversations."""
    import asyncio

    from ragforge.domain.summaries import SummaryFilter
    from ragforge.show.console import print_json
    from ragforge.show.memory_view import show_summaries

    settings = load(context).settings
    where = SummaryFilter(
        level=_level(level), since=dates.since(since), until=dates.until(until), unread=unread
    )
    found = asyncio.run(_find(settings, where, file, everywhere=everywhere))
    if as_json:
        print_json({"summaries": [_as_json(summary) for summary in found]})
    else:
        show_summaries(found)


def trim(
    context: typer.Context,
    before: Annotated[
        str,
        typer.Option(
            "--before",
            "--older-than",
            metavar="DATE",
            help="Those made before then: 2026-01-31, or an age such as 90d.",
        ),
    ],
    level: LevelOption = None,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="Of one session: the start of its id."),
    ] = None,
    everywhere: AllOption = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Delete old summaries of this project; the turns stay, and are not summarised again."""
    import asyncio

    from ragforge.show.console import print_json, print_note

    if session is not None and everywhere:
        raise typer.BadParameter("give --session or --all, not both", param_hint="--session")
    limit = dates.before(before)
    if not yes:
        what = "summaries" if level is None else f"summaries of level {level}"
        whose = "of all projects" if everywhere else "of this project"
        whose = whose if session is None else f"of session {session}"
        confirm(f"Delete the {what} {whose} that were made before {limit:%Y-%m-%d %H:%M}?")
    settings = load(context).settings
    gone = asyncio.run(_trim(settings, limit, _level(level), session, everywhere=everywhere))
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
    settings: Settings, where: SummaryFilter, file: str | None, *, everywhere: bool
) -> list[Summary]:
    """Find summaries. Those that are shown for their findings are read then."""
    from ragforge.app import open_app

    async with open_app(settings, current_directory()) as app:
        project = None if everywhere else str(app.project_path)
        found = await app.store.summaries.find(replace(where, project_path=project))
        if file is not None:
            wanted = {one.uuid for one in await app.get_summaries_mentioning_file(file)}
            found = [one for one in found if one.uuid in wanted]
        if where.unread:
            await app.history.mark_findings_read(found)
        return found


async def _trim(
    settings: Settings,
    before: datetime,
    level: Level | None,
    session: str | None,
    *,
    everywhere: bool,
) -> int:
    from ragforge.app import open_app

    async with open_app(settings, current_directory()) as app:
        one = None if session is None else (await app.session_called(session)).uuid
        project = None if everywhere or one else str(app.project_path)
        return await app.history.trim_summaries_by_date(before, level, one, project)


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
