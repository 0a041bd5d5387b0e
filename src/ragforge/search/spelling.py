"""Spelling: the American spelling of British words, which code and its documents use more often."""

from __future__ import annotations

from itertools import chain

from ragforge.patterns import compile_on_use
from ragforge.ports.words import Tokeniser
from ragforge.search.wording import Wording

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
