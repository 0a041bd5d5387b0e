"""Context pages: the receipt of an answer as a picture, and a playground for questions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.exceptions import HTTPException

from ragforge.domain.receipts import SECTIONS
from ragforge.records import dataclass
from ragforge.web.forms import read_id, read_number, read_text, stop_when_left
from ragforge.web.render import render
from ragforge.web.session_pages import TURNS

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from ragforge.app import App
    from ragforge.app.wiring.context_builder import EnrichedContext
    from ragforge.domain.receipts import Layout, Receipt, ReceiptItem

WIDTH = 1_000
"""Units of the bar."""
COLOURS = 9
"""Colours in the style sheet."""
MAX_BUDGET = 400_000
MAX_TURN = 1_000_000
_TURN = re.compile(r"turns? (?P<turn>\d{1,6})\b.*\bsession (?P<session>[0-9A-Za-z-]{4,64})")


@dataclass(frozen=True, slots=True)
class BarPart:
    """One stretch of the bar: an item of the context, in the colour of its section."""

    colour: int
    x: float
    width: float
    name: str
    chars: int
    source: str = ""


def draw_bar(receipt: Receipt) -> list[BarPart]:
    """Return the items of a receipt as stretches of a bar that is as wide as the budget."""
    scale = WIDTH / max(receipt.max_chars, receipt.chars, 1)
    parts, x = [], 0.0
    for item in sorted(receipt.items, key=lambda one: SECTIONS.index(one.section)):
        width = item.chars * scale
        place = SECTIONS.index(item.section), round(x, 2), round(width, 2)
        parts.append(BarPart(*place, item.section.replace("_", " "), item.chars, item.source))
        x += width
    return parts


def draw_request(layout: Layout) -> list[BarPart]:
    """Return the parts of a request as stretches of a bar; empty ones are left out."""
    scale, x = WIDTH / max(layout.chars, 1), 0.0
    parts = []
    for at, part in enumerate(layout.parts):
        if width := part.chars * scale:
            place = at % COLOURS, round(x, 2), round(width, 2)
            parts.append(BarPart(*place, part.name, part.chars))
        x += width
    return parts


def find_address(item: ReceiptItem) -> str:
    """Return the page of an item, or an empty text if it has none."""
    if item.section in ("code", "documents"):
        return f"/code?{urlencode({'name': item.source})}"
    if item.section == "notes":
        return "/notes"
    found = _TURN.search(item.source)
    if found is None:
        return ""
    turn = int(found["turn"])
    return f"/sessions/{found['session']}?from={turn - turn % TURNS}#turn-{turn}"


def view_receipt(receipt: Receipt) -> dict[str, object]:
    """Return what the templates need of a receipt."""
    sizes = [(at, name, receipt.count_chars(name)) for at, name in enumerate(SECTIONS)]
    return {
        "receipt": receipt,
        "items": [(item, find_address(item)) for item in receipt.items],
        "bar": draw_bar(receipt),
        "request_bar": [] if receipt.layout is None else draw_request(receipt.layout),
        "sections": [(at, name.replace("_", " "), chars) for at, name, chars in sizes if chars],
        "colours": {name: at for at, name in enumerate(SECTIONS)},
    }


async def build_context(app: App, question: str, budget: int) -> EnrichedContext:
    """Return the context that a question would get; 0 leaves the budget to the settings."""
    from ragforge.app.wiring.context_builder import ContextOptions  # half of the start's time

    return await app.build_context(question, ContextOptions(max_chars=budget or None))


async def show_receipt(request: Request) -> Response:
    """Show what a model was given for the answer in a turn, and why."""
    app: App = request.app.state.app
    session = await app.sessions.resolve(read_id(request))
    turn = read_number(request, "turn", 0, MAX_TURN)
    receipt = await app.sessions.load_receipt(session, turn)
    if receipt is None:
        raise HTTPException(404)
    values = view_receipt(receipt)
    return render(request, "receipt.html", session=session, turn=turn, **values)


async def show_playground(request: Request) -> Response:
    """Show a question with the context that it would get within a budget."""
    app: App = request.app.state.app
    question = read_text(request, "q")
    default = app.settings.agent.memory.max_context_chars
    budget = read_number(request, "budget", default, MAX_BUDGET)
    values: dict[str, object] = {"question": question, "text": "", "receipt": None}
    if question:
        built = await stop_when_left(request, build_context(app, question, max(budget, 1)))
        values |= {**view_receipt(built.receipt), "text": built.text}
    if "x-part" in request.headers:
        return render(request, "context_parts.html", **values)
    limit = max(default * 2, budget)
    return render(request, "context.html", budget=budget, limit=limit, **values)
