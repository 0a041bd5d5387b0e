"""Permission: the editor asks its user before anything is changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from acp import schema, text_block, tool_content
from acp.helpers import ToolCallContentVariant
from acp.interfaces import Client

from ragforge.acp.texts import clean
from ragforge.acp.updates import TurnUpdates, UpdateQueue, list_changes
from ragforge.app import App
from ragforge.app.wiring.trust import TrustQuestion, examine_folder
from ragforge.domain.text import new_id
from ragforge.permissions import PermissionRequest, Verdict
from ragforge.records import dataclass
from ragforge.show.settings import TRUST_QUESTION, format_ignored, format_question
from ragforge.show.visible import make_visible

ONCE = "once"
REJECT = "reject"
ALWAYS = "always"
_TOOLS = {"edit_file": ("edit_file", "write_file")}
"""The tools that ask for an action, where they are not named as it."""
_VERBS: dict[str, tuple[str, schema.ToolKind]] = {
    "edit_file": ("Edit", "edit"),
    "run_command": ("Run", "execute"),
    "mcp": ("Call", "other"),
    "fetch_url": ("Read a page of", "fetch"),
    "web_search": ("Search the web with", "fetch"),
    "tool": ("Use", "other"),
}

YES = "yes"
NO = "no"


@dataclass(frozen=True, slots=True)
class Permission:
    """Puts the requests of one turn to the user of an editor."""

    client: Client
    session_id: str
    root: Path
    updates: TurnUpdates
    queue: UpdateQueue

    async def approve(self, request: PermissionRequest) -> Verdict:
        """Return the user's answer; one who closes the question has denied it."""
        await self.queue.flush()  # the editor knows the call before it is asked about it
        answer = await self.client.request_permission(
            self.session_id, self._describe(request), list_options(request)
        )
        outcome = answer.outcome
        chosen = outcome.option_id if isinstance(outcome, schema.AllowedOutcome) else REJECT
        return read_choice(chosen, request)

    def _describe(self, request: PermissionRequest) -> schema.ToolCallUpdate:
        is_edit = request.action == "edit_file"
        verb, kind = _VERBS[request.action]
        names_tool = request.action in ("mcp", "tool")
        tools = (request.subject,) if names_tool else (request.action,)
        call = self.updates.find_running(_TOOLS.get(request.action, tools), request.subject)
        place = self.root / request.subject
        content: list[ToolCallContentVariant] = (
            [*list_changes(place, request.preview)]
            if is_edit
            else [tool_content(text_block(clean(request.preview)))]
        )
        return schema.ToolCallUpdate(
            tool_call_id=new_id() if call is None else call.id,
            title=clean(make_visible(f"{verb} {request.subject}")),
            kind=kind,
            status="pending",
            content=content,
            locations=[schema.ToolCallLocation(path=clean(str(place)))] if is_edit else [],
        )


def list_options(request: PermissionRequest) -> list[schema.PermissionOption]:
    """Return the answers that a user can choose: once, always where that is offered, and no.

    Some editors show and choose by kind, so there is one option of each, and *always* is the
    narrowest rule: a second one could be a wider rule than the one that the user saw.
    """
    options = [schema.PermissionOption(option_id=ONCE, name="Allow once", kind="allow_once")]
    if request.always:
        rule = f"{request.action}({make_visible(request.always[0])})"
        name = clean(f"Always allow {rule}")
        options.append(schema.PermissionOption(option_id=ALWAYS, name=name, kind="allow_always"))
    return [*options, schema.PermissionOption(option_id=REJECT, name="Reject", kind="reject_once")]


def read_choice(chosen: str, request: PermissionRequest) -> Verdict:
    """Return what the chosen answer means; one that was not offered is a no."""
    if chosen == ONCE:
        return Verdict("once")
    if chosen == ALWAYS and request.always:
        return Verdict("always", request.always[0])
    return Verdict("deny")


@dataclass(frozen=True, slots=True)
class FolderQuestions:
    """Puts what is open about a folder to the user of an editor, in one session."""

    client: Client
    session_id: str
    say: Callable[[str], None]  # for what is left out

    async def settle(self, app: App) -> bool:
        """Ask what is open; return whether the folder is trusted since now.

        An answer is remembered; to close a question leaves it open, and the folder's files
        ignored.
        """
        question = await asyncio.to_thread(examine_folder, app.settings, app.cwd)
        is_trusted = False
        if question.is_open:
            is_trusted = await self._ask_about_files(question, app)
        elif not app.trust.reads and not app.trust.was_refused:
            what = "more than a project" if app.trust.is_too_wide else "not a project"
            text = f"{app.trust.root} is {what}. May all its files be read and remembered?"
            if (yes := await self._ask("Read this folder?", [text], "Read its files")) is not None:
                app.trust.answer_reading(yes)
        if not app.trust.reads:
            self.say(app.trust.describe_unread())
        return is_trusted

    async def _ask_about_files(self, question: TrustQuestion, app: App) -> bool:
        lines = [*format_question(question), TRUST_QUESTION]
        yes = await self._ask("Trust this folder?", lines, "Trust this folder")
        if yes is None:
            file = () if question.file is None else (question.file.name,)
            self.say(format_ignored(" and ".join((*file, *question.ignored)), question.root))
            return False
        question.answer(app.settings, yes)
        return yes

    async def _ask(self, title: str, lines: Sequence[str], yes: str) -> bool | None:
        """Return the user's answer; None if the question is closed without one.

        There is no "once": an editor that is set to allow every call chooses that by itself.
        """
        answer = await self.client.request_permission(
            self.session_id,
            schema.ToolCallUpdate(
                tool_call_id=new_id(),
                title=title,
                kind="other",
                status="pending",
                content=[tool_content(text_block(clean("\n".join(lines))))],
            ),
            [
                schema.PermissionOption(option_id=YES, name=yes, kind="allow_always"),
                schema.PermissionOption(option_id=NO, name="No", kind="reject_always"),
            ],
        )
        outcome = answer.outcome
        chosen = outcome.option_id if isinstance(outcome, schema.AllowedOutcome) else None
        return {YES: True, NO: False}.get(chosen or "")
