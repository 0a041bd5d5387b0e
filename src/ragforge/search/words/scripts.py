"""Scripts: split text beyond ASCII into runs of letters, and those into words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from ragforge.patterns import compile_on_use

# Vowel signs and other marks are parts of words, although `\w` does not include them.
MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e4\u0900-\u0963\u0966-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc"
    "\u0ec8-\u0ece\u0f71-\u0f84\u102b-\u103e\u17b4-\u17d3\u3099\u309a"
)
_ACCENT = compile_on_use("[\u0300-\u036f]")
_LETTERS = str.maketrans(
    {
        **{"œ": "oe", "Œ": "Oe", "æ": "ae", "Æ": "Ae", "ß": "ss", "ẞ": "SS", "ø": "o", "Ø": "O"},
        **{"ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ı": "i"},
    }
)
"""Letters that are not a letter with an accent, and what replaces them."""
_WITHOUT = dict.fromkeys(_LETTERS)

_CHINESE_JAPANESE = (
    "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U000323af"
)
_KOREAN = "\uac00-\ud7a3"
_SOUTH_EAST_ASIAN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"


# Compiled when they are needed: most processes see ASCII only.
@cache
def _compile_run() -> re.Pattern[str]:
    return re.compile(rf"[\w{MARKS}]+")


@cache
def _compile_unspaced() -> re.Pattern[str]:
    return re.compile(f"[{_CHINESE_JAPANESE}]+|[{_KOREAN}]+|[{_SOUTH_EAST_ASIAN}]+")


@cache
def _compile_ideograph() -> re.Pattern[str]:
    """Return the characters that are words by themselves."""
    return re.compile(f"[{_CHINESE_JAPANESE}{_KOREAN}]")


def split_runs(text: str) -> list[str]:
    """Return the runs of letters, digits and `_` of a text."""
    return _compile_run().findall(unicodedata.normalize("NFKC", text))


def fold(text: str) -> str:
    """Return a text without accents and ligatures."""
    if text.isascii():
        return text
    plain = text.translate(_LETTERS)
    if plain != text and text.translate(_WITHOUT).isupper():  # ß has hardly ever a capital
        plain = plain.upper()
    apart = strip_accents(plain)
    return unicodedata.normalize("NFC", apart)


def strip_accents(text: str) -> str:
    """Return a text without accents, its signs taken apart (NFKD)."""
    if text.isascii():
        return text
    return _ACCENT.sub("", unicodedata.normalize("NFKD", text))


def split_by_script(run: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a run without accents, each with whether its script has spaces."""
    run = fold(run)
    position = 0
    for unspaced in _compile_unspaced().finditer(run):
        if position < unspaced.start():
            yield run[position : unspaced.start()], True
        yield unspaced.group(), False
        position = unspaced.end()
    if position < len(run):
        yield run[position:], True


def make_pairs(stretch: str, searching: bool) -> Iterator[str]:
    """Yield overlapping pairs of characters, and single ones that may be a query by themselves."""
    yield from (stretch[i : i + 2] for i in range(len(stretch) - 1))
    if not searching or len(stretch) == 1:
        yield from _compile_ideograph().findall(stretch)
