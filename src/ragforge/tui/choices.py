"""Choices: answers below each other, chosen with one key or with the arrows."""

from __future__ import annotations

from collections.abc import Sequence, Set

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import FormattedTextControl, Layout, Window
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import is_dumb_terminal

from ragforge.records import dataclass
from ragforge.show.screen import Signs
from ragforge.tui.keyboard import forget_typed
from ragforge.tui.prompt import ESCAPE_SECONDS, follow_resizing

HINT = "press a key, or choose with the arrows and Enter; Esc: no"
ENTER = "enter"
NO = "escape"
"""What Esc answers."""
STYLE = Style.from_dict({"chosen": "ansicyan bold", "dim": "ansibrightblack"})


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
            style=STYLE,
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
