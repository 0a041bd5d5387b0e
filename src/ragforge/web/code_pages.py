"""Code pages: a place in the code, its neighbours, and the sessions that touched it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from starlette.exceptions import HTTPException

from ragforge.domain.text import Json, keep_beginning
from ragforge.errors import InputError
from ragforge.records import dataclass
from ragforge.web.forms import read_moment, read_text
from ragforge.web.render import render

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from ragforge.app import App
    from ragforge.app.features.graph import Graph
    from ragforge.app.features.sessions import Commit, ConversationAbout

ROLES = ("used_by", "uses", "inside", "holds", "inherits_from", "inherited_by")
LINKS = (
    ("imports", True, "imports"),
    ("imports", False, "imported by"),
    ("uses library", True, "libraries"),
)
"""Of a file: the kind of a relation, whether it leads away from the file, and its heading."""
MAX_SESSIONS = 30
MAX_SCOPES = 500
MAX_COMMITS = 20
MAX_DIFF = 200_000
_PLACE = re.compile(r"(?P<file>.+?):(?P<start>\d+)(?:-(?P<end>\d+))?(?: (?P<name>.*))?", re.DOTALL)
KINDS = ("scope", "file", "library", "session")
EDGES = (
    *("has parent", "inherits from", "imports", "consumes", "uses library", "in"),
    *("edited", "read", "named", "started", "branch"),
)
"""Kinds of nodes and edges of the graph."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the code."""

    text: str
    file: str = ""
    line: int = 0
    name: str = ""

    @property
    def target(self) -> str:
        """The text that finds it again: its file and first line, or its name."""
        return f"{self.file}:{self.line}" if self.line else self.text


def read_place(text: str) -> Place:
    """Read a place as it is written: `file:start-end name`, or any part of that."""
    found = _PLACE.fullmatch(text)
    if found is None:
        return Place(text, name=text)
    return Place(text, found["file"], int(found["start"]), found["name"] or "")


async def explore(app: App, name: str) -> dict[str, Json] | None:
    """Return the code with a name or at a place, and its neighbours; None if there is none."""
    if not app.code.is_read or not await app.code.is_ingested():
        return None
    try:
        found = await app.code.explore(read_place(name).target, source=True)
    except InputError:
        return None
    return None if "file" in found else found  # a file has an outline


async def find_touching(app: App, name: str) -> tuple[list[ConversationAbout], str]:
    """Return the sessions that touched some code, or a sentence with the reason why not."""
    place = read_place(name)
    try:
        found = await app.sessions.find_about(place.name or place.file, everywhere=True)
    except InputError as error:
        return [], str(error)
    return found[:MAX_SESSIONS], ""


async def _list_links(app: App, file: str) -> list[tuple[str, list[Place]]]:
    """Return what a file imports and what imports it, each with a heading."""
    graph = await app.graph.load(f"file:{file}")
    if graph is None:
        return []
    nodes, center = {node.id: node for node in graph.nodes}, graph.center.id
    links = []
    for kind, is_out, heading in LINKS:
        ends = [
            nodes[edge.target if is_out else edge.source]
            for edge in graph.edges
            if edge.kind == kind and (edge.source == center) == is_out
        ]
        links.append((heading, [Place(node.label) for node in ends]))
    return [(heading, places) for heading, places in links if places]


class Moment(NamedTuple):
    """A session that touched some code, or a commit that changed it since."""

    when: datetime
    session: ConversationAbout | None = None
    commit: Commit | None = None


def list_moments(sessions: Sequence[ConversationAbout]) -> list[Moment]:
    """Return sessions and the commits since they touched the code on one line, newest first."""
    commits = {
        commit.id: commit
        for one in sessions
        for code in one.touched
        for commit in code.since.commits or ()
    }
    newest = sorted(commits.values(), key=lambda commit: commit.when, reverse=True)
    moments = [Moment(one.when, commit=one) for one in newest[:MAX_COMMITS]]
    moments += [Moment(one.conversation.updated_at, session=one) for one in sessions]
    return sorted(moments, key=lambda moment: moment.when, reverse=True)


async def show_changes(request: Request) -> Response:
    """Show the changes of a file since the last commit before a moment."""
    app: App = request.app.state.app
    file, since = read_text(request, "file"), read_moment(request, "since")
    if not file or since is None:
        raise HTTPException(404)
    diff = await app.code.diff_since(file, since)
    shown = keep_beginning(diff or "", MAX_DIFF)
    return render(
        request, "changes.html", file=file, since=since, diff=shown, is_known=diff is not None
    )


async def show_code(request: Request) -> Response:
    """Show a place in the code; without a name, ask for one."""
    app: App = request.app.state.app
    name = read_text(request, "name")
    found = await explore(app, name) if name else None
    place = read_place(str(found["place"])) if found and "place" in found else None
    subject = name if place is None else f"{place.file}:{place.line} {place.name}"
    sessions, problem = await find_touching(app, subject) if name else ([], "")
    sides = [
        (role, [read_place(one) for one in found[role]])
        for role in ROLES
        if found and isinstance(found.get(role), list)
    ]
    outline = (await app.code.outline(name))[:MAX_SCOPES] if name and found is None else []
    return render(
        request,
        "code.html",
        name=name,
        place=place,
        source="" if place is None or found is None else str(found.get("source", "")),
        kind="" if found is None else str(found.get("type", "")),
        several=[read_place(one) for one in found.get("several", [])] if found else [],
        outline=outline,
        links=await _list_links(app, name) if outline else [],
        sides=sides,
        moments=list_moments(sessions),
        problem=problem,
        here=app.project.ids,
        is_known=app.code.is_read and await app.code.is_ingested(),
    )


async def load_graph(request: Request) -> Graph:
    """Return the graph around the node of the address. Raises HTTPException if there is none."""
    app: App = request.app.state.app
    found = await app.graph.load(read_text(request, "node"))
    if found is None:
        raise HTTPException(404)
    return found


def graph_to_json(graph: Graph) -> Json:
    """Return a graph for the script that draws it."""
    nodes = [
        {"id": one.id, "kind": one.kind, "label": one.label, "place": one.place}
        for one in graph.nodes
    ]
    edges = [{"source": one.source, "target": one.target, "kind": one.kind} for one in graph.edges]
    return {
        "center": graph.center.id,
        "nodes": list(nodes),
        "edges": list(edges),
        "left_out": graph.left_out,
    }


async def show_graph(request: Request) -> Response:
    """Show a node with its neighbours; a script draws the same and extends it."""
    graph = await load_graph(request)
    nodes = {node.id: node for node in graph.nodes}
    rows = [
        (edge.kind, is_out, nodes[edge.target if is_out else edge.source])
        for edge in graph.edges
        for is_out in (edge.source == graph.center.id,)
    ]
    return render(request, "graph.html", graph=graph, rows=rows, kinds=KINDS, words=KINDS + EDGES)
