"""`ragforge search`: find code, documents, or past turns and summaries of them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.loading import get_current_directory
from ragforge.cli.state import JsonOption, use_app, use_code
from ragforge.errors import InputError

if TYPE_CHECKING:
    from ragforge.app import App, Code
    from ragforge.app.features.code import CodeHit, DocumentHit
    from ragforge.app.features.memory import StaleCode
    from ragforge.domain.hits import HistoryHit
    from ragforge.domain.reading import Reading


class Place(StrEnum):
    """What can be searched."""

    code = "code"
    docs = "docs"
    memory = "memory"


def register(app: typer.Typer) -> None:
    app.command("search", epilog="search")(search)


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A question, words or a name.")],
    *,
    place: Annotated[
        Place | None,
        typer.Option(
            "--in",
            help="Where to look; if not given, in code, then in documents and configuration.",
        ),
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
    from ragforge.cli import dates
    from ragforge.cli.trust_questions import settle_reading
    from ragforge.show import hits
    from ragforge.show.console import print_json, print_note

    if not query.strip():
        raise typer.BadParameter("the query is empty", param_hint="QUERY")
    if place is Place.memory:

        async def search_memory(
            app: App,
        ) -> tuple[list[tuple[HistoryHit, list[StaleCode]]], str, dict[str, str]]:
            found = await app.memory.search(
                query,
                semantic=not words,
                max_results=limit,
                include_notes=not level,
                levels=tuple(sorted(set(level or (0, 1, 2)))),
                since=dates.parse_since(since),
                until=dates.parse_until(until),
                conversation=session,
                everywhere=everywhere,
            )
            changed = await app.memory.find_changed_code(found)
            agents = await app.memory.find_agents(found)
            return list(zip(found, changed, strict=True)), app.identity.key, agents

        said, viewer, agents = use_app(context, search_memory)
        if as_json:
            shown = [hits.memory_to_json(*pair, agents) for pair in said]
            print_json({"query": query, "hits": shown})
        else:
            hits.show_memory(said, query, everywhere, viewer, agents)
        return
    if session or since or until or level or words or everywhere:
        raise typer.BadParameter("this option needs --in memory", param_hint="--in")
    here = get_current_directory()
    below = None if path is None else (here / path).resolve()
    found, documents, reading, unknown = use_code(
        context,
        here,
        lambda code: _search_files(code, query, place, limit, below),
        before=lambda settings: settle_reading(settings, here),
    )
    if as_json:
        facts: dict[str, object] = {"query": query}
        facts["reading"] = None if reading is None else reading.to_json()
        facts["unknown"] = unknown
        facts["hits"] = [hits.code_to_json(hit) for hit in found]
        if place is None:
            facts["documents"] = [hits.document_to_json(hit) for hit in documents]
        print_json(facts)
    else:
        hits.show_code(found, query, unknown)
        hits.show_documents(documents)
        if reading is not None:
            print_note(reading.notice)


async def _search_files(
    code: Code, query: str, place: Place | None, limit: int, below: Path | None
) -> tuple[list[CodeHit], list[DocumentHit], Reading | None, list[str]]:
    """Search code or documents, and tell how far the first reading of the project is.

    Without a place, documents and configuration files are returned after code. Last come the words
    of the query that the project holds nowhere.
    """
    from ragforge.cli.progress import show_ingestion

    under = None if below is None else code.locate(below) or None
    if below is not None and not below.exists():
        raise InputError(f"--path: there is no {below}.")
    found: list[CodeHit] = []
    documents: list[DocumentHit] = []
    with show_ingestion() as on_step:
        if place is not Place.docs:
            found = await code.search(query, limit, under, on_step)
        if place is Place.docs or (place is None and not found):
            found = await code.search_documents(query, limit, under, on_step)
        elif place is None:
            documents = await code.search_docs_and_config(query, found, limit, under)
    unknown = await code.find_unknown_words(query)
    return found, documents, await code.find_reading(), unknown
