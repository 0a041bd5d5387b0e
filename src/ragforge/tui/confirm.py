"""Confirm: a question that is answered with yes or no."""

from __future__ import annotations

from prompt_toolkit import PromptSession
from prompt_toolkit.input.typeahead import clear_typeahead

from ragforge.tui.keyboard import forget_typed


async def confirm(question: str) -> bool:
    """Return whether the user says yes. Ctrl-C, Ctrl-D and everything else mean no.

    What was typed before the question was there is no answer to it.
    """
    asking: PromptSession[str] = PromptSession()
    clear_typeahead(asking.app.input)
    forget_typed()
    try:
        text = await asking.prompt_async(f"{question} [y/n] ", handle_sigint=False)
    except (KeyboardInterrupt, EOFError):
        return False
    return text.strip().lower() in ("y", "yes")
