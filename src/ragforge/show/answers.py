"""Answers: the places that were found, and the sources of a model's answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.domain.receipts import SECTIONS, Layout, Receipt
from ragforge.show.console import (
    colour_lines,
    fit_line,
    is_for_reader,
    open_console,
    print_note,
    print_table,
    sanitise,
)
from ragforge.show.snippets import choose_lines, compile_words, cut_snippet

if TYPE_CHECKING:
    import re

    from rich.console import Console
    from rich.text import Text

    from ragforge.domain.turns import Answer, Passage

WIDEST = 110
SHOWN_LINES = 6
PASSAGE_CHARS = 100

BAR_CHARS = 40
SOURCE_CHARS = 60


def show_found(answer: Answer) -> None:
    """Show an answer without a model: the telling lines of each place, and what was said."""
    out = open_console()
    pattern = compile_words(answer.question)
    if not answer.passages:
        out.print(sanitise(answer.content))
    else:
        out.print(sanitise(answer.content.partition("\n")[0]) + "\n", soft_wrap=True)
    for passage in answer.passages:
        if passage.file is None:
            _show_turn(out, passage, pattern)
        else:
            _show_lines(out, passage, pattern)
    if answer.related:
        print_note("See also: " + ", ".join(sanitise(one) for one in answer.related))


def show_sources(answer: Answer) -> None:
    """Show the passages that a model's answer is based on, one line each."""
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
    """Show a place in a file: the line with its name, and those with most of the words."""
    from rich.text import Text

    head = Text(f"{sanitise(passage.file or '')}:{passage.name_line or passage.line}", style="cyan")
    if passage.name:
        head.append(f"  {sanitise(passage.name)}", style="bold")
    out.print(head, soft_wrap=True)
    numbers, lines = _choose_lines(passage, pattern)
    width = len(str(max(numbers, default=0)))
    last = numbers[0] if numbers else 0
    for number, line in zip(numbers, _colour(out, passage, lines), strict=True):
        if number > last + 1:
            out.print(Text(f"{'…':>{width + 2}}", style="dim"))
        last = number
        if pattern is not None:
            line.highlight_regex(pattern, "bold")
        line.truncate(WIDEST, overflow="ellipsis")
        shown = f"{number:>{width + 2}}  " if number else "  "
        out.print(Text.assemble((shown, "dim"), line), soft_wrap=True)
    out.print()


def _choose_lines(
    passage: Passage, pattern: re.Pattern[str] | None
) -> tuple[Sequence[int], Sequence[str]]:
    """Return the line with the name and those with most of the words, with their numbers."""
    lines = [sanitise(line.rstrip()).expandtabs(4) for line in passage.text.split("\n")]
    numbers = list(passage.numbers)
    if numbers:  # lines without a number tell a model what was left out
        pairs = [pair for pair in zip(numbers, lines, strict=False) if pair[0]]
        numbers, lines = [number for number, _ in pairs], [line for _, line in pairs]
    naming = numbers.index(passage.name_line) if passage.name_line in numbers else 0
    places = choose_lines(lines, pattern, SHOWN_LINES, naming)
    shown = [lines[place] for place in places]
    margin = min((len(line) - len(line.lstrip()) for line in shown if line), default=0)
    shown = [line[margin:] for line in shown]
    return [numbers[place] if numbers else 0 for place in places], shown


def _colour(out: Console, passage: Passage, lines: Sequence[str]) -> list[Text]:
    """Return lines with the colours of their language, where there are colours."""
    from rich.text import Text

    if not (out.is_terminal and out.color_system):
        return [Text(line) for line in lines]
    return colour_lines(lines, passage.file or "")


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


def show_receipt(receipt: Receipt) -> None:
    """Print a receipt: what is in, what was left out, how the searches went, and the budget."""
    out = open_console()
    rows = [
        [
            item.section.replace("_", " "),
            fit_line(item.source, SOURCE_CHARS),
            "" if item.score is None else f"{item.score:.2f}",
            f"{item.chars:,}",
            fit_line("; ".join(filter(None, (item.why, item.note))), 80),
        ]
        for item in receipt.items
    ]
    if rows:
        print_table(["Section", "Source", "Score", "Chars", "Why"], rows, one_line_each=("Why",))
    if receipt.left_out:
        out.print(f"Left out: {len(receipt.left_out)}", style="dim")
        for why in dict.fromkeys(one.why for one in receipt.left_out):
            some = [one.source for one in receipt.left_out if one.why == why]
            text = "; ".join(fit_line(source, SOURCE_CHARS) for source in some[:3])
            more = f" and {len(some) - 3} more" if len(some) > 3 else ""
            out.print(f"  {why}: {text}{more}", style="dim")
    searched = [
        [
            fit_line(search.name, SOURCE_CHARS),
            search.state,
            f"{search.milliseconds:,} ms",
            f"{search.found:,}",
            fit_line("; ".join(filter(None, (search.problem, search.note))), 80),
        ]
        for search in receipt.searches
    ]
    print_table(["Search", "State", "Took", "Found", "Note"], searched)
    share = receipt.chars / max(1, receipt.max_chars)
    filled = min(BAR_CHARS, round(share * BAR_CHARS))
    budget = f"{receipt.chars:,} of {receipt.max_chars:,} characters ({share:.0%})"
    bar = "█" * filled + "░" * (BAR_CHARS - filled) + " "
    has_bar = len(bar + budget) <= out.width and not is_for_reader()
    out.print(bar + budget if has_bar else budget)
    parts = [(name, receipt.count_chars(name)) for name in SECTIONS]
    text = ", ".join(f"{name.replace('_', ' ')} {chars:,}" for name, chars in parts if chars)
    if text:
        out.print(text, style="dim")
    if receipt.layout is not None:
        _show_layout(receipt.layout)


def _show_layout(layout: Layout) -> None:
    """Print how the request was laid out, and how much of it a provider may have cached."""
    parts = ", ".join(f"{part.name} {part.chars:,}" for part in layout.parts)
    share = layout.same_chars / max(1, layout.chars)
    open_console().print(f"Request: {parts}", style="dim")
    open_console().print(
        f"{layout.same_chars:,} of its {layout.chars:,} characters ({share:.0%}) begin as the "
        "request before",
        style="dim",
    )
