"""Permissions: who may do what. The user's rules first, then the user."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ragforge.agent.rules import PermissionRules, Rule
from ragforge.errors import Declined, InputError
from ragforge.tools.permission import PermissionRequest


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the user says to a wish: this once, always (for a pattern of the wish), or no."""

    answer: Literal["once", "always", "deny"]
    pattern: str = ""  # of an "always"; the narrowest if empty
    reason: str = ""  # of a "deny": words for the model


Approve: TypeAlias = Callable[[PermissionRequest], Awaitable[Verdict]]

NOBODY = "Nobody is here to allow it: RagForge runs without a terminal."


async def deny_all(wish: PermissionRequest) -> Verdict:
    """Say no, for there is nobody to ask."""
    return Verdict("deny", reason=NOBODY)


async def allow_edits(wish: PermissionRequest) -> Verdict:
    """Say yes to every edit inside the project, and no to everything else."""
    return Verdict("once") if wish.action == "edit_file" else Verdict("deny", reason=NOBODY)


@dataclass(frozen=True, slots=True)
class Permissions:
    """Grants wishes in one project."""

    rules: PermissionRules
    approve: Approve
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def require_permission(self, wish: PermissionRequest) -> None:
        """Return if the wish is granted. Raises Declined.

        Wishes of calls that run together are put to the user one after the other, and one that
        an answer to an earlier one has settled is not put at all.
        """
        async with self._turn:
            known = self.rules.verdict(wish)
            if known == "allow":
                return
            if known == "deny":
                raise Declined(f"A rule of the user forbids {wish.action} for {wish.subject!r}.")
            verdict = await self.approve(wish)
            if verdict.answer == "always":
                with suppress(InputError):  # it cannot be kept: it is asked for again
                    self.rules.add(Rule("allow", wish.action, verdict.pattern or wish.always[0]))
            if verdict.answer == "deny":
                why = verdict.reason or "Do not try it another way; ask what they want instead."
                raise Declined(f"The user declined this. {why}")
