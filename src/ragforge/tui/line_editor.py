"""The line editor: the line that is typed while a turn runs, and the keys that change it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys
from rich.text import Text

from ragforge.show.console import sanitise
from ragforge.show.visible import fold
from ragforge.tui.pastes import Pastes
from ragforge.tui.prompt import ALT_ENTER

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
