"""`ragforge explore`: what calls some code, what it calls, what is in it, what is next to it."""

from __future__ import annotations

from typing import Annotated

import typer

from ragforge.cli.loading import get_current_directory
from ragforge.cli.options import JsonOption
from ragforge.cli.progress import show_ingestion
from ragforge.cli.state import load, open_code_for
from ragforge.cli.trust_questions import settle_reading
from ragforge.domain.code import RelationAsked
from ragforge.show.console import print_result
from ragforge.show.explored import show_explored


def register(app: typer.Typer) -> None:
    app.command("explore", epilog="explore")(explore)


async def explore(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A function, class or file: login, Session.login, src/auth.py, src/auth.py:12.",
        ),
    ],
    *,
    relation: Annotated[
        RelationAsked | None,
        typer.Option("-r", "--relation", help="List only this; by default what is next to it."),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option("--depth", min=1, max=5, help="How far: 2 lists callers of callers too."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("-k", "--limit", min=1, max=10_000, help="How many places.")
    ] = None,
    source: Annotated[bool, typer.Option("--source", help="Show the source too.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List callers, callees, members, implementors and the like of the code with a name.

    A type includes its impl blocks and members. If several things have the name, each is
    answered. With --relation unused NAME may be a folder, or "." for the whole project.
    """
    if not name.strip():
        raise typer.BadParameter("the name is empty", param_hint="NAME")
    settings, here = load(context).settings, get_current_directory()
    settle_reading(settings, here)
    async with open_code_for(context, here, settings) as code:
        with show_ingestion() as on_step:
            await code.ingest_once(on_step)
        found = await code.explore(name, relation, depth, limit=limit, source=source)
    print_result(as_json, {"name": name, **found}, lambda: show_explored(found))
