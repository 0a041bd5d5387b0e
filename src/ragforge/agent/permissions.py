"""Permissions: the user's rules decide first, then the user."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import field
from typing import TYPE_CHECKING, Literal, TypeAlias

from ragforge.domain.modes import Mode
from ragforge.errors import Declined, InputError
from ragforge.llm.calls import pause_stopwatches
from ragforge.records import dataclass
from ragforge.tools.permission import Action, Grant, PermissionRequest

if TYPE_CHECKING:
    from ragforge.agent.rules import Effect, PermissionRule, PermissionRules


@dataclass(frozen=True, slots=True)
class Verdict:
    """The user's answer to a request: yes once, yes always (for a pattern), or no."""

    answer: Literal["once", "always", "deny"]
    pattern: str = ""  # of an "always": one of `request.always`; this very thing if empty
    reason: str = ""  # of a "deny": words for the model


Approve: TypeAlias = Callable[[PermissionRequest], Awaitable[Verdict]]

NO_TERMINAL = "No one can approve this: RagForge runs without a terminal."
PLANNING = (
    "Plan mode is on: nothing is changed and nothing is run that does more than read. "
    "Make it a step of your plan."
)
READING: frozenset[Action] = frozenset(("fetch_url", "web_search", "tool"))
"""What only reads, and is asked for all the same: a plan may need it."""
HOOK_DECISION: ContextVar[Literal["allow", "ask"] | None] = ContextVar("hook", default=None)
"""What a hook decided about the running call; "allow" counts for its first request."""


async def deny_all(request: PermissionRequest) -> Verdict:
    """Deny every request: there is no one to ask."""
    return Verdict("deny", reason=NO_TERMINAL)


async def allow_edits(request: PermissionRequest) -> Verdict:
    """Allow every edit inside the project and deny everything else."""
    return Verdict("once") if request.action == "edit_file" else Verdict("deny", reason=NO_TERMINAL)


@dataclass(frozen=True, slots=True)
class Permissions:
    """Decides on the requests of one project, in one mode."""

    rules: PermissionRules
    approve: Approve
    mode: Mode = "ask"
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def require_permission(self, request: PermissionRequest) -> Grant:
        """Return who allowed the request. Raises Declined.

        The user is asked about one request at a time. A request that the answer to an earlier
        one has settled is not asked. In plan mode every request that does more than read is
        declined, whatever the rules say; where edits are accepted, only a rule that forbids
        declines one. In auto mode, the same is true of commands that can be confined. A hook can
        have the user asked in any case; what it allows, a rule can forbid.
        """
        if self.mode == "plan" and request.action not in READING:
            raise Declined(PLANNING)
        async with self._take_turn():
            effect = self.rules.verdict(request)
            if effect == "deny":
                raise Declined(
                    f"A permission rule forbids {request.action} for {request.subject!r}."
                )
            if HOOK_DECISION.get() != "ask":
                if self._needs_no_answer(request, effect):
                    return "user"
                if self.mode == "auto" and request.confined and not request.network:
                    return "mode"
            verdict = await self.approve(request)
            if verdict.answer == "always" and request.always:
                with suppress(InputError):  # the rule cannot be stored: the user is asked again
                    self.rules.add(_make_lasting(request, verdict.pattern))
            if verdict.answer == "deny":
                why = verdict.reason or "Do not try it another way; ask what they want instead."
                raise Declined(f"The user declined this. {why}")
            return "user"

    def _needs_no_answer(self, request: PermissionRequest, effect: Effect | None) -> bool:
        """Tell whether a rule, a hook or the mode allows what no rule forbids."""
        if self.mode in ("accept-edits", "auto") and request.action == "edit_file":
            return True
        if request.network:
            return False
        if effect == "allow":
            return True
        is_allowed = HOOK_DECISION.get() == "allow"
        HOOK_DECISION.set(None)
        return is_allowed

    @asynccontextmanager
    async def _take_turn(self) -> AsyncIterator[None]:
        """Wait until no other request is decided; a call does not last longer for it."""
        with pause_stopwatches():
            async with self._turn:
                yield


def _make_lasting(request: PermissionRequest, pattern: str) -> PermissionRule:
    """Return the rule of an "always", exact if it is the subject itself. Raises InputError."""
    from ragforge.agent.rules import make_rule

    if request.action == "tool":
        raise InputError("There are no rules about such calls.")
    exact = pattern in ("", request.subject)
    return make_rule("allow", request.action, pattern or request.subject, exact)


def pause_during(limit: asyncio.Timeout, approve: Approve) -> Approve:
    """Return an `approve` that asks the same while a time limit is paused."""

    async def ask(request: PermissionRequest) -> Verdict:
        time = asyncio.get_running_loop().time
        end = limit.when()
        left = None if end is None else end - time()
        limit.reschedule(None)
        try:
            return await approve(request)
        finally:
            limit.reschedule(None if left is None else time() + left)

    return ask
