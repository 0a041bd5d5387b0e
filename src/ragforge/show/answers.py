"""Answers: the passages that an answer rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragforge.show.console import fit_line, open_console, sanitise

if TYPE_CHECKING:
    from ragforge.domain.answers import Answer

PASSAGE_CHARS = 100


def show_found(answer: Answer) -> None:
    """Show an answer without a model: what was found, and where."""
    open_console().print(sanitise(answer.content))
    show_passages(answer)


def show_passages(answer: Answer) -> None:
    """Show the passages that an answer rests on, one line each."""
    if not answer.passages:
        return
    out = open_console()
    out.print()
    for number, passage in enumerate(answer.passages, start=1):
        out.print(f"[{number}] {passage.score:.2f}  ", style="dim", end="")
        if passage.source not in answer.content:  # it may name its sources itself
            out.print(f"{sanitise(passage.source)}  ", style="cyan", end="")
        out.print(fit_line(passage.text, PASSAGE_CHARS), style="italic")
