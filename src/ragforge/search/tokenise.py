"""Tokenise: text into the words that are indexed and searched for.

Identifiers are found whole and by their parts (`parseHTTPHeader`, `parse_http_header`),
words by their stem, accented words without accents, and scripts that put no space
between words by overlapping pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cached_property

from ragforge.domain.text import ascii_runs

MAX_DOCUMENT_CHARS = 500_000
"""Words beyond this are not indexed: no person wrote them."""
MAX_WORD_CHARS = 64
MAX_QUERY_WORDS = 200
_REMEMBERED = 1 << 18

# Vowel signs and other marks are parts of words, although `\w` does not hold them.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e4\u0900-\u0963\u0966-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc"
    "\u0ec8-\u0ece\u0f71-\u0f84\u102b-\u103e\u17b4-\u17d3\u3099\u309a"
)
_RUN = re.compile(rf"[\w{_MARKS}]+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_ACCENT = re.compile("[\u0300-\u036f]")

_CHINESE_JAPANESE = (
    "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U000323af"
)
_KOREAN = "\uac00-\ud7a3"
_SOUTH_EAST_ASIAN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_UNSPACED = re.compile(f"[{_CHINESE_JAPANESE}]+|[{_KOREAN}]+|[{_SOUTH_EAST_ASIAN}]+")
_MEANS_SOMETHING_ALONE = re.compile(f"[{_CHINESE_JAPANESE}{_KOREAN}]")

_FILLERS = frozenset(
    """a about all am an and any are as at be been but by can could did do does for from had has
    have how i if in into is it its me my of on or our please should so some than that the their
    them then there these they this those to us was we were what when where which who why will
    with would you your""".split()  # noqa: SIM905
)


class Words:
    """The tokeniser of every store."""

    version = "1"

    def document(self, text: str) -> str:
        """Return the words to index, separated by spaces."""
        runs = _runs(text[:MAX_DOCUMENT_CHARS])
        return "".join(map(self._indexed.__getitem__, runs)).rstrip()

    def query(self, text: str) -> list[str]:
        """Return the distinct words to look for, whole identifiers first.

        Filler words count only where there is nothing else.
        """
        runs = list(dict.fromkeys(map(_text, _runs(text[:MAX_DOCUMENT_CHARS]))))
        telling = [run for run in runs if run.lower() not in _FILLERS] or runs
        found = [self._words(run, searching=True) for run in telling]
        wholes = [words[0] for words in found if words]
        parts = [word for words in found for word in words[1:]]
        return list(dict.fromkeys([*wholes, *parts]))[:MAX_QUERY_WORDS]

    @cached_property
    def _stem(self) -> Callable[[str], str]:
        from Stemmer import Stemmer  # only where text is really tokenised

        stem: Callable[[str], str] = Stemmer("english", 0).stemWord  # we remember, not it
        return stem

    @cached_property
    def _indexed(self) -> _Remembered:
        return _Remembered(lambda run: "".join(f"{w} " for w in self._words(run, searching=False)))

    def _words(self, run: str, searching: bool) -> list[str]:
        """Return the words of a run of letters: the whole first, then its parts."""
        if not run.isascii():
            run = _without_accents(run)
            if _UNSPACED.search(run):
                return self._unspaced_words(run, searching)
            run = run if run.isascii() else run.casefold()
        if run.isascii():
            return self._identifier_words(run)
        return [part[:MAX_WORD_CHARS] for part in run.split("_") if part]

    def _identifier_words(self, run: str) -> list[str]:
        parts = _PART.findall(run)
        words = [part.lower()[:MAX_WORD_CHARS] for part in parts]
        stems = [self._stem(word) if len(word) > 3 else word for word in words]
        return ["".join(parts).lower()[:MAX_WORD_CHARS], *stems] if len(parts) > 1 else stems

    def _unspaced_words(self, run: str, searching: bool) -> list[str]:
        words: list[str] = []
        position = 0
        for stretch in _UNSPACED.finditer(run):
            words += self._words(run[position : stretch.start()], searching)
            words += _pairs(stretch.group(), searching)
            position = stretch.end()
        return words + self._words(run[position:], searching)


class _Remembered(dict[str | bytes, str]):
    """The words of runs, each with a space after it; once made, a look-up costs no call."""

    def __init__(self, make: Callable[[str], str]) -> None:
        self._make = make

    def __missing__(self, run: str | bytes) -> str:
        if len(self) >= _REMEMBERED:
            self.clear()
        words = self[run] = self._make(_text(run))
        return words


def _runs(text: str) -> list[bytes] | list[str]:
    """Return the stretches of letters: as bytes where they are ASCII, which is sooner done."""
    if text.isascii():
        return ascii_runs(text)
    return _RUN.findall(unicodedata.normalize("NFKC", text))


def _text(run: str | bytes) -> str:
    return run if isinstance(run, str) else run.decode("ascii")


def _without_accents(run: str) -> str:
    bare = _ACCENT.sub("", unicodedata.normalize("NFKD", run))
    return unicodedata.normalize("NFC", bare)


def _pairs(stretch: str, searching: bool) -> Iterator[str]:
    """Yield overlapping pairs; single characters too where a query may consist of one."""
    yield from (stretch[i : i + 2] for i in range(len(stretch) - 1))
    if not searching or len(stretch) == 1:
        yield from _MEANS_SOMETHING_ALONE.findall(stretch)


WORDS = Words()
