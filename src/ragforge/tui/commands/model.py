"""/model: who answers; pick another model, or keep the one that answers now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.app.features.configure import set_setting
from ragforge.app.features.model_choice import find_models
from ragforge.app.wiring.models import NO_CHAT_MODEL
from ragforge.show.console import fit_line
from ragforge.tui.commands.command import Command

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples

    from ragforge.tui.terminal import Terminal

NONE = "none"


async def model(terminal: Terminal, argument: str) -> None:
    current = terminal.app.model
    if argument == "save":
        change = set_setting(terminal.app.cwd, "llm.model", current or NONE)
        terminal.screen.say(f"{current or 'No model'} answers in later sessions: {change.file}")
        return
    name = argument or await _pick(terminal)
    if not name:
        terminal.screen.say(f"{current} answers." if current else NO_CHAT_MODEL)
        return
    terminal.app = terminal.app.with_model(name)
    now = terminal.app.model
    terminal.screen.say(f"{now} answers from now on." if now else "No model answers from now on.")
    terminal.screen.note("/model save keeps it for later sessions.")


async def _pick(terminal: Terminal) -> str:
    """Return the model that the user picks among those that can be asked, or nothing."""
    from ragforge.tui.picker import Picker  # slow to load

    places = await find_models()
    models = [name for place in places if place.is_ready for name in place.models]
    if not models:
        return ""
    current = terminal.app.model

    def format_model(name: str, width: int) -> StyleAndTextTuples:
        shown = fit_line(name, width)
        return [("", shown), ("class:dim", "  answers now" if name == current else "")]

    picked = await Picker(
        [*models, NONE], terminal.screen.signs, format_model, filter_models, "lets it answer"
    ).pick()
    return picked or ""


def filter_models(models: Sequence[str], typed: str) -> list[str]:
    """Return the models whose names hold every word."""
    words = typed.lower().split()
    return [name for name in models if all(word in name.lower() for word in words)]


COMMANDS = (
    Command("model", "[NAME|save]", "Pick who answers; save keeps it for later sessions", model),
)
