"""`ragforge search`: find past turns."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.state import JsonOption, current_directory, load

if TYPE_CHECKING:
    from ragforge.config import Settings
    from ragforge.memory.recall import TurnHit

WIDEST = 100

EXAMPLES = """\b
Examples:
  ragforge search "password validation"
  ragforge search "lease renewal" -k 20 --everywhere
  ragforge search --json "lease renewal"
"""


class Place(StrEnum):
    """What can be searched."""

    memory = "memory"


def register(app: typer.Typer) -> None:
    app.command("search", epilog=EXAMPLES)(search)


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words to look for.")],
    *,
    place: Annotated[Place, typer.Option("--in", help="Where to look.")] = Place.memory,
    limit: Annotated[
        int, typer.Option("-k", "--limit", min=1, max=1000, help="How many hits to show.")
    ] = 5,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="Search all projects, not only this one.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Search what was said and done in earlier sessions."""
    import asyncio

    from ragforge.cli.console import print_json

    if not query.strip():
        raise typer.BadParameter("the query is empty", param_hint="QUERY")
    hits = asyncio.run(_find(load(context).settings, query, limit, everywhere))
    if as_json:
        print_json({"query": query, "hits": [_as_json(hit) for hit in hits]})
    else:
        _show(hits, query, everywhere)


async def _find(settings: Settings, query: str, limit: int, everywhere: bool) -> list[TurnHit]:
    from ragforge.app import open_app

    async with open_app(settings, current_directory()) as app:
        return await app.search_memory(query, limit, everywhere)


def _as_json(hit: TurnHit) -> dict[str, object]:
    from ragforge.domain.instants import format_instant

    return {
        "conversation_id": hit.conversation_id,
        "turn_id": hit.turn.uuid,
        "turn_index": hit.turn.user.turn_index,
        "timestamp": format_instant(hit.turn.user.timestamp),
        "score": round(hit.score, 4),
        "confidence": hit.confidence,
        "found_by": list(hit.found_by),
        "question": hit.turn.user.content,
        "answer": hit.turn.answer,
    }


def _show(hits: list[TurnHit], query: str, everywhere: bool) -> None:
    from rich.text import Text

    from ragforge.cli.console import console, one_line, print_note, printable
    from ragforge.cli.snippets import best_text, snippet, words_pattern
    from ragforge.domain.text import plain

    if not hits:
        print_note("Nothing found." if everywhere else "Nothing found. Try --everywhere.")
        return
    out = console()
    width = max(min(out.width - 4, WIDEST), 20)
    pattern = words_pattern(query)
    for hit in hits:
        turn = hit.turn
        head = Text(f"{turn.user.timestamp:%Y-%m-%d %H:%M}", style="cyan")
        head.append(f"  {printable(hit.conversation_id)[:8]}", style="dim")
        head.append(f"  {hit.score:.2f}", style="dim")
        out.print(head)
        results = [plain(call.result.result) for call in turn.tool_calls if call.result]
        said = [m.content for m in turn.replies if m.role == "assistant"]
        body = best_text([turn.answer, *said, *results], pattern)
        question = Text(f"  {one_line(turn.user.content, width)}", style="bold")
        lines = snippet(printable(body), pattern, width)
        for line in (question, *(Text(f"    {line}") for line in lines)):
            if pattern is not None:
                line.highlight_regex(pattern, style="yellow")
            out.print(line)
