"""`ragforge search`: find code, documents, or past turns and summaries of them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragforge.cli.state import JsonOption, current_directory, load
from ragforge.errors import InputError

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.brain.search.code import CodeHit
    from ragforge.config import Settings
    from ragforge.domain.hits import HistoryHit
    from ragforge.memory.code.age import StaleCode

EXAMPLES = """\b
Examples:
  ragforge search "where are passwords checked"
  ragforge search SessionMiddleware --path src/web -k 20
  ragforge search "roll back a release" --in docs
  ragforge search "lease renewal" --in memory --everywhere
  ragforge search "why sqlite" --in memory --since 2025-11-01 --until 2025-11-30
  ragforge search "release steps" --in memory --session 3f2a91c0 --level 1 --level 2
  ragforge search SessionKey --in memory --words
  ragforge search --json "lease renewal"
"""


class Place(StrEnum):
    """What can be searched."""

    code = "code"
    docs = "docs"
    memory = "memory"


def register(app: typer.Typer) -> None:
    app.command("search", epilog=EXAMPLES)(search)


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A question, words or a name.")],
    *,
    place: Annotated[
        Place | None,
        typer.Option("--in", help="Where to look; if not given, in code, or in docs without any."),
    ] = None,
    limit: Annotated[
        int, typer.Option("-k", "--limit", min=1, max=1000, help="How many hits to show.")
    ] = 5,
    path: Annotated[
        Path | None,
        typer.Option("--path", metavar="DIR", help="Only code or docs below this path."),
    ] = None,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="Memory of all projects, not only this one.")
    ] = False,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="Memory of one session: the start of its id."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="DATE", help="Memory from this day or moment on."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="DATE", help="Memory up to this day or moment."),
    ] = None,
    level: Annotated[
        list[int] | None,
        typer.Option(
            min=0,
            max=2,
            help="Memory of this level, or of several: 0 turns, 1 their summaries, 2 those of 1.",
        ),
    ] = None,
    words: Annotated[
        bool, typer.Option("--words", help="Memory by words alone, not by meaning.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Search the project's code, its documents, or what was said before."""
    import asyncio

    from ragforge.cli import dates
    from ragforge.show import hits
    from ragforge.show.console import print_json

    if not query.strip():
        raise typer.BadParameter("the query is empty", param_hint="QUERY")
    if place is Place.memory:
        wanted = {
            "semantic": not words,
            "max_results": limit,
            "include_notes": not level,
            "levels": tuple(sorted(set(level or (0, 1, 2)))),
            "since": dates.since(since),
            "until": dates.until(until),
            "session": session,
            "everywhere": everywhere,
        }
        said, ages = asyncio.run(_memory(load(context).settings, query, wanted))
        if as_json:
            payload = [hits.memory_as_json(*pair) for pair in zip(said, ages, strict=True)]
            print_json({"query": query, "hits": payload})
        else:
            hits.show_memory(list(zip(said, ages, strict=True)), query, everywhere)
        return
    if session or since or until or level or words or everywhere:
        raise typer.BadParameter("this option needs --in memory", param_hint="--in")
    found = asyncio.run(_files(load(context).settings, query, place, limit, path))
    if as_json:
        print_json({"query": query, "hits": [hits.code_as_json(hit) for hit in found]})
    else:
        hits.show_code(found, query)


async def _memory(
    settings: Settings, query: str, wanted: dict[str, Any]
) -> tuple[list[HistoryHit], list[list[StaleCode]]]:
    from ragforge.app import open_app

    app: App
    async with open_app(settings, current_directory()) as app:
        found = await app.search_conversation_history(query, **wanted)
        return found, await app.ages_of(found)


async def _files(
    settings: Settings, query: str, place: Place | None, limit: int, path: Path | None
) -> list[CodeHit]:
    """Search code or documents; a project that is not known yet is read first, with a bar."""
    from ragforge.app.code import open_code, search_code, search_documents
    from ragforge.brain.project import below
    from ragforge.cli.progress import ingestion_bar

    async with open_code(settings, current_directory()) as code:
        under = ""
        if path is not None:
            there = (current_directory() / path).resolve()
            inside = below(code.project_path, there)
            if inside is None:
                raise InputError(f"{there} is not in the project {code.project_path}.")
            under = inside
        found: list[CodeHit] = []
        with ingestion_bar() as on_step:
            if place is not Place.docs:
                found = await search_code(code.brain, query, limit, under or None, on_step)
            if place is Place.docs or (place is None and not found):
                found = await search_documents(code.brain, query, limit, under or None, on_step)
        return found
