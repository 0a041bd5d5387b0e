"""Explored: what was found about some code by its name, as text in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragforge.domain.text import Json
from ragforge.show.console import open_console, print_note, sanitise

_FACTS = {"type", "also", "signature", "source", "name"}


def show_explored(found: Mapping[str, Json]) -> None:
    """Show one answer, or those of several things with one name."""
    answers = found.get("answers")
    for answer in answers if isinstance(answers, list) else [found]:
        if isinstance(answer, dict):
            _show_answer(answer)
    others = found.get("others")
    if isinstance(others, list):
        _show_places("others of this name", others)


def _show_answer(answer: Mapping[str, Json]) -> None:
    from rich.text import Text

    out = open_console()
    place = answer.get("place") or answer.get("file")
    if place is not None:
        head = Text(sanitise(str(place)), style="bold")
        out.print(head.append(f"  {answer.get('type', '')}", style="dim"), soft_wrap=True)
    also = answer.get("also")
    if isinstance(also, list):
        _show_places("also in", also)
    for fact in ("signature", "source"):
        if answer.get(fact):
            text = sanitise(str(answer[fact]))
            out.print(text, highlight=False, markup=False, soft_wrap=True)
    for heading, places in answer.items():
        if heading in {"place", "file", *_FACTS}:
            continue
        if isinstance(places, list) and places:
            _show_places(heading if heading != "several" else "several have this name", places)
    if answer.get("more"):
        print_note(f"{answer['more']} more are not listed: use --limit.")
    if isinstance(note := answer.get("note"), str):
        out.print(Text(f"  {note}", style="dim"), soft_wrap=True)
    if isinstance(likely := answer.get("most_likely"), dict):
        print_note("The most likely one:")
        _show_answer(likely)


def _show_places(heading: str, places: Sequence[Json]) -> None:
    from rich.text import Text

    out = open_console()
    out.print(Text(f"  {heading.replace('_', ' ')}", style="cyan"), soft_wrap=True)
    for place in places:
        text = f"    {sanitise(str(place))}"
        out.print(text, highlight=False, markup=False, soft_wrap=True)
