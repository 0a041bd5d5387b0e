"""`ragforge explore`: what calls some code, what it calls, what is in it, what is next to it."""

from __future__ import annotations

import typer

from ragforge.cli.loading import get_current_directory, load
from ragforge.cli.options import JsonOption, argument, flag, option
from ragforge.cli.progress import show_ingestion
from ragforge.cli.state import open_code_in
from ragforge.cli.trust_questions import settle_reading
from ragforge.domain.code import RelationAsked
from ragforge.show.console import print_result
from ragforge.show.explored import show_explored


async def explore(
    name: str = argument(
        "NAME", "A function, class or file: login, Session.login, src/auth.py, src/auth.py:12."
    ),
    *,
    relation: RelationAsked | None = option(
        "-r --relation", "List only this; by default what is next to it."
    ),
    depth: int | None = option("--depth", "How far: 2 lists callers of callers too.", min=1, max=5),
    limit: int | None = option("-k --limit", "How many places.", min=1, max=10_000),
    source: bool = flag("--source", "Show the source too."),
    as_json: JsonOption = False,
) -> None:
    """List callers, members and the like of the code with a name.

    A type includes its impl blocks and members. If several things have the name, each is
    answered. With --relation unused NAME may be a folder, or "." for the whole project.
    """
    if not name.strip():
        raise typer.BadParameter("the name is empty", param_hint="NAME")
    settings, here = load().settings, get_current_directory()
    settle_reading(settings, here)
    async with open_code_in(here, settings) as code:
        with show_ingestion() as on_step:
            await code.ingest_once(on_step)
        found = await code.explore(name, relation, depth, limit=limit, source=source)
    print_result(as_json, {"name": name, **found}, lambda: show_explored(found))
