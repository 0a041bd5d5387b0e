"""Confirm: a question that is answered with a letter."""

from __future__ import annotations

from prompt_toolkit import PromptSession

from ragforge.tui.keyboard import forget_typed


async def ask_for_key(question: str) -> str:
    """Return the answer in small letters; it is empty for Ctrl-C and Ctrl-D.

    What was typed before the question was there is no answer to it.
    """
    asking: PromptSession[str] = PromptSession()
    forget_typed()
    try:
        return (await asking.prompt_async(f"{question} ", handle_sigint=False)).strip().lower()
    except (KeyboardInterrupt, EOFError):
        return ""


async def confirm(question: str) -> bool:
    """Return whether the user says yes. Everything else means no."""
    return await ask_for_key(f"{question} [y/n]") in ("y", "yes")
