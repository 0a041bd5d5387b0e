"""Choices: one of a few with a key, or one of many by typing a few words."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence, Set
from typing import Generic, TypeVar

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth, is_dumb_terminal

from ragforge.app import App
from ragforge.app.features.sessions import SessionLine
from ragforge.domain.conversations import Conversation, name_other_agent
from ragforge.domain.instants import now
from ragforge.records import dataclass
from ragforge.show.console import fit_line, fit_words
from ragforge.show.screen import Signs
from ragforge.show.sessions import NO_TITLE, count_turns, format_age
from ragforge.tui.keyboard import forget_typed
from ragforge.tui.prompt import ESCAPE_SECONDS, follow_resizing

MAX_ROWS = 15
NUMBER_CELLS = 5
MAX_SESSIONS = 10_000
T = TypeVar("T")
AGE_CELLS = 11
TURN_CELLS = 9
TITLE_CELLS = 60
MIN_CELLS = 15
"""Of a text that is worth its place."""
STYLE = Style.from_dict(
    {
        "lead": "ansicyan bold",
        "chosen": "bold",
        "agent": "ansimagenta",
        "branch": "ansigreen",
        "dim": "ansibrightblack",
    }
)


def format_session(line: SessionLine, width: int) -> StyleAndTextTuples:
    """Return a session on one line: its age and length, its title, whose it is, what about.

    Where it has no summary yet, what was said last. No word is cut.
    """
    about = line.conversation
    age, turns = format_age(about.updated_at, now()), count_turns(about)
    parts: StyleAndTextTuples = [("class:dim", f"{age:<{AGE_CELLS}} {turns:>{TURN_CELLS}}  ")]
    room = max(width - AGE_CELLS - TURN_CELLS - 3, MIN_CELLS)
    said = about.summary or line.last_message
    for style, text in (
        ("", fit_words(about.title or NO_TITLE, min(room, TITLE_CELLS))),
        ("class:agent", fit_line(name_other_agent(about.agent), 20)),
        ("class:branch", fit_line(about.git_branch or "", 30)),
        ("class:dim", said),
    ):
        shown = fit_words(text, room)
        if not shown or (style and room < MIN_CELLS):
            continue
        parts.append((style, f"{shown}  "))
        room -= get_cwidth(shown) + 2
    return parts


def join_session(line: SessionLine) -> str:
    """Return what a session is searched by: title, summary, last message, date, id, tags."""
    about = line.conversation
    texts = (about.title or "", about.summary or "", line.last_message, about.uuid, *about.tags)
    return f"{' '.join(texts)} {about.updated_at:%Y-%m-%d %H:%M}"


def filter_lines(lines: Sequence[T], typed: str, get_text: Callable[[T], str] = str) -> list[T]:
    """Return the lines whose text holds every word."""
    words = typed.lower().split()
    texts = [get_text(line).lower() for line in lines]
    return [
        line for line, text in zip(lines, texts, strict=True) if all(word in text for word in words)
    ]


class Picker(Generic[T]):
    """A list that gets shorter as the user types. Arrows move, Enter selects, Esc leaves."""

    def __init__(
        self,
        lines: Sequence[T],
        signs: Signs,
        format_line: Callable[[T, int], StyleAndTextTuples],
        purpose: str,  # what Enter does
        get_text: Callable[[T], str] = str,  # what a line is searched by
    ) -> None:
        self._lines = lines
        self._format = format_line
        self._get_text = get_text
        self._purpose = purpose
        self._found = list(lines)
        self._at = 0
        self._signs = signs
        self._typed = Buffer(multiline=False, on_text_changed=lambda _: self._search())
        self.app: Application[T | None] = Application(
            layout=Layout(
                HSplit(
                    [
                        Window(
                            BufferControl(self._typed, [BeforeInput("Search: ", "class:lead")]),
                            height=1,
                        ),
                        Window(FormattedTextControl(self._rows), height=self._height),
                        Window(FormattedTextControl(self._foot), height=1),
                    ]
                )
            ),
            key_bindings=self._keys(),
            style=STYLE,
            erase_when_done=True,
        )

    async def pick(self) -> T | None:
        """Return what the user chose, or None."""
        if self._signs.is_plain:
            return await self._pick_by_number()
        return await self.app.run_async(handle_sigint=False)

    async def _pick_by_number(self) -> T | None:
        """Write a list and ask for a number: nothing is drawn again for a screen reader."""
        width = shutil.get_terminal_size().columns - NUMBER_CELLS
        while True:
            shown = self._found[:MAX_ROWS]
            for number, line in enumerate(shown, 1):
                text = "".join(text for _, text, *_ in self._format(line, width)).rstrip()
                sys.stdout.write(f"{number}  {text}\n")
            many = f"{len(shown)} of {len(self._lines)}"
            sys.stdout.write(f"{many}. A number {self._purpose}, words search, Enter leaves.\n")
            typed = await ask_for_key("Number or words:")
            if not typed:
                return None
            if typed.isdecimal() and 1 <= int(typed) <= len(shown):
                return shown[int(typed) - 1]
            self._found = filter_lines(self._lines, typed, self._get_text)

    def _search(self) -> None:
        self._found = filter_lines(self._lines, self._typed.text, self._get_text)
        self._at = 0

    def _height(self) -> int:
        room = max(1, self.app.output.get_size().rows - 3)
        return max(1, min(len(self._lines), room, MAX_ROWS))

    def _rows(self) -> StyleAndTextTuples:
        height, width = self._height(), self.app.output.get_size().columns
        top = max(0, min(self._at - height // 2, len(self._found) - height))
        rows: StyleAndTextTuples = []
        for number, line in enumerate(self._found[top : top + height], top):
            is_chosen = number == self._at
            lead = f"{self._signs.prompt} " if is_chosen else "  "
            rows.append(("class:lead", lead))
            also = " class:chosen" if is_chosen else ""
            for style, text, *_ in self._format(line, max(width - len(lead) - 1, 10)):
                rows.append((style + also, text))
            rows.append(("", "\n"))
        return rows or [("class:dim", "  Nothing fits.")]

    def _foot(self) -> StyleAndTextTuples:
        many = f"{len(self._found)} of {len(self._lines)}"
        return [("class:dim", f"  {many}  Enter {self._purpose}, Esc leaves")]

    def _move(self, by: int) -> None:
        self._at = max(0, min(self._at + by, len(self._found) - 1))

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        steps = {"up": -1, "down": 1, "c-p": -1, "c-n": 1, "pageup": -10, "pagedown": 10}
        for key, by in steps.items():

            @keys.add(key)
            def _(event: KeyPressEvent, by: int = by) -> None:
                self._move(by)

        @keys.add("enter")
        def _(event: KeyPressEvent) -> None:
            if self._found:
                event.app.exit(result=self._found[self._at])

        @keys.add("escape", eager=True)
        @keys.add("c-c")
        @keys.add("c-d")
        def _(event: KeyPressEvent) -> None:
            event.app.exit(result=None)

        return keys


async def pick(app: App, here: Sequence[Conversation], signs: Signs) -> Conversation | None:
    """Let the user choose one of some sessions."""
    lines = await app.sessions.add_last_messages(here)
    found = await Picker(lines, signs, format_session, "resumes", join_session).pick()
    return None if found is None else found.conversation


HINT = "press a key, or choose with the arrows and Enter; Esc: no"
ENTER = "enter"
NO = "escape"
"""What Esc answers."""
CHOICES_STYLE = Style.from_dict({"chosen": "ansicyan bold", "dim": "ansibrightblack"})


@dataclass(frozen=True, slots=True)
class Choice:
    """An answer, with its key and the rows that explain it."""

    key: str
    rows: tuple[str, ...]


class ChoicePrompt:
    """Asks a question that one key answers.

    At first none of the listed answers is chosen, so Enter does nothing unless it is a key.
    """

    def __init__(
        self, question: str, choices: Sequence[Choice], signs: Signs, keys: Sequence[str] = ()
    ) -> None:
        """`keys` answer, too; ENTER is one of them if Enter without a choice does."""
        self._question = question
        self._choices = choices
        self._signs = signs
        self._at: int | None = None
        control = FormattedTextControl(self._format, focusable=True)
        self._app: Application[str] = Application(
            layout=Layout(Window(control, wrap_lines=True, dont_extend_height=True)),
            key_bindings=self._bind_keys({*keys, *(choice.key for choice in choices)}),
            style=CHOICES_STYLE,
            erase_when_done=True,
        )
        self._app.ttimeoutlen = ESCAPE_SECONDS
        follow_resizing(self._app)

    async def ask(self) -> str:
        """Return the key, or the one of the answer that was chosen, or NO for Esc.

        A dumb terminal, and one for a screen reader, has no keys: the text that was typed is
        returned.
        Raises EOFError for Ctrl-D, KeyboardInterrupt for Ctrl-C.
        """
        if is_dumb_terminal() or self._signs.is_plain:
            typing: PromptSession[str] = PromptSession()
            return (await typing.prompt_async(self._format(), handle_sigint=False)).strip()
        return await self._app.run_async(handle_sigint=False)

    def _format(self) -> StyleAndTextTuples:
        rows: StyleAndTextTuples = []
        for at, choice in enumerate(self._choices):
            is_chosen = at == self._at
            for number, row in enumerate(choice.rows):
                lead = f"{self._signs.prompt} " if is_chosen and not number else "  "
                rows.append(("class:chosen" if is_chosen else "", f"{lead}{row}\n"))
        if rows:
            rows.append(("class:dim", f"  {HINT}\n"))
        return [*rows, ("bold", f"{self._question} "), ("[SetCursorPosition]", " ")]

    def _move(self, by: int) -> None:
        if not self._choices:
            return
        many = len(self._choices)
        if self._at is None:
            self._at = 0 if by > 0 else many - 1
        else:
            self._at = (self._at + by) % many

    def _bind_keys(self, keys: Set[str]) -> KeyBindings:
        bound = KeyBindings()
        for key in keys - {ENTER}:

            @bound.add(key)
            def _(event: KeyPressEvent, key: str = key) -> None:
                event.app.exit(result=key)

        @bound.add("enter")
        def _(event: KeyPressEvent) -> None:
            if self._at is not None:
                event.app.exit(result=self._choices[self._at].key)
            elif ENTER in keys:
                event.app.exit(result=ENTER)

        for arrow, by in {"up": -1, "down": 1, "c-p": -1, "c-n": 1}.items():

            @bound.add(arrow)
            def _(event: KeyPressEvent, by: int = by) -> None:
                self._move(by)

        @bound.add("escape", eager=True)
        def _(event: KeyPressEvent) -> None:
            event.app.exit(result=NO)

        @bound.add("c-c")
        def _(event: KeyPressEvent) -> None:
            event.app.exit(exception=KeyboardInterrupt)

        @bound.add("c-d")
        def _(event: KeyPressEvent) -> None:
            event.app.exit(exception=EOFError)

        return bound


async def ask_for_text(question: str, *, erase: bool = False) -> str:
    """Return a line; it is empty for Esc. Raises EOFError, KeyboardInterrupt."""
    keys = KeyBindings()

    @keys.add("escape", eager=True)
    def _(event: KeyPressEvent) -> None:
        event.app.exit(result="")

    asking: PromptSession[str] = PromptSession(key_bindings=keys, erase_when_done=erase)
    asking.app.ttimeoutlen = ESCAPE_SECONDS
    return (await asking.prompt_async(f"{question} ", handle_sigint=False)).strip()


async def ask_for_key(question: str) -> str:
    """Return the answer in small letters; it is empty for Esc, Ctrl-C and Ctrl-D.

    What was typed before the question was there is no answer to it.
    """
    forget_typed()
    try:
        return (await ask_for_text(question)).lower()
    except (KeyboardInterrupt, EOFError):
        return ""


async def confirm(question: str) -> bool:
    """Return whether the user says yes. Everything else means no."""
    return await ask_for_key(f"{question} [y/n]") in ("y", "yes")
