"""Unspaced: detect Chinese and Japanese, and split their text into known words.

Both are written without spaces. At each place the longest known word is taken; what lies between
known words is kept as a whole. In Japanese, hiragana between them is grammar and left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

CHINESE, JAPANESE = "chinese", "japanese"
UNSPACED = frozenset((CHINESE, JAPANESE))

_IDEOGRAPHS = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_LONG_VOWEL = "ー"


def holds_unspaced(text: str) -> bool:
    """Tell whether a text holds characters of Chinese or Japanese."""
    return not text.isascii() and _compile(f"[{_IDEOGRAPHS}\u3041-\u30ff]").search(text) is not None


def detect_unspaced(text: str) -> str | None:
    """Return `chinese` or `japanese` if a text has more of their characters than Latin words."""
    if text.isascii():
        return None
    kana = len(_compile("[\u3041-\u3096\u30a1-\u30fa]").findall(text))
    signs = kana + len(_compile(f"[{_IDEOGRAPHS}]").findall(text))
    if not signs or signs < len(_compile("[A-Za-z]+").findall(text)):
        return None
    return JAPANESE if kana else CHINESE


class Segmenter:
    """Splits the text of one language by its known words."""

    def __init__(self, words: Iterable[str], language: str) -> None:
        self._words = frozenset(words)
        self._is_japanese = language == JAPANESE
        lengths: dict[str, set[int]] = defaultdict(set)
        for word in self._words:
            lengths[word[0]].add(len(word))
        self._lengths = {first: sorted(some, reverse=True) for first, some in lengths.items()}

    def split(self, runs: Iterable[str]) -> list[str]:
        """Return the words of runs of letters; what is in another script stays as it is."""
        return [word for run in runs for word in self._split(run)]

    def _split(self, run: str) -> Iterator[str]:
        fits = self._find_fits(run)
        place = start = 0
        while place < len(run):
            size = self._measure_word(run, place, fits)
            if not size:
                place += self._measure_unknown(run, place)
                continue
            yield from self._cut_unknown(run[start:place])
            yield run[place : place + size]
            start = place = _skip_long_vowel(run, place + size)
        yield from self._cut_unknown(run[start:])

    def _find_fits(self, run: str) -> list[bool]:
        """Return for each place whether known words lead from there to the end of the katakana."""
        if not self._is_japanese:
            return []
        fits = [True] * (len(run) + 1)
        for place in range(len(run) - 1, -1, -1):
            if _is_katakana(run[place]):
                fits[place] = self._measure_word(run, place, fits) > 0
        return fits

    def _measure_word(self, run: str, place: int, fits: Sequence[bool]) -> int:
        """Return the length of the longest known word at a place, or 0."""
        for size in self._lengths.get(run[place], ()):
            end = place + size
            if (
                end <= len(run)
                and run[place:end] in self._words
                and (not self._is_japanese or _is_whole(run, place, end, fits))
            ):
                return size
        return 0

    def _measure_unknown(self, run: str, place: int) -> int:
        """Return how much is unknown at a place: all katakana together, else one character."""
        found = _compile("[\u30a1-\u30fc]+").match(run, place) if self._is_japanese else None
        return found.end() - place if found else 1

    def _cut_unknown(self, stretch: str) -> Iterator[str]:
        """Yield the unknown words of a stretch: no grammar, and no single ideographs."""
        unknown = _compile("[^\u3041-\u3096]+").findall(stretch) if self._is_japanese else [stretch]
        yield from (word for word in unknown if len(word) > 1 or (word.isascii() and word))


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _is_whole(run: str, place: int, end: int, fits: Sequence[bool]) -> bool:
    """Tell whether a Japanese word is not a part of another one.

    A single ideograph is a word if others do not touch it. Katakana is one or several known
    words from its beginning to its end.
    """
    if end - place == 1 and _is_ideograph(run[place]):
        return not _is_ideograph(run[place - 1 : place]) and not _is_ideograph(run[end : end + 1])
    return not _is_katakana(run[end - 1]) or fits[_skip_long_vowel(run, end)]


def _skip_long_vowel(run: str, place: int) -> int:
    """Return the place after a long vowel, with or without which a word is written: サーバー."""
    return place + run.startswith(_LONG_VOWEL, place)


def _is_ideograph(sign: str) -> bool:
    return bool(sign) and _compile(f"[{_IDEOGRAPHS}]").match(sign) is not None


def _is_katakana(sign: str) -> bool:
    return "\u30a1" <= sign <= "\u30fc"
