"""Prose: index words of a text that is not English by their stems and their English meanings.

Stems of other languages are marked, so that the French "délai", stem `del`, does not find
Python's `del`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ragforge.domain.text import split_ascii_runs
from ragforge.search.foreign import ENGLISH, may_be_foreign
from ragforge.search.language import detect_language, get_stop_words, stem_word
from ragforge.search.lexicon import load_lexicon
from ragforge.search.scripts import split_runs
from ragforge.search.wording import MARK

MEANINGS = 2
"""How many English words are indexed for each word: the likeliest."""
FOREIGN_LINE = 0.4
"""The score from which a line of an English text counts as another language."""
MAX_CHARS = 100_000
"""Text beyond this is the output of programs."""
MAX_WORD_CHARS = 64


def list_extra_words(text: str, english: Callable[[str], list[str]]) -> Iterator[str]:
    """Yield additional index words for a text that is not, or not only, English.

    Each line has its own language: people ask in theirs about output that is English.
    """
    mostly = detect_language(text)
    least = FOREIGN_LINE if mostly == ENGLISH else 0.0
    for line in text[:MAX_CHARS].splitlines():
        if mostly == ENGLISH and not may_be_foreign(
            split_ascii_runs(line) if line.isascii() else split_runs(line)
        ):
            continue
        language = detect_language(line, mostly, least)
        if language != ENGLISH:
            said = split_runs(line)
            yield from mark_stems(said, language)
            for meaning in load_lexicon(language).find_meanings(said):
                for word in meaning.english[:MEANINGS]:
                    yield from english(word)


def mark_stems(said: Sequence[str], language: str) -> Iterator[str]:
    """Yield the marked stems of the words, without function words and identifiers."""
    for word in drop_function_words(said, get_stop_words(language)):
        if is_plain(word):
            yield from (f"{MARK}{stem}"[:MAX_WORD_CHARS] for stem in stem_word(word, language))


def drop_function_words(said: Iterable[str], stop: frozenset[str]) -> list[str]:
    """Return the words that are not function words; all of them if there are no others."""
    words = list(said)
    return [word for word in words if word.lower() not in stop] or words


def is_plain(word: str) -> bool:
    """Tell whether a word is plain, unlike identifiers such as `parse_url` or `maxSize`."""
    if not word.isalpha() and any(sign.isdigit() or sign == "_" for sign in word):
        return False
    return word[1:] == word[1:].lower() or word.isupper()
