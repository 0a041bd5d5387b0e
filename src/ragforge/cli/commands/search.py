"""`ragforge search` and `explore`: find code, documents, past turns and summaries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import typer

from ragforge.cli import options
from ragforge.cli.loading import get_current_directory, load
from ragforge.cli.options import (
    AllOption,
    JsonOption,
    SinceOption,
    UntilOption,
    argument,
    flag,
    option,
)
from ragforge.cli.progress import show_ingestion
from ragforge.cli.state import open_code_in, open_here
from ragforge.cli.trust_questions import settle_reading
from ragforge.domain.code import RelationAsked
from ragforge.errors import InputError
from ragforge.show import hits
from ragforge.show.console import print_json, print_note, print_result
from ragforge.show.hits import show_explored

if TYPE_CHECKING:
    from ragforge.app.features.code import DocumentHit

Place: TypeAlias = Literal["code", "docs", "memory"]


async def search(
    query: str = argument("QUERY", "A question, words or a name."),
    *,
    place: Place | None = option(
        "--in", "Where to search; by default in code, documents and configuration."
    ),
    limit: int = option("-k --limit", "How many hits to show.", 5, min=1, max=1000),
    path: Path | None = option("--path DIR", "Only code or docs below this path."),
    everywhere: AllOption = False,
    session: str | None = option("--session ID", "Only one session: its first characters."),
    since: SinceOption = None,
    until: UntilOption = None,
    level: list[int] | None = option(
        "--level",
        "0: turns, 1: their summaries, 2: summaries of those; may be repeated.",
        min=0,
        max=2,
    ),
    words: bool = flag("--words", "Search only by words, not by meaning."),
    as_json: JsonOption = False,
) -> None:
    """Search the project's code, documents, or past conversations.

    --all, --session, --since, --until, --level and --words need --in memory.
    """
    if not query.strip():
        raise typer.BadParameter("the query is empty", param_hint="QUERY")
    if place != "memory":
        if session or since or until or level or words or everywhere:
            raise typer.BadParameter("this option needs --in memory", param_hint="--in")
        await _search_files(query, place, limit, path, as_json)
        return
    async with open_here() as app:
        found = await app.memory.search(
            query,
            semantic=not words,
            max_results=limit,
            include_notes=not level,
            levels=tuple(sorted(set(level or (0, 1, 2)))),
            since=options.parse_since(since),
            until=options.parse_until(until),
            conversation=session,
            everywhere=everywhere,
        )
        changed = await app.memory.find_changed_code(found)
        agents = await app.memory.find_agents(found)
        viewer = app.identity.key
    pairs = list(zip(found, changed, strict=True))
    listed = {"query": query, "hits": [hits.memory_to_json(*pair, agents) for pair in pairs]}
    print_result(
        as_json, listed, lambda: hits.show_memory(pairs, query, everywhere, viewer, agents)
    )


async def _search_files(
    query: str, place: Place | None, limit: int, path: Path | None, as_json: bool
) -> None:
    """Search code or documents; without a place, documents and configuration come after code."""
    settings, here = load().settings, get_current_directory()
    settle_reading(settings, here)
    below = None if path is None else (here / path).resolve()
    found = []
    documents: list[DocumentHit] = []
    async with open_code_in(here, settings) as code:
        under = None if below is None else code.locate(below) or None
        if below is not None and not below.exists():
            raise InputError(f"--path: {below} does not exist.")
        with show_ingestion() as on_step:
            if place != "docs":
                found = await code.search(query, limit, under, on_step)
            if place == "docs" or (place is None and not found):
                found = await code.search_documents(query, limit, under, on_step)
            elif place is None:
                documents = await code.search_docs_and_config(query, found, limit, under)
        unknown = await code.find_unknown_words(query)
        reading = await code.find_reading()
    if as_json:
        facts: dict[str, object] = {"query": query}
        facts["reading"] = None if reading is None else reading.to_json()
        facts["unknown"] = unknown
        facts["hits"] = [hits.code_to_json(hit) for hit in found]
        if place is None:
            facts["documents"] = [hits.document_to_json(hit) for hit in documents]
        print_json(facts)
        return
    hits.show_code(found, query, unknown)
    hits.show_documents(documents)
    if reading is not None:
        print_note(reading.notice)


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
