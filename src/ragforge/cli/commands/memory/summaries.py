"""`ragforge memory summaries` and `trim`: see what was condensed, and throw old summaries away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli import dates
from ragforge.cli.state import JsonOption, confirm, use_app

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.domain.summaries import Level, Summary

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
    from ragforge.show.console import print_json
    from ragforge.show.notes import show_summaries, summary_to_json

    async def find(app: App) -> list[Summary]:
        found = await app.memory.find_summaries(
            dates.parse_since(since),
            dates.parse_until(until),
            level=_to_level(level),
            everywhere=everywhere,
            unread=unread,
        )
        if file is not None:
            mentioning = await app.memory.find_summaries_mentioning_file(file)
            wanted = {one.uuid for one in mentioning}
            found = [one for one in found if one.uuid in wanted]
        if unread:  # they are shown now
            await app.memory.mark_findings_read(found)
        return found

    found = use_app(context, find)
    if as_json:
        print_json({"summaries": [summary_to_json(summary) for summary in found]})
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
    from ragforge.show.console import print_json, print_note

    if session is not None and everywhere:
        raise typer.BadParameter("give --session or --all, not both", param_hint="--session")
    limit = dates.parse_before(before)
    if not yes:
        what = "summaries" if level is None else f"summaries of level {level}"
        whose = "of all projects" if everywhere else "of this project"
        whose = whose if session is None else f"of session {session}"
        confirm(f"Delete the {what} {whose} that were made before {limit:%Y-%m-%d %H:%M}?")
    gone = use_app(
        context,
        lambda app: app.memory.trim_summaries(
            limit, _to_level(level), session, everywhere=everywhere
        ),
    )
    if as_json:
        print_json({"deleted": gone})
    else:
        print_note(f"{gone:,} summaries deleted." if gone != 1 else "One summary deleted.")


def _to_level(level: int | None) -> Level | None:
    return 1 if level == 1 else 2 if level == 2 else None
