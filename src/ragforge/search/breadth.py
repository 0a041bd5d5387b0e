"""Breadth: questions that want several facts, or their order, rather than one fact.

English and French.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ragforge.search.scripts import strip_accents

KEPT = 0.93
"""What is left of a score for each better hit of the same conversation."""

_ORDER = re.compile(
    r"\b(?:(?:in|the) (?:what |which |same )?(?:order|sequence)\b|chronolog\w+|timeline|time line"
    r"|(?:which|what|who) (?:\w+ )*(?:came|happened|was|did) (?:\w+ )*first"
    r"|dans quel ordre|l'ordre (?:dans|des|de)|(?:en|par) ordre|lequel (?:\w+ )*d'abord)"
)
_SEVERAL = re.compile(
    r"\b(?:list|summar(?:y|ise|ize)|overview|recap|throughout|across (?:all|our|my|the)|so far"
    r"|every(?:thing)?|all (?:the|of|my|our)|how many (?:\w+ )?(?:times|different|kinds|types)"
    r"|(?:what|which) (?:are|were) "
    r"|(?:what|which) (?:\w+ ){0,2}\w{3,}(?<!s)s (?:has|have|do|does|did|are|were) "
    r"|(?:what|where|who|which) (?:[\w+/-]+ ){0,4}(?:has|have) (?!to\b)\w+"
    r"|liste|resum(?:e|er|ez)|tou(?:s|tes) (?:les|mes|nos)|combien de fois|quel(?:le)?s \w+s)\b"
)


def asks_for_order(question: str) -> bool:
    """Tell whether a question is about the order in which things happened or were said."""
    return _ORDER.search(_fold(question)) is not None


def asks_for_several(question: str) -> bool:
    """Tell whether the answer to a question may stand in several places."""
    return asks_for_order(question) or _SEVERAL.search(_fold(question)) is not None


def spread_scores(owners: Sequence[str], scores: Sequence[float]) -> list[float]:
    """Return the scores of hits, best first, each less for those before it of the same owner.

    So the best hits of one conversation do not hide those of others.
    """
    before: Counter[str] = Counter()
    spread = []
    for owner, score in zip(owners, scores, strict=True):
        spread.append(score * KEPT ** before[owner])
        before[owner] += 1
    return spread


def _fold(question: str) -> str:
    return strip_accents(question).casefold()
