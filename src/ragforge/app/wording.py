"""Wording: the words of a question that say what it is about, and texts cut between words."""

from __future__ import annotations

import re

from ragforge.search.extracts import keep_start
from ragforge.search.question.wording import respell
from ragforge.search.words.language import detect_language, get_stop_words
from ragforge.search.words.lexicon import drop_function_words

__all__ = ["keep_start", "list_telling_words"]

_WORD = re.compile(r"\w+")


def list_telling_words(question: str) -> list[str]:
    """Return the words without those such as "the" and "is"; all if there are no others.

    The American spelling of British words is among them.
    """
    words = _WORD.findall(question)
    telling = drop_function_words(words, get_stop_words(detect_language(question)))
    return [*telling, *filter(None, map(respell, telling))]
