"""Wording: a question as it is looked for, whatever language it was asked in.

Code is English. A question in another language is searched for with the English of its words
added; words that mean the same are one group, so that what holds one of them fits as well as it
would have, had the question been English.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ragforge.ports.words import Tokeniser
from ragforge.search.foreign import ENGLISH
from ragforge.search.tokenise import WORDS

if TYPE_CHECKING:
    from ragforge.search.terms import Foreign

Group: TypeAlias = frozenset[str]


class Wording(NamedTuple):
    """What to search for."""

    text: str  # the question, with the English of its words
    english: str  # the question in English, as far as its words are known
    groups: tuple[Group, ...] = ()  # of words for the same thing; none: each stands for itself


def translate(question: str) -> Foreign | None:
    """Return a question with what its words mean in English, or None if it is in English."""
    language = WORDS.detect_language(question)
    if language == ENGLISH:
        return None
    from ragforge.search.terms import Foreign

    return Foreign.parse(language, question)


def expand_query(query: str, tokeniser: Tokeniser) -> Wording:
    """Return what to search conversations for."""
    asked = translate(query)
    return Wording(query, query) if asked is None else asked.build_expand_query(tokeniser)
