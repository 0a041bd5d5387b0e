"""`ragforge model`: list the chat models, and choose the one that answers."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from ragforge.app.features.configure import set_setting
from ragforge.app.features.model_choice import find_models, install, plan_installation, try_model
from ragforge.app.wiring.models import choose_model
from ragforge.cli.loading import get_current_directory, load
from ragforge.cli.options import JsonOption, argument, flag
from ragforge.config.services import SERVICES
from ragforge.show.console import Fields, fit_line, open_console, print_json, print_note

if TYPE_CHECKING:
    from ragforge.app.features.model_choice import ModelPlace
    from ragforge.config import Settings


def model(
    name: str | None = argument("NAME", "Such as ollama:qwen3, or none.", None),
    *,
    no_test: bool = flag("--no-test", "Save it without trying it."),
    installs: bool = flag("--install", "Install its library if that is missing."),
    as_json: JsonOption = False,
) -> None:
    """List the models that can answer; try one and save it."""
    settings = load(quiet=True).settings
    if name is None:
        places = asyncio.run(find_models())
        if as_json:
            print_json(
                {"model": settings.llm.model, "services": [place_to_json(one) for one in places]}
            )
            return
        choices = show_places(places, settings.llm.model)
        if not (choices and sys.stdin.isatty() and sys.stdout.isatty()):
            return
        name = _ask_which(choices)
    if name:
        _install_library(name, installs)
        _keep(settings, name, no_test)


def _ask_which(choices: Sequence[str]) -> str:
    """Return the model that the user picks by number or name; empty keeps the current one."""
    typed = typer.prompt("Number or name (Enter keeps it)", default="", show_default=False).strip()
    if typed.isdecimal() and 0 < int(typed) <= len(choices):
        return choices[int(typed) - 1]
    return str(typed)


def _install_library(name: str, is_wanted: bool) -> None:
    """Install the missing library of a model if the user agrees. Raises ModelMissing."""
    missing = plan_installation(name)
    if missing is None:
        return
    if not is_wanted and sys.stdin.isatty():
        print_note(f"{name} needs a library that is not installed: {missing.line}")
        is_wanted = typer.confirm("Install it now?", default=True, err=True)
    if is_wanted:
        install(missing)


def _keep(settings: Settings, name: str, no_test: bool) -> None:
    """Try a model, and save it as the one that answers. Raises InputError, ModelError."""
    choose_model(settings, name)
    if name != "none" and not no_test:
        test = asyncio.run(try_model(settings, name))
        print_note(f"{name} answered {fit_line(test.said, 60)!r} after {test.seconds:.1f} s.")
    change = set_setting(get_current_directory(), "llm.model", name)
    print_note(f"Saved to {change.file}.")
    if change.origin != str(change.file):
        print_note(f"But {change.origin} overrides it: {change.value} answers here.")


def show_places(places: Sequence[ModelPlace], current: str) -> list[str]:
    """Show the models, numbered, and how to get more; return the numbered models."""
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
        print_note(f"Available with a key: {keys}.")
    silent = [place.service for place in places if not place.is_ready and place.is_local]
    if silent:
        print_note(f"Not running on this machine: {', '.join(silent)}.")
    return choices


place_to_json = Fields("service local=is_local ready=is_ready models")
