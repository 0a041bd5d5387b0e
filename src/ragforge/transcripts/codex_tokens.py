"""Codex's tokens: how many each answer took, so that their sum is the session's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragforge.domain.text import Json
from ragforge.transcripts.fields import get_mapping, get_number

MAX_ITEMS = 64
"""How many items of an answer are remembered until its tokens are counted."""


class Tokens:
    """Gives the tokens of an event to the newest item of the answer, and none to the others.

    Codex counts after the items of an answer; older versions count before them. It repeats an
    event whenever it learns of other limits: then the total of the session is as it was.
    """

    def __init__(self) -> None:
        self._items: list[str] = []  # what the model said since it was counted
        self._counted: tuple[str, int] | None = None  # the newest item with tokens, and these
        self._total: Json = None  # of the session
        self._owed = 0  # tokens that were counted before the model said anything

    def begin_turn(self) -> None:
        """Forget what was said: no answer goes on after a user's words."""
        self._items = []

    def note_said(self, item: str) -> int | None:
        """Return the tokens of a new item as far as they are known; None if nothing counts them."""
        if self._owed:
            self._counted, self._owed = (item, self._owed), 0
            return self._counted[1]
        self._items = [*self._items[1 - MAX_ITEMS :], item]
        return None if self._total is None else 0

    def count(self, info: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
        """Yield items with their tokens, as an event counts them."""
        tokens = get_number(get_mapping(info, "last_token_usage"), "output_tokens")
        total = dict(get_mapping(info, "total_token_usage"))
        is_repeated = total == self._total if total else not self._items
        if tokens is None or is_repeated:
            return
        self._total = total
        *others, newest = self._items or [""]
        yield from ((item, 0) for item in others)
        self._items = []
        if newest:
            self._counted = (newest, tokens)
        elif self._counted is not None:  # an answer without items, such as a recap
            self._counted = (self._counted[0], self._counted[1] + tokens)
        else:
            self._owed += tokens
            return
        yield self._counted

    def save(self) -> Json:
        return [self._items, self._counted, self._total, self._owed]

    def load(self, state: Json) -> None:
        self._items, counted, self._total, self._owed = state
        self._counted = None if counted is None else (counted[0], counted[1])
