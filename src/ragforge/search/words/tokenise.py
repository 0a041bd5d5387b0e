"""Tokenise: split text into the words that are indexed and searched for.

Identifiers give themselves and their parts (`parseHTTPHeader`, `parse_http_header`), words their
stem without accents, and scripts without spaces overlapping pairs of characters. Prose in another
language also gives the stems of that language and the English of its words (`prose`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property

from ragforge.domain.text import split_ascii_runs
from ragforge.search.words.foreign import ENGLISH, may_be_foreign, may_hold_foreign

MAX_DOCUMENT_CHARS = 500_000
"""Text beyond this is not indexed: it is not written by people."""
MAX_WORD_CHARS = 64
MAX_QUERY_WORDS = 200
_REMEMBERED = 1 << 18

_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")

_FILLERS = frozenset(
    """a about all am an and any are as at be been both but by can could did do does for from had
    has have he her him his how i if in into is it its me my of on or our please s she should so
    some than that the their them then there these they this those to us was we were what when
    where which who why will with would you your""".split()  # noqa: SIM905
)


class Words:
    """The tokeniser of every store."""

    version = "5"

    def document(self, text: str) -> str:
        """Return the words to index, separated by spaces."""
        runs = _split_runs(text[:MAX_DOCUMENT_CHARS])
        return "".join(map(self._indexed.__getitem__, runs)).rstrip()

    def prose(self, text: str) -> str:
        """Return the words to index for a text in any language, separated by spaces.

        These are the words of `document`, and more for other languages than English.
        """
        text = text[:MAX_DOCUMENT_CHARS]
        runs = _split_runs(text)
        words = "".join(map(self._indexed.__getitem__, runs))
        if may_hold_foreign(runs) or _holds_unspaced(text):
            from ragforge.search.words import lexicon

            words += "".join(
                f"{word} " for word in lexicon.list_extra_words(text, self._split_english)
            )
        return words.rstrip()

    def query(self, text: str) -> list[str]:
        """Return the distinct words to search for, whole identifiers first.

        Filler words of the text's language are used only if there are no others.
        """
        text = text[:MAX_DOCUMENT_CHARS]
        runs = list(dict.fromkeys(map(_decode, _split_runs(text))))
        spoken, stems = _detect_language(text, runs), list[str]()
        if spoken != ENGLISH:
            from ragforge.search.words import lexicon

            stems += lexicon.mark_stems(runs, spoken)
        fillers = self.get_fillers(spoken)
        telling = [run for run in runs if run.lower() not in fillers] or runs
        found = [self._split_run(run, searching=True) for run in telling]
        wholes = [words[0] for words in found if words]
        parts = [word for words in found for word in words[1:]]
        return list(dict.fromkeys([*wholes, *parts, *stems]))[:MAX_QUERY_WORDS]

    def detect_language(self, text: str) -> str:
        """Return the language of a text, such as `french`; English where in doubt."""
        text = text[:MAX_DOCUMENT_CHARS]
        return _detect_language(text, map(_decode, _split_runs(text)))

    def get_fillers(self, language: str) -> frozenset[str]:
        """Return the filler words of a language, in lower case."""
        if language == ENGLISH:
            return _FILLERS
        from ragforge.search.words.language import get_stop_words

        return get_stop_words(language)

    def stem(self, word: str, language: str) -> str:
        """Return the stem of a word."""
        if language != ENGLISH:
            from ragforge.search.words.language import stem_word

            return stem_word(word, language)[0]
        return next(iter(self.query(word)), word)

    def _split_english(self, word: str) -> list[str]:
        return self._split_run(word, searching=False)

    @cached_property
    def _stem(self) -> Callable[[str], str]:
        from Stemmer import Stemmer  # slow to load

        stem: Callable[[str], str] = Stemmer("english", 0).stemWord  # no cache: we have our own
        return stem

    @cached_property
    def _indexed(self) -> _WordCache:
        return _WordCache(
            lambda run: "".join(f"{w} " for w in self._split_run(run, searching=False))
        )

    def _split_run(self, run: str, searching: bool) -> list[str]:
        """Return the words of a run of letters: the run itself first, then its parts."""
        if run.isascii():
            return self._split_identifier(run)
        from ragforge.search.words import scripts

        words: list[str] = []
        for stretch, is_spaced in scripts.split_by_script(run):
            folded = stretch if stretch.isascii() else stretch.casefold()
            if not is_spaced:
                words += scripts.make_pairs(stretch, searching)
            elif folded.isascii():
                words += self._split_identifier(folded)
            else:
                words += [part[:MAX_WORD_CHARS] for part in folded.split("_") if part]
        return words

    def _split_identifier(self, run: str) -> list[str]:
        parts = _PART.findall(run)
        words = [part.lower()[:MAX_WORD_CHARS] for part in parts]
        stems = [self._stem(word) if len(word) > 3 else word for word in words]
        return ["".join(parts).lower()[:MAX_WORD_CHARS], *stems] if len(parts) > 1 else stems


class _WordCache(dict[str | bytes, str]):
    """A cache from a run to its words, each with a space after it; a hit costs no call."""

    def __init__(self, make: Callable[[str], str]) -> None:
        self._make = make

    def __missing__(self, run: str | bytes) -> str:
        if len(self) >= _REMEMBERED:
            self.clear()
        words = self[run] = self._make(_decode(run))
        return words


def _split_runs(text: str) -> list[bytes] | list[str]:
    """Return the runs of letters: as bytes if the text is ASCII, which is faster."""
    if text.isascii():
        return split_ascii_runs(text)
    from ragforge.search.words import scripts  # its expressions take a while to make

    return scripts.split_runs(text)


def _detect_language(text: str, runs: Iterable[str]) -> str:
    """Return the language of a text, given with its runs. English needs no table."""
    if not may_be_foreign(map(str.lower, runs)) and not _holds_unspaced(text):
        return ENGLISH
    from ragforge.search.words.language import detect_language

    return detect_language(text)


def _holds_unspaced(text: str) -> bool:
    if text.isascii():
        return False
    from ragforge.search.words.unspaced import holds_unspaced

    return holds_unspaced(text)


def _decode(run: str | bytes) -> str:
    return run if isinstance(run, str) else run.decode("ascii")


WORDS = Words()
