"""Standing instructions: what a user said to hold from then on, such as "always use tabs".

They are recognised by how they are said, in English and French. Nothing is copied: a turn that
holds one is marked in the index of words, so that it is found whatever a question is about, and is
gone when its conversation is deleted.
"""

from __future__ import annotations

import re
from functools import cache

from ragforge.patterns import compile_on_use

INSTRUCTION_MARK = "saidtoholdalways"
"""The word that marks a turn in the index; no text contains it."""
READ_CHARS = 8_000
"""Text beyond this is something pasted."""
SENTENCE_CHARS = 800
"""A longer sentence is something pasted as well."""

_FENCED = compile_on_use(r"```.*?(?:```|\Z)", re.DOTALL)
_BETWEEN = compile_on_use(r"\n+|(?<=[.!?;])\s+")
_MAY_HOLD = compile_on_use(
    r"\b(?:always|never|ever|from now on|prefer|preference|rather|toujours|jamais|pr[ée]f[èeé]r"
    r"|d[ée]sormais|dor[ée]navant)",
    re.IGNORECASE,
)
_LEAD = r"^(?:[-*>•\s]|\d+[.)])*(?:(?:please|also|and|so|but|ok|okay|remember|rule|note|important|"
_LEAD += r"et|aussi|s['’]il (?:te|vous) pla[iî]t)\b[:,]?\s*)*"
_NO_ORDER = (
    "been|had|mind|again|ever|here|there|up|good|great|nice|happy|glad|ready|fun|an?|the|in|on"
)
_NO_ORDER += "|at|so|too|saw|knew|thought|heard|seen|felt|loved|liked|wanted|say|give|look"
"""What follows "always" or "never" in small talk."""
_SAID = rf"""{_LEAD}(?:
        (?:always|never)\s+(?:\w+ly\s+)?(?!(?:{_NO_ORDER})\b)[a-z]+
        |from\s+now\s+on|in\s+(?:the\s+)?future,|(?:don['’]t|do\s+not)\s+ever\b
        |(?:toujours|jamais)\s+(?!vu\b|eu\b|[ée]t[ée]\b)\w+
        |(?!je\b|tu\b|il\b|elle\b|on\b|ils\b|elles\b|[çc]a\b|est\b)\w+(?:[ersz])\s+toujours\b
        |n(?:e\s+|['’])\w+(?:[-\s]\w+)?\s+jamais\b
        |pr[ée]f[èeé]re(?:z|r)?\b
    )
    |\b(?:should|must|make\s+sure\s+(?:to|you)|remember\s+to|be\s+sure\s+to|want\s+you\s+to|need
        \s+you\s+to)\s+(?:always|never)\b
    |\bwe\s+(?:always|never)\s+(?!\w+ed\b|did\b|got\b|were\b|(?:{_NO_ORDER})\b)[a-z]+
    |(?<!do\s)(?<!did\s)(?<!would\s)\bI(?:['’]d|\s+would|\s+\w+ly|\s+much)*\s+(?:prefer\b|rather\b)
    |\bmy\s+preference\b
    |\bje\s+pr[ée]f[èeé]r(?:e|erais)\b
    |\b(?:d[ée]sormais|dor[ée]navant)\b"""
_THE_CASE_AT_HAND = compile_on_use(
    r"\b(?:prefer|rather(?:\s+have)?)\s+(?:that|this|it|these|those|the\s+\w+(?:\s+one)?)\W*$",
    re.IGNORECASE,
)
"""A choice among what was just offered says nothing later."""
_CONDITION = compile_on_use(r"\b(?:when|whenever|if|unless|quand|lorsqu\w+|si)\b", re.IGNORECASE)


@cache
def _compile_said() -> re.Pattern[str]:
    """Return the pattern of such a sentence; it takes a while, and most processes need none."""
    return re.compile(_SAID, re.IGNORECASE | re.VERBOSE)


def find_instructions(text: str) -> list[str]:
    """Return the sentences of a user's message that are to hold from then on."""
    if _MAY_HOLD.search(text, 0, READ_CHARS) is None:
        return []
    prose = _FENCED.sub("\n", text[:READ_CHARS])
    sentences = (sentence.strip() for sentence in _BETWEEN.split(prose))
    is_said = _compile_said().search
    return [
        one
        for one in sentences
        if len(one) <= SENTENCE_CHARS and is_said(one) and not _THE_CASE_AT_HAND.search(one)
    ]


def is_conditional(instruction: str) -> bool:
    """Tell whether an instruction holds in some cases only, which it names."""
    return _CONDITION.search(instruction) is not None
