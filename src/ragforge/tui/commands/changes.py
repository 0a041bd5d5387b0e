"""Commands about changed files: /diff, /undo, /rewind, /commit, /init."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from ragforge.app.features.draft_instructions import AGENTS_FILE, save_instructions, word_task
from ragforge.errors import InputError
from ragforge.show.calls import count_changes, format_count
from ragforge.show.console import fit_words
from ragforge.show.diffs import format_diff
from ragforge.show.sessions import shorten_id
from ragforge.show.visible import make_visible
from ragforge.tui.commands.command import Command, require_session
from ragforge.tui.picker import Picker, ask_for_key, confirm

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples

    from ragforge.app.features.session_edits import ListedTurn
    from ragforge.tui.terminal import Terminal

QUESTION_CHARS = 60
REWIND_USAGE = (
    "/rewind N returns to before turn N, and restores the files edited since; "
    "/rewind N talk or /rewind N files does only one of them."
)

ROWS = 400
"""Maximum for one file."""
MIXED = "also changed by another program or user"


async def diff(terminal: Terminal, argument: str) -> None:
    edits = await terminal.app.edits(require_session(terminal).uuid)
    screen = terminal.screen
    found = await edits.list_changes()
    if not found:
        screen.say("This session has changed no file.")
    for one in found:
        text = one.change.whole_diff
        head = Text(f"{make_visible(one.change.path)}  {count_changes(text)}", style="bold")
        if one.is_mixed:
            head.append(f"  ({MIXED})", style="yellow")
        screen.out.print(head)
        rows = format_diff(text, one.change.path, screen.out, screen.out.width - 1)
        for row in rows[:ROWS]:
            screen.out.print(row)
        if hidden := len(rows[ROWS:]):
            screen.note(f"… {format_count(hidden, 'more line', 'more lines')}: !git diff shows all")


async def undo(terminal: Terminal, argument: str) -> None:
    undone = await terminal.app.undo(require_session(terminal).uuid)
    terminal.screen.say(f"{undone.file} is as it was before.")
    out = terminal.screen.out
    for row in format_diff(undone.diff, undone.file, out, out.width - 1):
        out.print(row)


async def rewind(terminal: Terminal, argument: str) -> None:
    session = require_session(terminal)
    argument = argument or await _choose(terminal, session.uuid)
    if not argument:
        terminal.screen.note(f"Nothing was rewound. {REWIND_USAGE}")
        return
    number, _, what = argument.partition(" ")
    what = what.strip()
    if not number.isdecimal() or what not in ("", "talk", "files"):
        raise InputError(REWIND_USAGE)
    edits = await terminal.app.edits(session.uuid)
    done = await edits.rewind(int(number), talk=what != "files", files=what != "talk")
    screen = terminal.screen
    for change in done.files:
        screen.say(f"{change.path} is as it was before turn {number}.")
    if not done.files and what != "talk":
        screen.say("No file was edited after that turn.")
    if what == "files":
        return
    terminal.session, terminal.receipt = done.session, None
    terminal.draft = done.question
    where = f"ragforge -r {shorten_id(session.uuid)}"
    screen.say(f"You are before turn {number} now. The later turns are kept: {where}")


async def _choose(terminal: Terminal, session_id: str) -> str:
    """Let the user pick a turn and what to rewind; return it as it would be typed, or nothing."""
    turns = await (await terminal.app.edits(session_id)).list_turns()
    signs = terminal.screen.signs
    picker = Picker(turns[::-1], signs, format_turn, "returns to before it", join_turn)
    found = await picker.pick()
    if found is None:
        return ""
    number = f"{found.turn.user.turn_index}"
    if not found.files:
        return f"{number} talk"
    terminal.screen.say(f"Before turn {_describe_turn(found)}")
    word = await ask_for_key("Talk and files (b), only talk (t), only files (f), neither (n)?")
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


def join_turn(one: ListedTurn) -> str:
    """Return what a turn is searched by: number, question and files."""
    return f"{_describe_turn(one)} {' '.join(one.files)}"


async def commit(terminal: Terminal, argument: str) -> None:
    session, screen = require_session(terminal), terminal.screen
    if terminal.app.model and not argument:
        screen.note(f"{terminal.app.model} drafts a message …")
    draft = await terminal.app.draft_commit(session.uuid, argument)
    for line in draft.message.split("\n"):
        screen.say(f"{screen.signs.bar} {line}")
    for file in draft.files:
        screen.say(f"  {make_visible(file)}")
    if await confirm("Commit these files with this message?"):
        screen.say((await terminal.app.commit(session.uuid, draft)).rstrip())
    else:
        screen.say("Nothing was committed. /commit MESSAGE uses your own message.")


async def init(terminal: Terminal, argument: str) -> None:
    """Let the model write AGENTS.md in a turn; without a model, offer the draft."""
    app, screen = terminal.app, terminal.screen
    draft = await app.code.draft_instructions()
    if app.model is not None:
        await terminal.ask(word_task(draft, argument))
        return
    for line in draft.splitlines():
        screen.say(f"{screen.signs.bar} {line}")
    if await confirm(f"Write this to {AGENTS_FILE}?"):
        save_instructions(app.project_path, draft)
        screen.say(f"{AGENTS_FILE} is written.")
    else:
        screen.say("Nothing was written.")


COMMANDS = (
    Command("undo", "", "Revert the last change of a file", undo),
    Command("diff", "", "All file changes of this session", diff),
    Command("rewind", "[TURN] [talk|files]", "Return to before a turn: talk and files", rewind),
    Command("commit", "[MESSAGE]", "Commit the files that this session changed", commit),
    Command(
        "init", "[WISHES]", "Draft AGENTS.md from the code of this project", init, is_turn=True
    ),
)
