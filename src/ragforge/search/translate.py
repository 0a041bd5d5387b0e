"""Translate: add the English of its words to a question in another language.

Code is English. A question in another language is searched for with the English of its words
added. Words that mean the same form one group, so that a text that holds one of them fits as
well as it would have fitted an English question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragforge.ports.words import Tokeniser
from ragforge.search.foreign import ENGLISH
from ragforge.search.spelling import add_spellings
from ragforge.search.tokenise import WORDS
from ragforge.search.wording import Wording

if TYPE_CHECKING:
    from ragforge.search.terms import ForeignQuestion


def translate(question: str) -> ForeignQuestion | None:
    """Return a question with what its words mean in English, or None if it is in English."""
    language = WORDS.detect_language(question)
    if language == ENGLISH:
        return None
    from ragforge.search.terms import ForeignQuestion  # English questions need none of its tables

    return ForeignQuestion.parse(language, question)


def expand_query(query: str, tokeniser: Tokeniser) -> Wording:
    """Return what to search conversations for."""
    foreign = translate(query)
    if foreign is None:
        return add_spellings(query, tokeniser)
    return foreign.build_memory_wording(tokeniser)
