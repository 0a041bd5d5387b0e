"""Search pages: one box over memory and code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from ragforge.domain.hits import MIN_HIT_RELEVANCE, MIN_RELEVANCE
from ragforge.domain.text import shorten_end
from ragforge.errors import InputError
from ragforge.records import dataclass
from ragforge.show.hits import list_lines, list_texts
from ragforge.show.sessions import load_sessions
from ragforge.show.snippets import choose_text, compile_words, cut_snippet
from ragforge.web.forms import read_day, read_text, stop_when_left
from ragforge.web.render import name_project, render, strip_marks
from ragforge.web.session_pages import TURNS, find_choices

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from ragforge.app import App
    from ragforge.app.features.code import CodeHit
    from ragforge.app.features.memory import StaleCode
    from ragforge.app.features.sessions import SessionLine
    from ragforge.domain.code import Reading, Touch
    from ragforge.domain.conversations import Conversation
    from ragforge.domain.hits import HistoryHit

LEVELS = {"turns": "turns", "L1": "summaries", "L2": "long-term summaries", "notes": "notes"}
"""What hits can be, and what the page calls it."""
NEAREST = 3
"""Hits of each kind that are shown if none of them fits well."""
MEMORY_HITS = 12
CODE_HITS = 8
LATEST = 12
"""Sessions that are shown while nothing is searched for."""
MORE = 5
"""How many times more hits are searched when only those of one agent or file are wanted."""
WIDTH = 220
_LEVELS = {"turns": (0,), "L1": (1,), "L2": (2,), "notes": (0,)}
TITLE = 160
_ONLY_VALUE = re.compile(r'\{"\w+": "((?:[^"\\]|\\.)*)"\}')
"""JSON with a single text."""
LOOKED_AT = 20_000
"""Characters of a text that are searched for the matching part."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is searched for, and among what."""

    query: str
    project: str = ""
    agent: str = ""
    level: str = ""  # one of LEVELS; empty: all
    file: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """A hit in memory, with its session and the code that changed since."""

    hit: HistoryHit
    session: Conversation | None  # None: a note that was made in none, or outlived it
    aged: tuple[StaleCode, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """What a search found."""

    memory: tuple[Remembered, ...]
    code: tuple[CodeHit, ...]
    is_code_known: bool
    problem: str = ""
    reading: Reading | None = None  # how far the first reading of the code is

    def keep_relevant(self) -> tuple[Results, bool]:
        """Return the results without those that do not fit, and whether the others do.

        If none fits well, the nearest are kept. What is hardly likely is never kept.
        """
        memory = tuple(one for one in self.memory if one.hit.relevance >= MIN_RELEVANCE)
        code = self.code if self.code and self.code[0].relevance >= MIN_RELEVANCE else ()
        fits = bool(memory or code)
        if not fits:
            memory, code = self.memory[:NEAREST], self.code[:NEAREST]
        memory = tuple(one for one in memory if one.hit.relevance >= MIN_HIT_RELEVANCE)
        code = tuple(hit for hit in code if hit.relevance >= MIN_HIT_RELEVANCE)
        return replace(self, memory=memory, code=code), fits


def read_wanted(request: Request) -> Wanted:
    """Return what the address asks for."""
    return Wanted(
        read_text(request, "q"),
        read_text(request, "project"),
        read_text(request, "agent"),
        level if (level := read_text(request, "level")) in LEVELS else "",
        read_text(request, "file"),
        read_day(request, "since"),
        read_day(request, "until", is_end=True),
    )


async def search(app: App, wanted: Wanted) -> Results:
    """Search memory everywhere, and the code of this project if it is known."""
    is_known = await app.code.find_reading() is not None or (
        app.code.is_read and await app.code.is_ingested()
    )
    if not wanted.query:
        return Results((), (), is_known)
    try:
        touches = await app.memory.find_touches(wanted.file) if wanted.file else []
    except InputError as error:
        return Results((), (), is_known, str(error))
    found = await app.memory.search(
        wanted.query,
        max_results=MEMORY_HITS * (MORE if wanted.agent or wanted.file else 1),
        levels=_LEVELS.get(wanted.level, (0, 1, 2)),
        include_turns=wanted.level in ("", "turns"),
        include_notes=wanted.level in ("", "notes"),
        since=wanted.since,
        until=wanted.until,
        everywhere=True,
        project_ids=(wanted.project,) if wanted.project else (),
    )
    sessions = await load_sessions(app, found)
    if wanted.agent:
        found = [hit for hit in found if _get_agent(hit, sessions) == wanted.agent]
    if wanted.file:
        found = [hit for hit in found if _has_touched(hit, touches)]
    found = found[:MEMORY_HITS]
    aged = await app.memory.find_changed_code(found)
    memory = tuple(
        Remembered(hit, sessions.get(hit.conversation_id), tuple(changed))
        for hit, changed in zip(found, aged, strict=True)
    )
    is_elsewhere = wanted.project and wanted.project not in app.project.ids
    is_memory = wanted.agent or wanted.level or wanted.since or wanted.until
    if not is_known or is_elsewhere or is_memory:
        return Results(memory, (), is_known)
    code = await app.code.search(wanted.query, CODE_HITS, wanted.file or None)
    return Results(memory, tuple(code), is_known, reading=await app.code.find_reading())


async def show_search(request: Request) -> Response:
    """Show the search box and its results; a script requests only the results."""
    app: App = request.app.state.app
    wanted = read_wanted(request)
    searched = await stop_when_left(request, search(app, wanted))
    results, fits = searched.keep_relevant()
    latest: list[SessionLine] = []
    if not wanted.query:
        found = await app.sessions.find(None, limit=LATEST, everywhere=True)
        latest = await app.sessions.add_last_messages(found)
    pattern = compile_words(wanted.query) if wanted.query else None
    values = {
        "wanted": wanted,
        "memory": [_view_memory(one, pattern, app.project.ids) for one in results.memory],
        "code": [_view_code(hit, wanted.query) for hit in results.code],
        "fits": fits,
        "is_code_known": results.is_code_known,
        "problem": results.problem,
        "reading": results.reading,
        "latest": latest,
    }
    if "x-part" in request.headers:
        return render(request, "results.html", **values)
    return render(request, "search.html", choices=await find_choices(app), levels=LEVELS, **values)


def _has_touched(hit: HistoryHit, touches: Sequence[Touch]) -> bool:
    """Tell whether a turn or summary is one of those that touched a file."""
    if hit.type == "note":
        return False
    first, last = hit.turn_range
    return any(
        touch.conversation_id == hit.conversation_id
        and touch.first_turn <= last
        and first <= touch.last_turn
        for touch in touches
    )


def _get_agent(hit: HistoryHit, sessions: dict[str, Conversation]) -> str:
    session = sessions.get(hit.conversation_id)
    return "" if session is None else session.agent


def _view_memory(
    one: Remembered, pattern: re.Pattern[str] | None, here: Sequence[str]
) -> dict[str, object]:
    """Return what a row shows of a hit in memory."""
    hit, session = one.hit, one.session
    title, texts = list_texts(hit)
    turn = None if hit.type == "note" else hit.turn_range[0]
    first = None if turn is None else turn - turn % TURNS
    if not title and session is not None:
        title = session.title or ""
    said = strip_marks(_unescape(choose_text(texts, pattern)[:LOOKED_AT]))
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
        "project": session and name_project(session.project_path),
        "aged": one.aged[:3],
        "is_here": session is not None and session.project_id in here,
    }


def _unescape(text: str) -> str:
    """Return what a tool gave as JSON with its lines and quotes as they are, to be read."""
    if text[:1] not in ("{", "["):
        return text
    text = _ONLY_VALUE.sub(r"\1", text)
    return text.replace("\\n", "\n").replace('\\"', '"')


def _view_code(hit: CodeHit, query: str) -> dict[str, object]:
    scope = hit.scope
    return {
        "scope": scope,
        "lines": "\n".join(list_lines(scope, query)),
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
