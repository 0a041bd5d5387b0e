"""The JSON API: the same views as `--json` of the commands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ragforge.app.wiring.stores import inspect_store
from ragforge.show.hits import code_to_json, memory_to_json
from ragforge.show.sessions import about_to_json, line_to_json, session_to_json, turn_to_json
from ragforge.show.store import job_to_json, store_to_json
from ragforge.web.code_pages import explore, find_touching, graph_to_json, load_graph
from ragforge.web.context_pages import MAX_BUDGET, build_context
from ragforge.web.forms import read_id, read_number, read_text
from ragforge.web.search_pages import read_wanted, search
from ragforge.web.session_pages import LISTED, MAX_OFFSET, TURNS, find_lines
from ragforge.web.store_pages import JOBS

if TYPE_CHECKING:
    from starlette.requests import Request

    from ragforge.app import App

MAX_TURNS = 200


async def list_sessions(request: Request) -> Response:
    """`?project=&agent=&offset=`: sessions, the last active first."""
    offset = read_number(request, "offset", 0, MAX_OFFSET)
    lines, has_more = await find_lines(
        _get_app(request), read_text(request, "project"), read_text(request, "agent"), offset
    )
    following = offset + LISTED if has_more else None
    shown = [line_to_json(line) for line in lines]
    return _reply({"sessions": shown, "next_offset": following})


async def load_session(request: Request) -> Response:
    """`?from=&count=`: a session with some of its turns."""
    app = _get_app(request)
    session = await app.sessions.resolve(read_id(request))
    first = read_number(request, "from", 0, MAX_OFFSET)
    count = max(read_number(request, "count", TURNS, MAX_TURNS), 1)
    turns = await app.sessions.load_turns(session, first, count)
    shown = [turn_to_json(turn) for turn in turns]
    return _reply({**session_to_json(session), "turns": shown})


async def load_receipt(request: Request) -> Response:
    """`?turn=`: the receipt of the answer in a turn."""
    app = _get_app(request)
    session = await app.sessions.resolve(read_id(request))
    turn = read_number(request, "turn", 0, MAX_OFFSET)
    receipt = await app.sessions.load_receipt(session, turn)
    if receipt is None:
        raise HTTPException(404)
    return _reply({"receipt": receipt.to_json()})


async def search_all(request: Request) -> Response:
    """`?q=&project=&agent=&level=&file=&since=&until=`: memory and code."""
    wanted = read_wanted(request)
    found = await search(_get_app(request), wanted)
    agents = {one.session.uuid: one.session.agent for one in found.memory if one.session}
    memory = [
        {**memory_to_json(one.hit, (), agents), "aged": [str(code) for code in one.aged]}
        for one in found.memory
    ]
    code = [code_to_json(hit) for hit in found.code]
    return _reply(
        {
            "query": wanted.query,
            "memory": memory,
            "code": code,
            "reading": None if found.reading is None else found.reading.to_json(),
            "problem": found.problem or None,
        }
    )


async def show_context(request: Request) -> Response:
    """`?q=&budget=`: the context of a question, as `ragforge context --json`."""
    budget = read_number(request, "budget", 0, MAX_BUDGET)
    built = await build_context(_get_app(request), _read_needed(request, "q"), budget)
    return _reply({"text": built.text, "receipt": built.receipt.to_json()})


async def show_code(request: Request) -> Response:
    """`?name=`: a place in the code, its neighbours, and the sessions that touched it."""
    app, name = _get_app(request), _read_needed(request, "name")
    sessions, problem = await find_touching(app, name)
    touched = [about_to_json(one) for one in sessions]
    found = await explore(app, name)
    return _reply({"code": found, "sessions": touched, "problem": problem or None})


async def show_graph(request: Request) -> Response:
    """`?node=`: the neighbours of `session:ID`, `file:PATH`, `scope:ID` or `place:FILE:LINE`."""
    return _reply(graph_to_json(await load_graph(request)))


async def show_store(request: Request) -> Response:
    """What the store holds, as `ragforge store info --json`."""
    return _reply(store_to_json(*await inspect_store(_get_app(request).settings)))


async def list_jobs(request: Request) -> Response:
    """Jobs that are not done, as `ragforge memory jobs --json`."""
    app = _get_app(request)
    found = [job_to_json(job) for job in await app.jobs.find(JOBS)]
    counts = {str(status): count for status, count in (await app.jobs.count()).by_status.items()}
    return _reply({"jobs": found, "counts": counts})


def _reply(value: object) -> Response:
    """Return JSON that is ASCII: lone surrogates, which some transcripts hold, are escaped."""
    return Response(json.dumps(value), media_type="application/json")


def _get_app(request: Request) -> App:
    app: App = request.app.state.app
    return app


def _read_needed(request: Request, name: str) -> str:
    """Return a text of the address that must be there. Raises HTTPException."""
    text = read_text(request, name)
    if not text:
        raise HTTPException(400)
    return text
