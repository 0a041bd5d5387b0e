"""Wording: what is searched for to answer a question, in any language and spelling.

Code is in American English. A question in another language is searched for with the English of its
words added, and British words with their American spelling. Words that mean the same form one
group: a text that holds one of them fits as well as if it held them all.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ragforge.patterns import compile_on_use
from ragforge.ports.search_index import Tokeniser
from ragforge.records import dataclass
from ragforge.search.words.foreign import ENGLISH
from ragforge.search.words.tokenise import WORDS

if TYPE_CHECKING:
    from ragforge.search.words.lexicon import EnglishWords

WordGroup: TypeAlias = frozenset[str]

MIN_WORDS = 4
"""A shorter rest of a question says too little without the name of the project."""
SELDOM = 5
"""A word that occurs this many times less in the code than its English is not used by the code."""

_WORD = compile_on_use(r"[A-Za-z]{5,}")
_ENDINGS = compile_on_use(
    r"(?:(?P<z>\w{4}i|\w{2}ly)s(?P<end>e|ed|er|ers|es|ing|ation|ations)"
    r"|(?P<l>cance|labe|mode|signa|tota|trave)ll(?P<past>ed|ing|er))$"
)
_STARTS = {
    "armour": "armor",
    "behaviour": "behavior",
    "catalogue": "catalog",
    "centre": "center",
    "colour": "color",
    "defence": "defense",
    "dialogue": "dialog",
    "favour": "favor",
    "licence": "license",
    "neighbour": "neighbor",
    "offence": "offense",
}


class Wording(NamedTuple):
    """What to search for."""

    text: str  # the question, with the English of its words
    english: str  # the question in English, as far as its words are known
    groups: tuple[WordGroup, ...] = ()  # words that mean the same; without groups each is its own


def translate(question: str) -> ForeignQuestion | None:
    """Return a question with what its words mean in English, or None if it is in English."""
    language = WORDS.detect_language(question)
    if language == ENGLISH:
        return None
    return ForeignQuestion(question, tuple(_find_terms(question, language)))


def expand_query(query: str, tokeniser: Tokeniser) -> Wording:
    """Return what to search conversations for."""
    foreign = translate(query)
    if foreign is None:
        return add_spellings(query, tokeniser)
    return foreign.build_memory_wording(tokeniser)


def leave_out_project(question: str, name: str) -> str:
    """Return a question without the name of the project, where it asks what the project does.

    "How does Flask choose an error handler?" is about error handlers. The name is in the paths and
    in many names of a project, so that it would decide which file comes first.
    """
    found = re.search(rf"\b(does|do|did|can|will|in)\s+{re.escape(name)}\s+(?=\w)", question, re.I)
    if found is None or len(question[found.end() :].split()) < MIN_WORDS:
        return question
    return f"{question[: found.start()]}{found[1]} it {question[found.end() :]}"


def count_shared(words: Collection[str], groups: Sequence[WordGroup]) -> int:
    """Return how many of the groups have one of these words."""
    return sum(not group.isdisjoint(words) for group in groups)


def measure_share(words: Collection[str], groups: Sequence[WordGroup]) -> float:
    """Return the share of the groups that have one of these words, 0..1."""
    return count_shared(words, groups) / max(len(groups), 1)


def respell(word: str) -> str | None:
    """Return the American spelling of a word in lower case, or None if there is no other.

    A few words that only look British get one too: looking for it costs little.
    """
    low = word.lower()
    for british, american in _STARTS.items():
        if low.startswith(british):
            return american + low[len(british) :]
    found = _ENDINGS.search(low)
    if found is None:
        return None
    if found["z"]:
        return f"{low[: found.end('z')]}z{found['end']}"
    return f"{low[: found.end('l')]}l{found['past']}"


def add_spellings(question: str, tokeniser: Tokeniser) -> Wording:
    """Return what to search for: a question and the American spelling of its British words."""
    spelt = {word: other for word in _WORD.findall(question) if (other := respell(word))}
    if not spelt:
        return Wording(question, question)
    groups = [frozenset((word,)) for word in tokeniser.query(question)]
    for word, other in spelt.items():
        both = frozenset(chain(tokeniser.query(word), tokeniser.query(other)))
        groups = [group | both if group & both else group for group in groups]
    return Wording(f"{question} {' '.join(spelt.values())}", question, tuple(groups))


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a question, or several with one meaning."""

    words: tuple[str, ...]
    stems: tuple[str, ...]
    english: tuple[EnglishWords, ...]  # for each part of it; empty if it is English itself


@dataclass(frozen=True, slots=True)
class ForeignQuestion:
    """A question in another language than English."""

    question: str
    terms: tuple[Term, ...]

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
    # Questions in English need none of these tables.
    from ragforge.search.words.language import get_stop_words
    from ragforge.search.words.lexicon import is_plain, load_lexicon, mark_stems

    lexicon, stop = load_lexicon(language), get_stop_words(language)
    said = lexicon.split(question)
    meanings = list(lexicon.find_meanings(said))
    place = 0
    while place < len(said):
        here = [meaning for meaning in meanings if meaning.start == place]
        end = here[0].end if here else place + 1
        words = tuple(said[place:end])
        if here or words[0].lower() not in stop:
            plain = end - place > 1 or is_plain(words[0])
            english = tuple(meaning.english for meaning in here if plain)
            yield Term(words, tuple(mark_stems(words, language)), english)
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
