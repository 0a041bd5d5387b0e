"""`ragforge sessions list`, `show`, `similar`, `about` and `export`: read sessions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import typer

from ragforge.app.features.sessions import save_file
from ragforge.cli.options import AllOption, JsonOption, SessionArgument, argument, flag, option
from ragforge.cli.progress import show_ingestion
from ragforge.cli.state import open_here
from ragforge.show.console import print_json, print_note, print_result
from ragforge.show.session_detail import detail_to_json, show_detail
from ragforge.show.sessions import line_to_json, show_sessions, show_similar, similar_to_json
from ragforge.show.touched_sessions import about_to_json, show_about

TURNS = 20


async def list_sessions(
    *,
    everywhere: AllOption = False,
    status: Literal["active", "archived", "any"] = option("--status", "Which of them.", "active"),
    tags: list[str] | None = option("--tag TAG", "Only with this tag, or any of several."),
    limit: int = option("--limit", "How many to show.", 50, min=1, max=10_000),
    as_json: JsonOption = False,
) -> None:
    """List sessions, most recently active first."""
    async with open_here() as app:
        wanted = None if status == "any" else status
        found = await app.sessions.find(wanted, tags or (), limit, everywhere=everywhere)
        lines = await app.sessions.add_last_messages(found)
        viewer = app.identity.key
    if as_json:
        print_json({"sessions": [line_to_json(line) for line in lines]})
    elif lines:
        show_sessions(lines, everywhere, viewer)
        if len(lines) == limit:
            print_note(f"These are the last {limit}. --limit shows more.")
    else:
        place = "" if everywhere else " of this project"
        hint = "" if everywhere else " Try --all."
        kind = "" if status == "any" else f" {status}"
        tagged = f" tagged {' or '.join(tags)}" if tags else ""
        print_note(f"There are no{kind} sessions{tagged}{place}.{hint}")


async def show(
    session: SessionArgument,
    *,
    turns: int = option("--turns", "How many of the latest turns to show.", TURNS, min=0),
    full: bool = flag("--full", "Show long texts in full."),
    as_json: JsonOption = False,
) -> None:
    """Show the turns of a session, with tools, states and summaries."""
    async with open_here() as app:
        found = await app.sessions.load_detail(session)
    print_result(as_json, detail_to_json(found), lambda: show_detail(found, turns, full))


async def similar(
    text: str = argument("TEXT", "What it was about."),
    *,
    everywhere: AllOption = False,
    limit: int = option("-k --limit", "How many to show.", 5, min=1, max=1000),
    as_json: JsonOption = False,
) -> None:
    """Find sessions of this project about the same subject."""
    if not text.strip():
        raise typer.BadParameter("the text is empty", param_hint="TEXT")
    async with open_here() as app:
        found = await app.sessions.find_similar(text, limit, everywhere)
        viewer = app.identity.key
    listed = {"query": text, "sessions": [similar_to_json(one) for one in found]}
    print_result(as_json, listed, lambda: show_similar(found, everywhere, viewer))


async def about(
    subject: str = argument("NAME_OR_PATH", "A file, a directory, a class, a function."),
    *,
    everywhere: AllOption = False,
    limit: int = option("-k --limit", "How many sessions to show.", 10, min=1, max=1000),
    as_json: JsonOption = False,
) -> None:
    """Find sessions that touched some code, and what changed since."""
    if not subject.strip():
        raise typer.BadParameter("the name is empty", param_hint="NAME_OR_PATH")
    async with open_here() as app:
        if app.code.is_read:
            with show_ingestion() as on_step:  # of a project that was never read
                await app.code.ingest_once(on_step)
        found = await app.sessions.find_about(subject, everywhere)
    if as_json:
        print_json({"subject": subject, "sessions": [about_to_json(one) for one in found[:limit]]})
    elif found:
        show_about(found[:limit], with_directory=everywhere)
        if len(found) > limit:
            print_note(f"{len(found) - limit:,} more sessions. --limit shows more.")
    else:
        where = "" if everywhere else " of this project"
        print_note(
            f"No session{where} touched {subject}. To look for the words: "
            f"ragforge sessions similar {subject}"
        )


async def export(
    session: SessionArgument,
    *,
    output: Path | None = option("-o --output FILE", "Where to write it."),
    with_embeddings: bool = flag(
        "--with-embeddings", "Include vectors; otherwise import makes new ones."
    ),
) -> None:
    """Write a session as JSON, to a file or to stdout."""
    async with open_here() as app:
        known = await app.sessions.resolve(session)
        data = await app.sessions.export_bytes(known.uuid, with_embeddings)
    if output is None or str(output) == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        save_file(output, data)
        print_note(f"Wrote {len(data):,} bytes to {output}.")
