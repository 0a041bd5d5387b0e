"""Doers: a verb of a question and the name of what does it, such as `load` and `loader`.

"How is a plugin loaded" is answered in `loader.lua`, "request logging" in `RequestLogger`. Stemmers
bring `loads` and `loading` together, but not `loader`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ragforge.search.wording import WordGroup

_LEAST = 3
_DOUBLED = frozenset("bdgmnpt")
_OTHER_THINGS = frozenset(["fold", "form", "head", "lay", "let", "low", "tow", "use"])
"""A folder folds nothing, and a user is not what is used."""


def group_with_doers(words: Iterable[str]) -> tuple[WordGroup, ...]:
    """Return each stem of a question, with the stems of what does it."""
    return tuple(frozenset((word, *_name_doers(word))) for word in words)


def _name_doers(stem: str) -> list[str]:
    if len(stem) < _LEAST or not (stem.isascii() and stem.isalpha()) or stem in _OTHER_THINGS:
        return []
    if stem.endswith("e"):
        return [f"{stem}r"]
    doubled = stem + stem[-1]  # `logger`; a stemmer leaves `formatt` of a longer one
    return [f"{stem}er", *((f"{doubled}er", doubled) if stem[-1] in _DOUBLED else ())]
