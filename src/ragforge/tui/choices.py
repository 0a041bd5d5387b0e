"""Choices: answers below each other, chosen with the arrows or by typing their key."""

from __future__ import annotations

from collections.abc import Sequence

from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.styles import Style

from ragforge.records import dataclass
from ragforge.show.screen import Signs
from ragforge.tui.keyboard import forget_typed

HINT = "choose with the arrows and Enter, or type"
STYLE = Style.from_dict({"chosen": "ansicyan bold", "dim": "ansibrightblack"})


@dataclass(frozen=True, slots=True)
class Choice:
    """An answer, with its key and the rows that explain it."""

    key: str
    rows: tuple[str, ...]


class ChoicePrompt:
    """Asks a question with a list of answers.

    At first none of them is chosen, so Enter does nothing.
    """

    def __init__(self, question: str, choices: Sequence[Choice], signs: Signs) -> None:
        """Without choices, an answer is typed."""
        self._question = question
        self._choices = choices
        self._signs = signs
        self._at: int | None = None
        self._session: PromptSession[str] = PromptSession(
            key_bindings=self._bind_keys(), style=STYLE, erase_when_done=bool(choices)
        )
        self._session.default_buffer.on_text_changed += lambda _: self._leave_list()

    async def ask(self) -> str:
        """Return what was typed, or the key of the answer that was chosen.

        Raises EOFError for Ctrl-D, KeyboardInterrupt for Ctrl-C.
        """
        typed = await self._session.prompt_async(self._format, handle_sigint=False)
        return typed if typed.strip() or self._at is None else self._choices[self._at].key

    def _format(self) -> StyleAndTextTuples:
        rows: StyleAndTextTuples = []
        for at, choice in enumerate(self._choices):
            is_chosen = at == self._at
            for number, row in enumerate(choice.rows):
                lead = f"{self._signs.prompt} " if is_chosen and not number else "  "
                rows.append(("class:chosen" if is_chosen else "", f"{lead}{row}\n"))
        if rows:
            rows.append(("class:dim", f"  {HINT}\n"))
        return [*rows, ("bold", f"{self._question} ")]

    def _leave_list(self) -> None:
        if self._session.default_buffer.text:
            self._at = None

    def _move(self, by: int) -> None:
        many = len(self._choices)
        if self._at is None:
            self._at = 0 if by > 0 else many - 1
        else:
            self._at = (self._at + by) % many
        self._session.default_buffer.reset()

    def _bind_keys(self) -> KeyBindings:
        keys = KeyBindings()
        for key, by in {"up": -1, "down": 1, "c-p": -1, "c-n": 1}.items():

            @keys.add(key)
            def _(event: KeyPressEvent, by: int = by) -> None:
                if self._choices:
                    self._move(by)

        return keys


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
