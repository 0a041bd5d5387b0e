"""Back to before a turn: /rewind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.errors import InputError
from ragforge.show.calls import format_count
from ragforge.show.console import fit_words
from ragforge.show.sessions import shorten_id
from ragforge.tui.choices import ask_for_key
from ragforge.tui.commands.command import Command, require_session
from ragforge.tui.picker import Picker

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples

    from ragforge.app.features.session_edits import ListedTurn
    from ragforge.tui.terminal import Terminal

QUESTION_CHARS = 60
USAGE = (
    "/rewind N goes back to before turn N, with the files that were edited since; "
    "/rewind N talk or /rewind N files goes back in one of them."
)


async def rewind(terminal: Terminal, argument: str) -> None:
    session = require_session(terminal)
    argument = argument or await _choose(terminal, session.uuid)
    if not argument:
        terminal.screen.note(f"Nothing was rewound. {USAGE}")
        return
    number, _, what = argument.partition(" ")
    what = what.strip()
    if not number.isdecimal() or what not in ("", "talk", "files"):
        raise InputError(USAGE)
    edits = await terminal.app.edits(session.uuid)
    done = await edits.rewind(int(number), talk=what != "files", files=what != "talk")
    screen = terminal.screen
    for change in done.files:
        screen.say(f"{change.path} is as it was before turn {number}.")
    if not done.files and what != "talk":
        screen.say("No file was edited since.")
    if what == "files":
        return
    terminal.session, terminal.receipt = done.session, None
    terminal.draft = done.question
    where = f"ragforge -r {shorten_id(session.uuid)}"
    screen.say(f"This is before turn {number}. What followed is kept: {where}")


async def _choose(terminal: Terminal, session_id: str) -> str:
    """Let the user pick a turn and what goes back; return it as it would be typed, or nothing."""
    turns = await (await terminal.app.edits(session_id)).list_turns()
    picker = Picker(turns[::-1], terminal.screen.signs, format_turn, filter_turns, "goes before it")
    found = await picker.pick()
    if found is None:
        return ""
    number = f"{found.turn.user.turn_index}"
    if not found.files:
        return f"{number} talk"
    terminal.screen.say(f"Before turn {_describe_turn(found)}")
    word = await ask_for_key("Talk and files (b), talk alone (t), files alone (f), neither (n)?")
    meanings = {"b": number, "t": f"{number} talk", "f": f"{number} files"}
    return meanings.get(word, "")


def format_turn(one: ListedTurn, width: int) -> StyleAndTextTuples:
    """Return a turn on one line: its number, its question, and how much was edited since."""
    since = _count_edited(one)
    asked = fit_words(one.turn.user.content, max(width - len(since) - 8, 10))
    number = ("class:dim", f"{one.turn.user.turn_index:>4}  ")
    return [number, ("", asked), ("class:dim", f"  {since}")]


def _describe_turn(one: ListedTurn) -> str:
    asked = fit_words(one.turn.user.content, QUESTION_CHARS)
    return f"{one.turn.user.turn_index}: {asked}  {_count_edited(one)}".rstrip()


def _count_edited(one: ListedTurn) -> str:
    many = format_count(len(one.files), "file", "files")
    return f"({many} edited since)" if one.files else ""


def filter_turns(turns: Sequence[ListedTurn], typed: str) -> list[ListedTurn]:
    """Return the turns whose number, question or files hold every word."""
    words = typed.lower().split()
    return [
        one
        for one in turns
        if all(word in f"{_describe_turn(one)} {' '.join(one.files)}".lower() for word in words)
    ]


COMMANDS = (
    Command("rewind", "[TURN] [talk|files]", "Back to before a turn: talk and files", rewind),
)
