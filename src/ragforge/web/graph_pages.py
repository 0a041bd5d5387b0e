"""Graph pages: what is beside a scope, a file or a session, as a picture and as a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from ragforge.domain.text import Json
from ragforge.web.forms import read_text
from ragforge.web.render import render

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from ragforge.app import App
    from ragforge.app.features.graph import Graph

KINDS = ("scope", "file", "library", "session")


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
    """Show a thing with all that is beside it; a script draws the same and adds to it."""
    graph = await load_graph(request)
    nodes = {node.id: node for node in graph.nodes}
    rows = [
        (
            edge.kind,
            edge.source == graph.center.id,
            nodes[_get_other(edge.source, edge.target, graph)],
        )
        for edge in graph.edges
    ]
    return render(request, "graph.html", graph=graph, rows=rows, kinds=KINDS)


def _get_other(source: str, target: str, graph: Graph) -> str:
    return target if source == graph.center.id else source
