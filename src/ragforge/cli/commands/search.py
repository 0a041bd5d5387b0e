"""`ragforge search`: find code, or past turns."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.state import JsonOption, current_directory, load
from ragforge.errors import InputError

if TYPE_CHECKING:
    from ragforge.brain.find import CodeHit
    from ragforge.config import Settings
    from ragforge.memory.recall import TurnHit

EXAMPLES = """\b
Examples:
  ragforge search "where are passwords checked"
  ragforge search SessionMiddleware --path src/web -k 20
  ragforge search "lease renewal" --in memory --everywhere
  ragforge search --json "lease renewal"
"""


class Place(StrEnum):
    """What can be searched."""

    code = "code"
    memory = "memory"


def register(app: typer.Typer) -> None:
    app.command("search", epilog=EXAMPLES)(search)


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A question, words or a name.")],
    *,
    place: Annotated[Place, typer.Option("--in", help="Where to look.")] = Place.code,
    limit: Annotated[
        int, typer.Option("-k", "--limit", min=1, max=1000, help="How many hits to show.")
    ] = 5,
    path: Annotated[
        Path | None, typer.Option("--path", metavar="DIR", help="Only code below this path.")
    ] = None,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="Memory of all projects, not only this one.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Search the project's code, or what was said and done in earlier sessions."""
    import asyncio

    from ragforge.cli import hits
    from ragforge.cli.console import print_json

    if not query.strip():
        raise typer.BadParameter("the query is empty", param_hint="QUERY")
    settings = load(context).settings
    if place is Place.memory:
        turns = asyncio.run(_turns(settings, query, limit, everywhere))
        if as_json:
            print_json({"query": query, "hits": [hits.turn_as_json(hit) for hit in turns]})
        else:
            hits.show_turns(turns, query, everywhere)
        return
    code = asyncio.run(_code(settings, query, limit, path))
    if as_json:
        print_json({"query": query, "hits": [hits.code_as_json(hit) for hit in code]})
    else:
        hits.show_code(code, query)


async def _turns(settings: Settings, query: str, limit: int, everywhere: bool) -> list[TurnHit]:
    from ragforge.app import open_app

    async with open_app(settings, current_directory()) as app:
        return await app.search_memory(query, limit, everywhere)


async def _code(settings: Settings, query: str, limit: int, path: Path | None) -> list[CodeHit]:
    """Search the code; a project that is not known yet is read first, with a progress bar."""
    from ragforge.app.code import open_code, search_code
    from ragforge.brain.project import below
    from ragforge.cli.progress import ingestion_bar

    async with open_code(settings, current_directory()) as code:
        under = ""
        if path is not None:
            place = (current_directory() / path).resolve()
            inside = below(code.project_path, place)
            if inside is None:
                raise InputError(f"{place} is not in the project {code.project_path}.")
            under = inside
        with ingestion_bar() as on_step:
            return await search_code(code.brain, query, limit, under or None, on_step)
