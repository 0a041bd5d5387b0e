"""Answers without a model: the places that were found, as one wants to read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.show.console import fit_line, open_console, print_note, sanitise
from ragforge.show.snippets import compile_words, cut_snippet, find_best_lines
from ragforge.show.themes import get_theme

if TYPE_CHECKING:
    import re

    from rich.console import Console
    from rich.text import Text

    from ragforge.domain.answers import Answer, Passage

WIDEST = 110
SHOWN_LINES = 6
PASSAGE_CHARS = 100


def show_found(answer: Answer) -> None:
    """Show an answer without a model: the telling lines of each place, and what was said."""
    out = open_console()
    pattern = compile_words(answer.question)
    if not answer.passages:
        out.print(sanitise(answer.content))
    for passage in answer.passages:
        if passage.file is None:
            _show_turn(out, passage, pattern)
        else:
            _show_lines(out, passage, pattern)
    if answer.related:
        print_note("See also: " + ", ".join(sanitise(one) for one in answer.related))


def show_sources(answer: Answer) -> None:
    """Show the passages that an answer of a model rests on, one line each."""
    if not answer.passages:
        return
    out = open_console()
    out.print()
    for number, passage in enumerate(answer.passages, start=1):
        out.print(f"[{number}] {passage.score:.2f}  ", style="dim", end="")
        if passage.source not in answer.content:  # it may name its sources itself
            out.print(f"{sanitise(passage.source)}  ", style="cyan", end="")
        out.print(fit_line(passage.text, PASSAGE_CHARS), style="italic")


def _show_lines(out: Console, passage: Passage, pattern: re.Pattern[str] | None) -> None:
    """Show a place in a file with the lines that hold the most of the question's words."""
    from rich.text import Text

    head = Text(f"{sanitise(passage.file or '')}:{passage.line}", style="cyan")
    if passage.name:
        head.append(f"  {sanitise(passage.name)}", style="bold")
    out.print(head, soft_wrap=True)
    first, lines = _choose_lines(passage.text, pattern)
    width = len(str(passage.line + first + len(lines)))
    for number, line in enumerate(_colour(out, passage, lines), passage.line + first):
        if pattern is not None:
            line.highlight_regex(pattern, "bold")
        line.truncate(WIDEST, overflow="ellipsis")
        shown = f"{number:>{width + 2}}  " if passage.is_verbatim else "  "
        out.print(Text.assemble((shown, "dim"), line), soft_wrap=True)
    out.print()


def _choose_lines(source: str, pattern: re.Pattern[str] | None) -> tuple[int, list[str]]:
    """Return the lines with the most of the words, and how many stand before them."""
    lines = [sanitise(line).rstrip().expandtabs(4) for line in source.split("\n")]
    best = find_best_lines(lines, pattern, SHOWN_LINES)
    shown = lines[best : best + SHOWN_LINES]
    while len(shown) > 1 and not shown[-1]:
        shown.pop()
    while len(shown) > 1 and not shown[0]:
        best, shown = best + 1, shown[1:]
    margin = min((len(line) - len(line.lstrip()) for line in shown if line), default=0)
    return best, [line[margin:] for line in shown]


def _colour(out: Console, passage: Passage, lines: Sequence[str]) -> list[Text]:
    """Return lines with the colours of their language, where there are colours."""
    from rich.text import Text

    if not (out.is_terminal and out.color_system):
        return [Text(line) for line in lines]
    from rich.syntax import Syntax

    code = "\n".join(lines)
    syntax = Syntax(code, Syntax.guess_lexer(passage.file or "", code), theme=get_theme().code)
    coloured = syntax.highlight(code).split("\n", allow_blank=True)
    return list(coloured[: len(lines)])


def _show_turn(out: Console, passage: Passage, pattern: re.Pattern[str] | None) -> None:
    """Show what was said in a past turn, around the words that were asked for."""
    from rich.text import Text

    out.print(Text(sanitise(passage.source), style="cyan"), soft_wrap=True)
    width = max(min(out.width - 4, WIDEST), 20)
    for line in cut_snippet(sanitise(passage.text), pattern, width, max_lines=3):
        said = Text(f"  {line}")
        if pattern is not None:
            said.highlight_regex(pattern, "bold")
        out.print(said, soft_wrap=True)
    out.print()
