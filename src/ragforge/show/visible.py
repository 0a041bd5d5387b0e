"""Visible: text with every invisible character spelt out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

NEWLINE = "⏎"
MARK = "reverse"
"""The style of the sign for a character, so that plain text cannot imitate it."""
# Invisible, although they are letters or marks.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_SUSPECT = re.compile(r"[^\x20-\x7e]")


def make_visible(text: str, newline: str = NEWLINE) -> str:
    """Return text on one line: newlines as a sign, and what cannot be seen as its number.

    Controls, zero-width characters, those that turn the direction of a text round, variation
    selectors, tags and unusual blanks: none of them may hide what a line says.
    """
    return _SUSPECT.sub(lambda found: _spell(found[0], newline), text)


def style_visible(text: str, newline: str = NEWLINE, style: str = "") -> Text:
    """Return the same with the signs set off from the text."""
    from rich.text import Text

    shown = Text(style=style)
    end = 0
    for found in _SUSPECT.finditer(text):
        if (sign := _spell(found[0], newline)) != found[0]:
            shown.append(text[end : found.start()]).append(sign, MARK)
            end = found.end()
    return shown.append(text[end:])


def fold(line: Text, width: int) -> list[Text]:
    """Return a line as rows of at most `width` cells; nothing is left out, blanks neither."""
    return list(line.divide(_find_breaks(line.plain, width)))


def _find_breaks(text: str, width: int) -> Iterator[int]:
    if text.isascii():
        yield from range(width, len(text), width)
        return
    from rich.cells import cell_len

    used = 0
    for at, character in enumerate(text):
        cells = cell_len(character)
        if used + cells > width and at:
            yield at
            used = 0
        used += cells


@lru_cache(maxsize=4_096)
def _spell(character: str, newline: str) -> str:
    """Return a character, or its number if it is invisible."""
    if character == "\n":
        return newline
    category = unicodedata.category(character)
    hidden = category[0] in "CZ" or character in _BLANK or _is_selector(ord(character))
    return f"<U+{ord(character):04X}>" if hidden else character


def _is_selector(number: int) -> bool:
    return 0xFE00 <= number <= 0xFE0F or 0xE0000 <= number <= 0xE0FFF or 0x180B <= number <= 0x180F
