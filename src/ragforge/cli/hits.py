"""Hits: how what was found is shown, to people and to scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragforge.brain.find import CodeHit
    from ragforge.memory.recall import TurnHit

WIDEST = 100
SNIPPET_LINES = 4


def code_as_json(hit: CodeHit) -> dict[str, object]:
    scope = hit.scope
    return {
        "file": scope.file,
        "start_line": scope.start_line,
        "end_line": scope.end_line,
        "name": scope.qualified_name,
        "type": scope.type,
        "language": scope.language,
        "score": round(hit.score, 4),
        "signals": list(hit.signals),
        "signature": scope.signature,
        "source": scope.source,
    }


def show_code(found: Sequence[CodeHit], query: str) -> None:
    """Show places, names and the lines that fit best, with the colours of their language."""
    from rich.syntax import Syntax
    from rich.text import Text

    from ragforge.cli.console import console, print_note, printable

    if not found:
        print_note("Nothing found. `ragforge status` tells what is known of this project.")
        return
    out = console()
    for hit in found:
        scope = hit.scope
        head = Text(f"{printable(scope.file)}:{scope.start_line}-{scope.end_line}", style="cyan")
        head.append(f"  {printable(scope.qualified_name)}", style="bold")
        head.append(f"  {hit.score:.2f}  {', '.join(hit.signals)}", style="dim")
        out.print(head, soft_wrap=True)
        lines = [printable(line) for line in _telling_lines(scope.source, query)]
        if out.is_terminal and out.color_system:
            shown = Syntax("\n".join(lines), scope.language or "text", theme="ansi_dark")
            out.print(shown)
        else:
            for line in lines:
                out.print(f"  {line}", highlight=False, soft_wrap=True)


def _telling_lines(source: str, query: str) -> list[str]:
    """Return a few lines of a source: those around the most of the query's words."""
    from ragforge.cli.snippets import words_pattern

    lines = [line.rstrip() for line in source.split("\n")]
    pattern = words_pattern(query)
    scores = [len(pattern.findall(line)) if pattern else 0 for line in lines]
    starts = range(max(len(lines) - SNIPPET_LINES, 0) + 1)
    best = max(starts, key=lambda start: (sum(scores[start : start + SNIPPET_LINES]), -start))
    shown = [line for line in lines[best : best + SNIPPET_LINES] if line.strip()]
    margin = min((len(line) - len(line.lstrip()) for line in shown), default=0)
    return [line[margin : margin + WIDEST] for line in shown]


def turn_as_json(hit: TurnHit) -> dict[str, object]:
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


def show_turns(found: Sequence[TurnHit], query: str, everywhere: bool) -> None:
    from rich.text import Text

    from ragforge.cli.console import console, one_line, print_note, printable
    from ragforge.cli.snippets import best_text, snippet, words_pattern
    from ragforge.domain.text import plain

    if not found:
        print_note("Nothing found." if everywhere else "Nothing found. Try --everywhere.")
        return
    out = console()
    width = max(min(out.width - 4, WIDEST), 20)
    pattern = words_pattern(query)
    for hit in found:
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
