"""Live input: what the user types and sends while a turn runs."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Literal

from prompt_toolkit.application.current import get_app_session
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.input.typeahead import get_typeahead
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys
from rich.text import Text

from ragforge.records import dataclass
from ragforge.show.console import fit_line, sanitise
from ragforge.show.screen import Screen
from ragforge.show.visible import fold
from ragforge.tui.pastes import Pastes
from ragforge.tui.prompt import ALT_ENTER, ESCAPE_SECONDS

QUIET_SECONDS = 1.0
"""A question to the user waits for this long without a key: the next key is an answer to it."""
SHOWN = 3  # texts that wait
STEERS = "at the next step"
WAITS = "after this turn"
HELD = "A question follows when you stop typing."
PASTES_ON, PASTES_OFF = "\x1b[?2004h", "\x1b[?2004l"


@dataclass(frozen=True, slots=True)
class Sent:
    """A text that was sent during a turn."""

    text: str
    waits: bool  # until the turn has ended; else the model gets it at its next step


class LiveInput:
    """Reads the keyboard during a turn: a line to type in, and the texts sent with it."""

    def __init__(
        self,
        screen: Screen,
        while_working: Literal["steer", "queue"],
        interrupt: Callable[[], None],
    ) -> None:
        self.pastes = Pastes()
        self.remember: Callable[[str], None] = lambda text: None  # for the input history
        self._screen = screen
        self._steers = while_working == "steer"
        self._interrupt = interrupt
        self._line = LineEditor(self.pastes)
        self._sent: list[Sent] = []
        self._redraw: Callable[[], None] | None = None  # None: the keyboard is not read
        self._can_steer = False
        self._is_asked = False  # a question waits until the user stops typing
        self._attached = ExitStack()
        self._flush: asyncio.TimerHandle | None = None
        self._pressed_at = -QUIET_SECONDS
        self._resumed_at = -QUIET_SECONDS

    def take_line(self) -> str:
        """Return what was typed and not sent."""
        return self._line.take()

    def take_all(self) -> str:
        """Return all that was sent and not used yet, and the line."""
        texts = [*(one.text for one in self._sent), self._line.take()]
        self._sent.clear()
        return "\n".join(filter(None, texts))

    def take_next(self) -> str:
        """Return the next text that was sent, or nothing."""
        return self._sent.pop(0).text if self._sent else ""

    def take_steering(self) -> str:
        """Return what the model gets at its next step, or nothing."""
        texts = [one.text for one in self._sent if not one.waits]
        self._sent = [one for one in self._sent if one.waits]
        return "\n".join(texts)

    @contextmanager
    def listen(self, redraw: Callable[[], None], *, can_steer: bool) -> Iterator[None]:
        """Read the keyboard, if the line can be shown; `redraw` shows it as it is now."""
        if not (self._screen.can_redraw and sys.stdin.isatty()):
            yield
            return
        self._redraw, self._can_steer = redraw, can_steer
        self._attach()
        try:
            yield
        finally:
            self._detach()
            self._redraw = None

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Leave the keyboard to a question for a while; what was typed before stays in the line."""
        if self._redraw is None:
            yield
            return
        keyboard = get_app_session().input
        while keys := keyboard.read_keys():
            self._press(keys)
        self._press(keyboard.flush_keys())
        self._detach()
        try:
            yield
        finally:
            self._resumed_at = time.monotonic()
            self._attach()

    async def wait_for_quiet(self) -> None:
        """Return when the user has stopped typing: the next key would answer a question."""
        try:
            while self._redraw and (left := self._count_quiet_seconds()) > 0:
                self._is_asked = True
                self._redraw()
                await asyncio.sleep(left)
        finally:
            self._is_asked = False

    def _count_quiet_seconds(self) -> float:
        """Return how much longer no key may be pressed before a question."""
        return self._pressed_at + QUIET_SECONDS - time.monotonic()

    def render(self, width: int) -> list[Text]:
        """Return the texts that wait and the line, in rows that fit a width."""
        if self._redraw is None:
            return []
        rows = [self._describe(one, width) for one in self._sent[-SHOWN:]]
        if hidden := len(self._sent) - len(rows):
            rows.insert(0, _make_row(f"  … {hidden} before", width))
        if self._is_asked:
            hint = HELD
        elif self._line.text.strip():
            hint = self._explain_keys()
        else:
            hint = "Up takes back what you sent last" if self._sent else ""
        rows += self._line.render(self._screen.signs.prompt, width)
        return [*rows, _make_row(f"  {hint}", width)] if hint else rows

    def _describe(self, one: Sent, width: int) -> Text:
        when = WAITS if one.waits else STEERS
        text = fit_line(one.text, max(width - len(when) - 6, 10))
        return _make_row(f"{self._screen.signs.prompt} {text}  ({when})", width)

    def _explain_keys(self) -> str:
        if not self._may_steer():
            return f"Enter: {WAITS}"
        first, second = (STEERS, WAITS) if self._steers else (WAITS, STEERS)
        return f"Enter: {first} {self._screen.signs.dot} Tab: {second}"

    def _may_steer(self) -> bool:
        """Tell whether the line is for the model: commands wait until the turn has ended."""
        return self._can_steer and self._line.text.lstrip()[:1] not in ("/", "!", "#")

    def _attach(self) -> None:
        self._write(PASTES_ON)
        keyboard = get_app_session().input
        self._attached.enter_context(keyboard.attach(self._read))
        self._press(get_typeahead(keyboard))

    def _detach(self) -> None:
        self._cancel_flush()
        self._attached.close()
        self._write(PASTES_OFF)

    def _write(self, sequence: str) -> None:
        with suppress(OSError):  # the terminal may be gone
            self._screen.out.file.write(sequence)
            self._screen.out.file.flush()

    def _read(self) -> None:
        self._cancel_flush()
        self._press(get_app_session().input.read_keys())
        # An Esc that no other byte follows is the key; until then it may begin an arrow's sequence.
        self._flush = asyncio.get_running_loop().call_later(ESCAPE_SECONDS, self._flush_keys)

    def _flush_keys(self) -> None:
        self._press(get_app_session().input.flush_keys())

    def _cancel_flush(self) -> None:
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None

    def _press(self, keys: Sequence[KeyPress]) -> None:
        """Do what keys mean that came together."""
        keys = [press for press in keys if press.key != Keys.CPRResponse]
        if not keys:
            return
        presses = iter(keys)
        for press in presses:
            if press.key != Keys.Escape:
                self._press_key(press)
            elif (after := next(presses, None)) is None or after.key == Keys.Escape:
                self._interrupt()
            # else Alt and a key: it means nothing here
        self._pressed_at = time.monotonic()
        if self._redraw is not None:
            self._redraw()

    def _press_key(self, press: KeyPress) -> None:
        if press.key == Keys.Enter:
            # Who answers a question with a letter and Enter does not mean the line.
            since = time.monotonic() - self._resumed_at
            if self._pressed_at > self._resumed_at or since > QUIET_SECONDS:
                self._send(self._steers)
        elif press.key == Keys.Tab:
            self._send(not self._steers)
        elif press.key == Keys.Up and self._sent and "\n" not in self._line.text:
            self._line.put_before(self._sent.pop().text)
        else:
            self._line.press(press)

    def _send(self, steer: bool) -> None:
        steer = steer and self._may_steer()
        text = self._line.take()
        if text.strip():
            self._sent.append(Sent(text, waits=not steer))
            self.remember(text)


