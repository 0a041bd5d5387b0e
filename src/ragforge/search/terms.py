"""Terms: the words of a question that is not English, with their English meanings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from ragforge.ports.words import Tokeniser
from ragforge.records import dataclass
from ragforge.search.language import get_stop_words
from ragforge.search.lexicon import EnglishWords, load_lexicon
from ragforge.search.prose import is_plain, mark_stems
from ragforge.search.scripts import split_runs
from ragforge.search.wording import WordGroup, Wording

SELDOM = 5
"""A word that occurs so many times less in the code than its English is not the code's own."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a question, or several with one meaning."""

    words: tuple[str, ...]
    stems: tuple[str, ...]
    english: tuple[EnglishWords, ...]  # for each part of it; none if it is English itself


@dataclass(frozen=True, slots=True)
class ForeignQuestion:
    """A question in another language than English."""

    question: str
    terms: tuple[Term, ...]

    @classmethod
    def parse(cls, language: str, question: str) -> ForeignQuestion:
        return cls(question, tuple(_find_terms(question, language)))

    def list_words_to_count(self) -> list[str]:
        """Return the words whose number of occurrences in the code is needed."""
        unclear = [term for term in self.terms if term.english and len(term.words) == 1]
        words = (word for term in unclear for word in (*term.words, *chain(*term.english)))
        return list(dict.fromkeys(words))

    def render_in_english(self) -> list[str]:
        """Return the likeliest English word for each word, or the word itself."""
        return [
            meanings[0]
            for term in self.terms
            for meanings in term.english or [(" ".join(term.words),)]
        ]

    def build_code_wording(self, held: Mapping[str, int], tokeniser: Tokeniser) -> Wording:
        """Return what to search code for, given how often words occur in it.

        A word that is rare compared with its English occurs in a test or a translation: then
        only the English is searched for. Otherwise the word itself is searched for as well.
        """
        text, rendered = unicodedata.normalize("NFKC", self.question), list[str]()
        groups: list[WordGroup] = []
        for term in self.terms:
            stays = not term.english or (len(term.words) == 1 and _is_used(term, held))
            if not stays:
                together = r"\W+".join(map(re.escape, term.words))
                text = re.sub(together, " ", text, count=1)
            text = f"{text} {_join(term.english)}".rstrip()
            rendered.append(_join(term.english) or term.words[0])
            groups += _make_groups(term, tokeniser, itself=stays)
        return Wording(text, " ".join(rendered), tuple(dict.fromkeys(groups)))

    def build_memory_wording(self, tokeniser: Tokeniser) -> Wording:
        """Return what to search conversations for, which may be in either language."""
        added = " ".join(filter(None, (_join(term.english) for term in self.terms)))
        groups = (group for term in self.terms for group in _make_groups(term, tokeniser))
        return Wording(f"{self.question} {added}", added, tuple(dict.fromkeys(groups)))


def _find_terms(question: str, language: str) -> Iterator[Term]:
    """Yield the terms of a question, in its order."""
    said, stop = split_runs(question), get_stop_words(language)
    meanings = list(load_lexicon(language).find_meanings(said))
    place = 0
    while place < len(said):
        here = [meaning for meaning in meanings if meaning.start == place]
        end = here[0].end if here else place + 1
        words = tuple(said[place:end])
        if here or words[0].lower() not in stop:
            plain = end - place > 1 or is_plain(words[0])
            yield Term(
                words,
                tuple(mark_stems(words, language)),
                tuple(meaning.english for meaning in here if plain),
            )
        place = end


def _is_used(term: Term, held: Mapping[str, int]) -> bool:
    """Tell whether the code uses a word itself, and not only its English."""
    english = max((held.get(word, 0) for word in chain(*term.english)), default=0)
    return held.get(term.words[0], 0) * SELDOM >= english


def _make_groups(term: Term, tokeniser: Tokeniser, itself: bool = True) -> Iterator[WordGroup]:
    """Yield groups of words for a term; the words of a group mean the same."""
    said = [word for one in term.words for word in tokeniser.query(one)] if itself else []
    if not term.english and not term.stems:  # an identifier and its parts
        yield from (frozenset([word]) for word in said)
        return
    for part, meanings in enumerate(term.english or [()]):
        meant = {word for meaning in meanings for word in tokeniser.query(meaning)}
        yield frozenset(meant.union(() if part or not itself else (*said, *term.stems)))


def _join(english: Sequence[EnglishWords]) -> str:
    return " ".join(word for meanings in english for word in meanings)
