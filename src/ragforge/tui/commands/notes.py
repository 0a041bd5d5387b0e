"""Notes from the prompt: `# text` keeps a note, `#! text` a rule."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragforge.errors import InputError
from ragforge.show.notes import format_kept
from ragforge.show.sessions import shorten_id

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal

NO_TEXT = (
    "Write what to remember after the #, such as # The tests need Java. "
    "#! keeps it as a rule, which is part of every request."
)
# Several lines are a question, and so is one about #12 or with a heading (##).
_NOTE = re.compile(r"#(?![#\d])(!?)(.*)")


def find_note(text: str) -> tuple[str, bool] | None:
    """Return the note that an input keeps and whether it is a rule, or None for another input."""
    found = _NOTE.fullmatch(text.strip())
    return None if found is None else (found[2].strip(), bool(found[1]))


async def keep_note(terminal: Terminal, text: str, is_rule: bool) -> None:
    """Keep a note of this project, and show what was kept."""
    if not text:
        raise InputError(NO_TEXT)
    notes, screen, session = terminal.app.notes, terminal.screen, terminal.session
    note = await notes.remember(
        text, rule=is_rule, conversation=None if session is None else session.uuid
    )
    linked = await notes.find_corrections(newer=note, linked=True)
    doubtful = await notes.find_corrections(newer=note)
    for line in format_kept(note, linked, doubtful):
        screen.say(line)
    screen.say(f"  {note.text}")
    screen.note(f"ragforge memory forget-note {shorten_id(note.uuid)} deletes it.")
