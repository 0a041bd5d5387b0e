"""Terms: what a question in another language than English speaks of, and that in English."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from ragforge.ports.words import Tokeniser
from ragforge.search.language import stop_words
from ragforge.search.lexicon import English, lexicon_of
from ragforge.search.prose import is_plain, marked_stems
from ragforge.search.scripts import runs
from ragforge.search.wording import Group, Wording


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a question, or several with one meaning."""

    words: tuple[str, ...]
    stems: tuple[str, ...]
    english: tuple[English, ...]  # what each part of it may mean
    surely: bool  # means that, even where the words themselves are known


@dataclass(frozen=True, slots=True)
class Foreign:
    """A question in another language than English."""

    question: str
    terms: tuple[Term, ...]

    @classmethod
    def asked_in(cls, language: str, question: str) -> Foreign:
        return cls(question, tuple(_terms(question, language)))

    def unclear(self) -> list[str]:
        """Return the words that may be meant as they are: the code knows."""
        alone = (term.words[0] for term in self.terms if term.english and not term.surely)
        return list(dict.fromkeys(alone))

    def in_english(self) -> list[str]:
        """Return the likeliest English word for each word; where there is none, the word itself."""
        return [
            meanings[0]
            for term in self.terms
            for meanings in term.english or [(" ".join(term.words),)]
        ]

    def for_code(self, known: Collection[str], tokeniser: Tokeniser) -> Wording:
        """Return what to search code for, given the words that stand in it as they are."""
        text, rendered = unicodedata.normalize("NFKC", self.question), list[str]()
        groups: list[Group] = []
        for term in self.terms:
            is_known = not term.surely and term.words[0] in known
            english = () if is_known else term.english
            added = _joined(english)
            if len(term.words) > 1:  # they mean nothing apart
                together = r"\W+".join(map(re.escape, term.words))
                text = re.sub(together, f" {added} ", text, count=1)
            else:
                text = f"{text} {added}".rstrip()
            rendered.append(added or term.words[0])
            groups += _groups(term, english, tokeniser)
        return Wording(text, " ".join(rendered), tuple(dict.fromkeys(groups)))

    def for_memory(self, tokeniser: Tokeniser) -> Wording:
        """Return what to search conversations for, which may have been in either language."""
        added = " ".join(filter(None, (_joined(term.english) for term in self.terms)))
        groups = (group for term in self.terms for group in _groups(term, term.english, tokeniser))
        return Wording(f"{self.question} {added}", added, tuple(dict.fromkeys(groups)))


def _terms(question: str, language: str) -> Iterator[Term]:
    """Yield what a question speaks of, in its order."""
    said, stop = runs(question), stop_words(language)
    meanings = list(lexicon_of(language).meanings(said))
    place = 0
    while place < len(said):
        here = [meaning for meaning in meanings if meaning.start == place]
        end = here[0].end if here else place + 1
        words = tuple(said[place:end])
        if here or words[0].lower() not in stop:
            plain = end - place > 1 or is_plain(words[0])
            yield Term(
                words,
                tuple(marked_stems(words, language)),
                tuple(meaning.english for meaning in here if plain),
                plain and any(meaning.surely for meaning in here),
            )
        place = end


def _groups(term: Term, english: Sequence[English], tokeniser: Tokeniser) -> Iterator[Group]:
    """Yield the words for a term, those that mean the same together."""
    itself = [word for said in term.words for word in tokeniser.query(said)]
    if not english and not term.stems:  # an identifier and its parts
        yield from (frozenset([word]) for word in itself)
        return
    for part, meanings in enumerate(english or [()]):
        meant = {word for meaning in meanings for word in tokeniser.query(meaning)}
        yield frozenset(meant.union(() if part else (*itself, *term.stems)))


def _joined(english: Sequence[English]) -> str:
    return " ".join(word for meanings in english for word in meanings)
