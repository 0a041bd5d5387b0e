"""Session pages: all sessions by repository, and one session turn by turn."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import unified_diff
from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import Response

from ragforge.domain.text import Json, keep_beginning, to_text
from ragforge.records import dataclass
from ragforge.show.calls import find_diffs, format_duration, format_headline, format_outcome
from ragforge.web.forms import check_form, go_to, read_id, read_number, read_text
from ragforge.web.render import name_project, render

if TYPE_CHECKING:
    from starlette.requests import Request

    from ragforge.app import App
    from ragforge.app.features.memory import StaleCode
    from ragforge.app.features.sessions import SessionLine
    from ragforge.domain.conversations import Message, ToolCall
    from ragforge.domain.turns import Turn

LISTED = 50
TURNS = 20
MAX_OFFSET = 1_000_000
LOOKED_AT = 500
"""How many of the newest sessions are read for the names of projects and agents."""
SHOWN_CHARS = 20_000
"""Maximum for one text of a call; the rest is only counted."""
SAID_CHARS = 200_000
CHANGED = 12
"""Maximum number of code places that are shown with a turn."""
_BEFORE = ("old_text", "old_string", "old_str")
_AFTER = ("new_text", "new_string", "new_str", "content", "file_text")


class Project(NamedTuple):
    """A repository that sessions belong to."""

    id: str
    path: str

    @property
    def name(self) -> str:
        return name_project(self.path)


class Choices(NamedTuple):
    """What sessions and hits can be filtered by."""

    projects: Sequence[Project]
    agents: Sequence[str]


async def find_choices(app: App) -> Choices:
    """Return the projects and agents of the newest sessions, the last active first."""
    newest = await app.sessions.find(None, limit=LOOKED_AT, everywhere=True)
    projects: dict[str, Project] = {}
    for one in newest:
        projects.setdefault(one.project_id, Project(one.project_id, one.project_path))
    return Choices(tuple(projects.values()), tuple(sorted({one.agent for one in newest})))


async def find_lines(
    app: App, project: str, agent: str, offset: int
) -> tuple[list[SessionLine], bool]:
    """Return a page of sessions, and whether others follow."""
    found = await app.sessions.find(
        None,
        limit=LISTED + 1,
        everywhere=True,
        project_ids=(project,) if project else (),
        agent=agent or None,
        offset=offset,
    )
    return await app.sessions.add_last_messages(found[:LISTED]), len(found) > LISTED


async def show_sessions(request: Request) -> Response:
    """Show the sessions of all agents, grouped by repository, the last active first."""
    app: App = request.app.state.app
    project, agent = read_text(request, "project"), read_text(request, "agent")
    offset = read_number(request, "offset", 0, MAX_OFFSET)
    lines, has_more = await find_lines(app, project, agent, offset)
    groups: dict[str, list[SessionLine]] = {}
    for line in lines:
        groups.setdefault(line.conversation.project_id, []).append(line)
    values = {
        "groups": [
            (Project(name, some[0].conversation.project_path), some)
            for name, some in groups.items()
        ],
        "project": project,
        "agent": agent,
        "newer": max(offset - LISTED, 0) if offset else None,
        "older": offset + LISTED if has_more else None,
    }
    if "x-part" in request.headers:
        return render(request, "session_list.html", **values)
    return render(request, "sessions.html", choices=await find_choices(app), **values)


async def show_session(request: Request) -> Response:
    """Show some turns of a session; a script asks for those that follow, one page at a time."""
    app: App = request.app.state.app
    session = await app.sessions.resolve(read_id(request))
    first = read_number(request, "from", 0, MAX_OFFSET)
    turns = await app.sessions.load_turns(session, first, TURNS)
    count = await app.sessions.count_turns(session)
    after = first + TURNS if first + TURNS < count else None
    changed = await app.memory.find_changed_in_turns(session, turns)
    values = {
        "session": session,
        "turns": [view_turn(*pair) for pair in zip(turns, changed, strict=True)],
        "after": after,
        "is_here": session.project_id in app.project.ids,
    }
    if "x-part" in request.headers:
        return render(request, "turns.html", **values)
    return render(
        request,
        "session.html",
        before=max(first - TURNS, 0) if first else None,
        latest=max(count - TURNS, 0),
        project=Project(session.project_id, session.project_path),
        family=await app.sessions.find_relatives(session),
        **values,
    )


async def export_session(request: Request) -> Response:
    """Send a session as the file that `ragforge sessions export` writes."""
    app: App = request.app.state.app
    session = await app.sessions.resolve(read_id(request))
    name = f'attachment; filename="session-{session.uuid[:8]}.json"'
    return Response(
        await app.sessions.export_bytes(session.uuid),
        media_type="application/json",
        headers={"Content-Disposition": name},
    )


async def delete_session(request: Request) -> Response:
    """Delete a session for good, once its form was sent."""
    await check_form(request)
    app: App = request.app.state.app
    await app.sessions.delete(await app.sessions.load(read_id(request)))
    return go_to(request, "/sessions")


@dataclass(frozen=True, slots=True)
class CallView:
    """A tool call, to be shown folded."""

    name: str
    headline: str
    outcome: str
    has_failed: bool
    arguments: str
    result: str
    diff: str


@dataclass(frozen=True, slots=True)
class ReplyView:
    """One message of an answer."""

    role: str
    text: str
    reasoning: str
    calls: tuple[CallView, ...]


@dataclass(frozen=True, slots=True)
class TurnView:
    """A turn, to be shown."""

    turn: Turn
    index: int
    question: str
    replies: tuple[ReplyView, ...]
    tokens: int
    usd: float | None  # what it cost, where that is known
    models: tuple[str, ...]
    has_answer: bool
    changed: tuple[StaleCode, ...] = ()  # code that has changed since


def view_turn(turn: Turn, changed: Sequence[StaleCode] = ()) -> TurnView:
    """Return what is shown of a turn; very long texts are cut and say so."""
    said = (turn.user, *turn.replies)
    prices = [message.usd for message in said if message.usd is not None]
    return TurnView(
        turn=turn,
        index=turn.user.turn_index or 0,
        question=keep_beginning(turn.user.content, SAID_CHARS),
        replies=tuple(_view_reply(message) for message in turn.replies),
        tokens=sum(message.token_count or 0 for message in said),
        usd=sum(prices) if prices else None,
        models=tuple(dict.fromkeys(message.model for message in said if message.model)),
        has_answer=any(message.role == "assistant" for message in turn.replies),
        changed=tuple(changed[:CHANGED]),
    )


def _view_reply(message: Message) -> ReplyView:
    return ReplyView(
        role=message.role,
        text=keep_beginning(message.content, SAID_CHARS).strip(),
        reasoning=keep_beginning(message.reasoning or "", SAID_CHARS).strip(),
        calls=tuple(_view_call(call) for call in message.tool_calls),
    )


def _view_call(call: ToolCall) -> CallView:
    result = call.result
    if result is None:
        outcome = "interrupted"
    elif not call.success:
        outcome = "failed"
    else:
        took = format_duration(call.duration_ms) if call.duration_ms else ""
        outcome = " · ".join(filter(None, (format_outcome(result.result), took)))
    gave = "" if result is None else result.error or _format_json(_leave_out_diff(result.result))
    return CallView(
        name=call.tool_name,
        headline=format_headline(call.arguments) if isinstance(call.arguments, dict) else "",
        outcome=outcome,
        has_failed=not call.success,
        arguments=keep_beginning(_format_json(call.arguments), SHOWN_CHARS),
        result=keep_beginning(gave, SHOWN_CHARS),
        diff=keep_beginning(_find_diff(call), SHOWN_CHARS),
    )


def _leave_out_diff(result: Json) -> Json:
    """Return a result without its diff, which is shown by itself."""
    if isinstance(result, dict) and isinstance(result.get("diff"), str):
        return {name: value for name, value in result.items() if name != "diff"} or None
    return result


def _find_diff(call: ToolCall) -> str:
    """Return what an edit changed: as its tool says, or of the texts that it was given."""
    if call.result and (diffs := find_diffs(call.result.result)):
        return "\n".join(diffs)
    given = call.arguments
    if not isinstance(given, dict):
        return ""
    before, after = _pick(given, _BEFORE), _pick(given, _AFTER)
    if after is None or (before is None and "content" not in given and "file_text" not in given):
        return ""
    if len(before or "") + len(after) > 10 * SHOWN_CHARS:
        return ""
    old, new = (before or "").splitlines(), after.splitlines()
    lines = [*unified_diff(old, new, lineterm="", n=3)][2:]
    # The place in the file is not known: the numbers of hunks count from the given text.
    return "\n".join("@@" if line.startswith("@@") else line for line in lines)


def _pick(given: dict[str, Json], names: tuple[str, ...]) -> str | None:
    return next((given[name] for name in names if isinstance(given.get(name), str)), None)


def _format_json(value: Json) -> str:
    """Return a value to read: text as it is, anything else indented.

    Texts of several lines in it stand below it as they are, each under its name.
    """
    if isinstance(value, str) or value is None:
        return value or ""
    if isinstance(value, dict):
        texts = {
            name: text for name, text in value.items() if isinstance(text, str) and "\n" in text
        }
        rest = {name: item for name, item in value.items() if name not in texts}
        parts = [json.dumps(rest, ensure_ascii=False, indent=2)] if rest else []
        parts += [f"{name}:\n{text}" for name, text in texts.items()]
        return "\n\n".join(parts)
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False, indent=2)
    return to_text(value)
