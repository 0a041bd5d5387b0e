"""Authors: who said something, and who may see it."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from ragforge.errors import InputError
from ragforge.records import dataclass

Visibility: TypeAlias = Literal["private", "shared"]
"""`private`: only its author sees it. `shared`: all users of the store."""

AGENT = "ragforge"
"""The name of our agent. Conversations of other agents are imported."""

_MAIL = re.compile(r"<\s*([^<>\s]+@[^<>\s]+)\s*>\s*$")


@dataclass(frozen=True, slots=True)
class Identity:
    """The user of a store, their machine, and the default visibility."""

    author: str  # such as `Ann <ann@example.org>`
    host: str
    visibility: Visibility = "shared"

    @property
    def key(self) -> str:
        """The key by which authors are compared."""
        return make_author_key(self.author) or ""


class Authored:
    """Data with an author, and who may see it: the base of classes with these two fields."""

    __slots__ = ()
    author: str | None
    visibility: Visibility

    @property
    def author_key(self) -> str | None:
        """What its author is compared by."""
        return make_author_key(self.author)

    @property
    def private_to(self) -> str | None:
        """The key of the only author who sees it; None: everybody does."""
        return make_private_key(self.author, self.visibility)


def make_author_key(author: str | None) -> str | None:
    """Return what authors are compared by: the mail address if there is one, without its case.

    A name is written in several ways, and a mail address in one. None if there is no author.
    """
    if author is None or not (text := " ".join(author.split())):
        return None
    found = _MAIL.search(text)
    return (found[1] if found else text).casefold()


def name_author(author: str) -> str:
    """Return the name of an author without the mail address, or the address if there is no name."""
    return _MAIL.sub("", author).strip() or author.strip("<> ")


def name_other(author: str | None, viewer: str | None) -> str:
    """Return the name of an author; empty for none, and for the viewer, given by the key."""
    if author is None or make_author_key(author) == viewer:
        return ""
    return name_author(author)


def name_other_agent(agent: str) -> str:
    """Return the name of an agent; empty for RagForge itself."""
    return "" if agent == AGENT else agent


def make_private_key(author: str | None, visibility: Visibility) -> str | None:
    """Return the key of the only author who sees something, or None if everybody does.

    Raises InputError for what is private and has no author: no one would see it.
    """
    if visibility == "shared":
        return None
    if (key := make_author_key(author)) is None:
        raise InputError("Only what has an author can be private, and this has none.")
    return key
