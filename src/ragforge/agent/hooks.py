"""Hooks: commands of the user that run at events of a turn, and what they decide."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal, TypeAlias

from ragforge.agent.events import Noticed
from ragforge.agent.permissions import HOOK_DECISION
from ragforge.domain.text import Json, shorten
from ragforge.domain.turns import Answer
from ragforge.errors import Declined, RagForgeError
from ragforge.llm.calls import Tool
from ragforge.memory.context_tags import fence, make_mark
from ragforge.records import dataclass
from ragforge.tools.permission import PermissionRequest, Permit

if TYPE_CHECKING:
    from ragforge.agent.environment import TurnEnvironment
    from ragforge.domain.turns import Answer
    from ragforge.tools.command.approved import HookOutput

log = logging.getLogger(__name__)

Event: TypeAlias = Literal["session_start", "prompt", "before_tool", "after_tool", "turn_end"]
Decision: TypeAlias = Literal["allow", "deny", "ask"]

BLOCKS = 2
"""The exit code of a hook that blocks."""
WARNED_CHARS = 500
_ADDING: frozenset[Event] = frozenset(("session_start", "prompt"))
"""Events whose hooks add to the context what they print."""
_OF_TOOLS: frozenset[Event] = frozenset(("before_tool", "after_tool"))


@dataclass(frozen=True, slots=True)
class Hook:
    """A command, and when it runs."""

    name: str
    event: Event
    command: str
    tools: tuple[str, ...] = ("*",)  # patterns of names
    seconds: float = 30.0
    by_project: bool = False
    sandbox: bool = False

    def concerns(self, tool: str) -> bool:
        """Tell whether it runs for a tool."""
        return any(fnmatchcase(tool, pattern) for pattern in self.tools)


RunHook: TypeAlias = "Callable[[Hook, Json], Awaitable[HookOutput]]"
"""Runs the command of a hook with JSON on its stdin."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a hook, or all hooks of an event, decided and said."""

    decision: Decision | None = None
    hook: str = ""  # the name of the one that decided
    reason: str = ""
    context: str = ""  # for the model
    warning: str = ""  # for the user

    def describe(self) -> str:
        """Return the decision as the beginning of a sentence, with the reason."""
        verbs = {"deny": "blocked this", "ask": "wants you to decide", "allow": "allowed this"}
        verb = verbs[self.decision or "allow"]
        return f"The hook {self.hook} {verb}{f': {self.reason}' if self.reason else '.'}"


def read_outcome(hook: Hook, output: HookOutput) -> Outcome:
    """Return what the end of a hook means: see docs/hooks.md."""
    said = output.stdout.strip()
    if output.problem or output.exit_code not in (0, BLOCKS):
        why = output.problem or f"it ended with exit code {output.exit_code}"
        details = f": {shorten(output.stderr.strip(), WARNED_CHARS)}" if output.stderr else ""
        return Outcome(warning=f"The hook {hook.name} failed: {why}{details}")
    if output.exit_code == BLOCKS:
        return Outcome("deny", hook.name, output.stderr.strip(), warning=output.warning)
    try:
        answer = json.loads(said) if said.startswith("{") else None
    except (ValueError, RecursionError):
        answer = None
    if isinstance(answer, dict):
        return replace(_read_answer(hook, answer), warning=output.warning)
    return Outcome(context=said if hook.event in _ADDING else "", warning=output.warning)


