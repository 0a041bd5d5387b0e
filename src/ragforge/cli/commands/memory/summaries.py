"""`ragforge memory summaries` and `trim`: show summaries, and delete old ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli import options
from ragforge.cli.options import (
    AllOption,
    JsonOption,
    SinceOption,
    UntilOption,
    YesOption,
    flag,
    option,
)
from ragforge.cli.state import confirm, open_here
from ragforge.show.console import print_note, print_result
from ragforge.show.notes import show_summaries, summary_to_json

if TYPE_CHECKING:
    from ragforge.domain.summaries import Level

LevelOption = Annotated[
    int | None, typer.Option("--level", min=1, max=2, help="1: of turns; 2: of summaries.")
]


async def summaries(
    level: LevelOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    file: str | None = option("--file PATH", "Those that mention this file."),
    unread: bool = flag("--unread", "Those with findings that were not shown yet."),
    everywhere: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the summaries of this project's conversations."""
    async with open_here() as app:
        found = await app.memory.find_summaries(
            options.parse_since(since),
            options.parse_until(until),
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
    listed = {"summaries": [summary_to_json(summary) for summary in found]}
    print_result(as_json, listed, lambda: show_summaries(found))


async def trim(
    before: str = option(
        "--before --older-than DATE",
        "Those made before a date, 2026-01-31, or older than an age, 90d.",
        ...,
    ),
    level: LevelOption = None,
    session: str | None = option("--session ID", "Of one session: its first characters."),
    everywhere: AllOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete old summaries of this project, but not the turns.

    These turns are not summarised again.
    """
    if session is not None and everywhere:
        raise typer.BadParameter("give --session or --all, not both", param_hint="--session")
    limit = options.parse_before(before)
    if not yes:
        what = "summaries" if level is None else f"summaries of level {level}"
        whose = "of all projects" if everywhere else "of this project"
        whose = whose if session is None else f"of session {session}"
        confirm(f"Delete the {what} {whose} that were made before {limit:%Y-%m-%d %H:%M}?")
    async with open_here() as app:
        deleted = await app.memory.trim_summaries(
            limit, _to_level(level), session, everywhere=everywhere
        )
    said = "One summary deleted." if deleted == 1 else f"{deleted:,} summaries deleted."
    print_result(as_json, {"deleted": deleted}, lambda: print_note(said))


def _to_level(level: int | None) -> Level | None:
    return 1 if level == 1 else 2 if level == 2 else None
