"""Search pages: one box over memory and code."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from ragforge.domain.text import shorten_end
from ragforge.errors import ConversationNotFound
from ragforge.show.hits import choose_lines, list_texts
from ragforge.show.snippets import choose_text, compile_words, cut_snippet
from ragforge.web.forms import read_day, read_text
from ragforge.web.markdown import strip_marks
from ragforge.web.render import render
from ragforge.web.session_pages import TURNS, Project, find_choices

if TYPE_CHECKING:
    import re

    from starlette.requests import Request
    from starlette.responses import Response

    from ragforge.app import App
    from ragforge.app.code import CodeHit
    from ragforge.domain.conversations import Conversation
    from ragforge.domain.hits import HistoryHit

MEMORY_HITS = 12
CODE_HITS = 8
MORE_FOR_AGENT = 5
"""So many times as many hits are looked at where those of one agent are wanted."""
WIDTH = 220
TITLE = 160
LOOKED_AT = 20_000
"""Characters of a text, to find the part that shows why it was found."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is searched for, and among what."""

    query: str
    project: str = ""
    agent: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """A hit in memory, with the session it stands in and the code that changed since."""

    hit: HistoryHit
    session: Conversation | None  # None: a note that was made in none, or outlived it
    aged: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """What a search found."""

    memory: tuple[Remembered, ...]
    code: tuple[CodeHit, ...]
    is_code_known: bool


def read_wanted(request: Request) -> Wanted:
    """Return what the address asks for."""
    return Wanted(
        read_text(request, "q"),
        read_text(request, "project"),
        read_text(request, "agent"),
        read_day(request, "since"),
        read_day(request, "until", is_end=True),
    )


async def search(app: App, wanted: Wanted) -> Results:
    """Search memory everywhere, and the code of this project if it is known."""
    is_known = app.code.is_read and await app.code.is_ingested()
    if not wanted.query:
        return Results((), (), is_known)
    found = await app.memory.search(
        wanted.query,
        max_results=MEMORY_HITS * (MORE_FOR_AGENT if wanted.agent else 1),
        since=wanted.since,
        until=wanted.until,
        everywhere=True,
        project_ids=(wanted.project,) if wanted.project else (),
    )
    sessions = await _load_sessions(app, found)
    if wanted.agent:
        found = [hit for hit in found if _get_agent(hit, sessions) == wanted.agent]
    found = found[:MEMORY_HITS]
    aged = await app.memory.find_changed_code(found)
    memory = tuple(
        Remembered(hit, sessions.get(hit.conversation_id), tuple(str(one) for one in changed))
        for hit, changed in zip(found, aged, strict=True)
    )
    is_elsewhere = wanted.project and wanted.project not in app.project.ids
    if not is_known or is_elsewhere or wanted.agent or wanted.since or wanted.until:
        return Results(memory, (), is_known)
    code = await app.code.search(wanted.query, CODE_HITS)
    return Results(memory, tuple(code), is_known)


async def show_search(request: Request) -> Response:
    """Show the box and what it finds; a script asks for the results alone."""
    app: App = request.app.state.app
    wanted = read_wanted(request)
    results = await search(app, wanted)
    pattern = compile_words(wanted.query) if wanted.query else None
    values = {
        "wanted": wanted,
        "memory": [_view_memory(one, pattern) for one in results.memory],
        "code": [_view_code(hit, wanted.query) for hit in results.code],
        "is_code_known": results.is_code_known,
    }
    if "x-part" in request.headers:
        return render(request, "results.html", **values)
    return render(request, "search.html", choices=await find_choices(app), **values)


async def _load_sessions(app: App, found: list[HistoryHit]) -> dict[str, Conversation]:
    """Return the sessions of hits by their ids; a note outlives its own."""
    sessions: dict[str, Conversation] = {}
    for uuid in dict.fromkeys(hit.conversation_id for hit in found if hit.conversation_id):
        try:
            sessions[uuid] = await app.sessions.load(uuid)
        except ConversationNotFound:
            continue
    return sessions


def _get_agent(hit: HistoryHit, sessions: dict[str, Conversation]) -> str:
    session = sessions.get(hit.conversation_id)
    return "" if session is None else session.agent


def _view_memory(one: Remembered, pattern: re.Pattern[str] | None) -> dict[str, object]:
    """Return what a row shows of a hit in memory."""
    hit, session = one.hit, one.session
    title, texts = list_texts(hit)
    turn = None if hit.type == "note" else hit.turn_range[0]
    first = None if turn is None else turn - turn % TURNS
    if not title and session is not None:
        title = session.title or ""
    said = strip_marks(choose_text(texts, pattern)[:LOOKED_AT])
    snippet = " ".join(cut_snippet(said, pattern, WIDTH))
    return {
        "kind": hit.type,
        "level": hit.level,
        "turn": turn,
        "first": first,
        "title": mark_words(shorten_end(strip_marks(title[:LOOKED_AT]), TITLE), pattern),
        "snippet": mark_words(snippet, pattern),
        "when": hit.timestamp,
        "session": session,
        "project": None
        if session is None
        else Project(session.project_id, session.project_path).name,
        "aged": one.aged[:3],
    }


def _view_code(hit: CodeHit, query: str) -> dict[str, object]:
    scope = hit.scope
    return {
        "scope": scope,
        "lines": "\n".join(choose_lines(scope.source, query)),
        "place": f"{scope.file}:{scope.start_line}",
    }


def mark_words(text: str, pattern: re.Pattern[str] | None) -> Markup:
    """Return a text with the words of a query marked."""
    if pattern is None:
        return escape(text)
    parts, end = [], 0
    for found in pattern.finditer(text):
        parts += [escape(text[end : found.start()]), Markup("<mark>{}</mark>").format(found[0])]
        end = found.end()
    return Markup("").join([*parts, escape(text[end:])])
