"""Chat models that can be chosen, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.config.services import SERVICES
from ragforge.show.console import open_console, print_note

if TYPE_CHECKING:
    from ragforge.app.model_choice import ModelPlace


def show_places(places: Sequence[ModelPlace], current: str) -> list[str]:
    """Show what can be chosen, numbered, and how to get more; return the numbered models."""
    out = open_console()
    print_note("No chat model answers yet." if current == "none" else f"{current} answers.")
    choices: list[str] = []
    for place in places:
        if not place.is_ready:
            continue
        for model in place.models or ():
            choices.append(model)
            out.print(f"{len(choices):>3}  {model}", markup=False, highlight=False)
        if not place.models:
            out.print(f"     {place.service}:MODEL", markup=False, highlight=False)
    missing = [place.service for place in places if not place.is_ready and not place.is_local]
    if missing:
        keys = ", ".join(f"{name} ({SERVICES[name].variables[0]})" for name in missing)
        print_note(f"With a key: {keys}.")
    silent = [place.service for place in places if not place.is_ready and place.is_local]
    if silent:
        print_note(f"Not running on this machine: {', '.join(silent)}.")
    return choices


def places_to_json(places: Sequence[ModelPlace]) -> list[dict[str, object]]:
    return [
        {
            "service": place.service,
            "local": place.is_local,
            "ready": place.is_ready,
            "models": list(place.models),
        }
        for place in places
    ]