def _make_row(text: str, width: int) -> Text:
    row = Text(text, style="dim", no_wrap=True)
    row.truncate(width, overflow="ellipsis")
    return row


MAX_ROWS = 5
"""Of a long line: those around the cursor."""
CURSOR = "reverse"
INDENT = "  "


class LineEditor:
    """A line, or several, with a cursor."""

    def __init__(self, pastes: Pastes) -> None:
        self._pastes = pastes
        self._buffer = Buffer(multiline=True)

    @property
    def text(self) -> str:
        return self._buffer.text

    def take(self) -> str:
        """Return the text, and begin an empty line."""
        text = self._buffer.text
        self._buffer.reset()
        return text

    def put_before(self, text: str) -> None:
        """Put a text before the line; the cursor is where it ends."""
        rest = self._buffer.text
        self._buffer.reset()
        self._buffer.insert_text(text)
        if rest:
            self._buffer.insert_text(f"\n{rest}", move_cursor=False)

    def press(self, press: KeyPress) -> bool:
        """Do what a key means; return whether it means anything here."""
        if press.key == Keys.BracketedPaste:
            self._buffer.insert_text(self._pastes.fold(press.data))
        elif (edit := _EDITS.get(press.key)) is not None:
            edit(self._buffer)
        elif press.key in (Keys.Backspace, Keys.ControlH):
            sign = self._pastes.find_sign_before(self._buffer.document.text_before_cursor)
            self._buffer.delete_before_cursor(max(len(sign), 1))
        elif len(press.key) == 1 and press.key.isprintable():
            self._buffer.insert_text(press.key)
        else:
            return False
        return True

    def render(self, sign: str, width: int) -> list[Text]:
        """Return the line with its cursor, in rows that fit a width."""
        document = self._buffer.document
        before, after = document.text_before_cursor, document.text_after_cursor
        # A line end or nothing has no cell that the cursor could be on.
        at, rest = (" ", after) if after[:1] in ("", "\n") else (after[0], after[1:])
        shown = Text(sanitise(before))
        shown.append(sanitise(at), CURSOR).append(sanitise(rest))
        rows: list[Text] = []
        cursor_row = 0
        for line in shown.split("\n", allow_blank=True):
            for row in fold(line, max(width - len(INDENT), 1)):
                if any(span.style == CURSOR for span in row.spans):
                    cursor_row = len(rows)
                rows.append(Text.assemble(INDENT if rows else (f"{sign} ", "cyan"), row))
        first = max(0, min(cursor_row - MAX_ROWS // 2, len(rows) - MAX_ROWS))
        return rows[first : first + MAX_ROWS]


def _delete(buffer: Buffer) -> None:
    buffer.delete()


def _delete_to_start(buffer: Buffer) -> None:
    buffer.delete_before_cursor(-buffer.document.get_start_of_line_position())


def _delete_to_end(buffer: Buffer) -> None:
    buffer.delete(buffer.document.get_end_of_line_position())


def _delete_word(buffer: Buffer) -> None:
    back = buffer.document.find_start_of_previous_word(WORD=True)
    buffer.delete_before_cursor(buffer.cursor_position if back is None else -back)


def _go(find: Callable[[Buffer], int | None]) -> Callable[[Buffer], None]:
    def move(buffer: Buffer) -> None:
        buffer.cursor_position += find(buffer) or 0

    return move


_LEFT = _go(lambda buffer: buffer.document.get_cursor_left_position())
_RIGHT = _go(lambda buffer: buffer.document.get_cursor_right_position())
_HOME = _go(lambda buffer: buffer.document.get_start_of_line_position())
_END = _go(lambda buffer: buffer.document.get_end_of_line_position())
_EDITS: Mapping[str, Callable[[Buffer], None]] = {
    ALT_ENTER: lambda buffer: buffer.insert_text("\n"),
    Keys.ControlJ: lambda buffer: buffer.insert_text("\n"),
    Keys.Left: _LEFT,
    Keys.ControlB: _LEFT,
    Keys.Right: _RIGHT,
    Keys.ControlF: _RIGHT,
    Keys.Home: _HOME,
    Keys.ControlA: _HOME,
    Keys.End: _END,
    Keys.ControlE: _END,
    Keys.Up: lambda buffer: buffer.cursor_up(),
    Keys.Down: lambda buffer: buffer.cursor_down(),
    Keys.ControlLeft: _go(lambda buffer: buffer.document.find_previous_word_beginning()),
    Keys.ControlRight: _go(lambda buffer: buffer.document.find_next_word_ending()),
    Keys.Delete: _delete,
    Keys.ControlD: _delete,
    Keys.ControlU: _delete_to_start,
    Keys.ControlK: _delete_to_end,
    Keys.ControlW: _delete_word,
}