def _read_answer(hook: Hook, answer: Mapping[str, Json]) -> Outcome:
    context = answer.get("context")
    added = context if isinstance(context, str) and hook.event in _ADDING else ""
    reason, given = answer.get("reason"), answer.get("decision")
    found: dict[Json, Decision] = {"deny": "deny"}
    if hook.event == "before_tool":
        found |= {"ask": "ask"} if hook.by_project else {"ask": "ask", "allow": "allow"}
    decision = found.get(given) if isinstance(given, str) else None
    return Outcome(decision, hook.name, reason if isinstance(reason, str) else "", added)


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks of a project and its user."""

    hooks: Sequence[Hook]
    run_command: RunHook
    facts: Mapping[str, Json]  # what every hook is told
    started: dict[str, str] = field(default_factory=dict)
    """The sessions that began in this process, with what their hooks added to the context."""

    async def begin_turn(self, turn: TurnEnvironment, question: str | None) -> str:
        """Run the hooks before a message, and return what they add to the context.

        Without a question, the turn is resumed: only the session may begin.
        Raises Declined if one blocks.
        """
        session = turn.conversation_id
        if session not in self.started:
            found = await self._run(turn, "session_start", {})
            self._raise_if_blocked(found)
            self.started[session] = found.context
        said = [self.started[session]]
        if question is not None:
            found = await self._run(turn, "prompt", {"prompt": question})
            self._raise_if_blocked(found)
            said.append(found.context)
        mark = make_mark(session)
        return "".join(f"{fence('hook-output', text, mark)}\n\n" for text in said if text)

    async def end_turn(self, turn: TurnEnvironment, answer: Answer) -> None:
        """Run the hooks after an answer; what one blocks is only told."""
        given = {"answer": answer.content, "problem": answer.problem}
        found = await self._run(turn, "turn_end", given)
        if found.decision == "deny":
            turn.on_event(Noticed(f"{found.reason or 'It ended with exit code 2.'} ({found.hook})"))

    def watch(self, tool: Tool, turn: TurnEnvironment, permit: Permit, *, asks: bool) -> Tool:
        """Return a tool whose calls run the hooks; `asks`: it asks for permission itself."""
        if all(hook.event not in _OF_TOOLS for hook in self.hooks):
            return tool
        name = tool.spec.name

        async def run(arguments: Mapping[str, Json]) -> Json:
            given = {"tool": name, "arguments": dict(arguments)}
            found = await self._run(turn, "before_tool", given, name)
            if found.decision == "deny":
                raise Declined(found.describe())
            if found.decision == "ask":
                turn.on_event(Noticed(found.describe()))
                if not asks:
                    await permit(_make_request(name, arguments))
                elif name == "run_command":  # so a read-only line is asked about, too
                    arguments = {**arguments, "modifies_files": True}
            # Set in any case: the calls of a sub-agent must not inherit it.
            HOOK_DECISION.set(found.decision if asks else None)
            try:
                result = await tool.run(arguments)
            except Exception as error:
                after = await self._run(turn, "after_tool", {**given, "error": str(error)}, name)
                if after.decision == "deny":
                    raise RagForgeError(f"{error}\n{after.describe()}") from error
                raise
            after = await self._run(turn, "after_tool", {**given, "result": result}, name)
            return result if after.decision != "deny" else _add_note(result, after.describe())

        return replace(tool, run=run)

    async def _run(
        self, turn: TurnEnvironment, event: Event, given: Mapping[str, Json], tool: str = ""
    ) -> Outcome:
        """Run the hooks of an event one after another, until one blocks; never raise for them."""
        together = Outcome()
        for hook in self.hooks:
            if hook.event != event or (tool and not hook.concerns(tool)):
                continue
            payload = {
                "event": event,
                "hook": hook.name,
                "session": turn.conversation_id,
                "mode": turn.mode,
                **self.facts,
                **given,
            }
            output = await self.run_command(hook, payload)
            one = read_outcome(hook, output)
            if one.warning:
                log.warning("%s", one.warning)
                turn.on_event(Noticed(one.warning))
            context = "\n\n".join(filter(None, (together.context, one.context)))
            if one.decision == "deny":
                return replace(one, context=context)
            if one.decision == "ask" or together.decision is None:
                together = replace(one, context=context)
            else:
                together = replace(together, context=context)
        return together

    def _raise_if_blocked(self, found: Outcome) -> None:
        if found.decision == "deny":
            raise Declined(found.describe())


def _make_request(tool: str, arguments: Mapping[str, Json]) -> PermissionRequest:
    shown = json.dumps(arguments, indent=2, ensure_ascii=False, default=str)
    return PermissionRequest("tool", tool, shown, always=())


def _add_note(result: Json, note: str) -> Json:
    """Return a result with what a hook said about it; one that is an object keeps its shape."""
    return (
        {**result, "hook": note} if isinstance(result, dict) else {"result": result, "hook": note}
    )
