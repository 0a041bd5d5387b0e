"""Forms: read and check what a browser sends."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse

from ragforge.domain.instants import parse_instant
from ragforge.errors import InvalidTime

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

Result = TypeVar("Result")

LEFT = 499
"""The status of a request that no one waits for."""
MAX_CHARS = 1_000
"""Maximum for a query: longer ones are not questions, and take long to search."""
_ID = re.compile(r"[0-9A-Za-z_-]{4,64}")


async def stop_when_left(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of some work. It stops when the browser leaves the request: HTTPException.

    Browsers do so when the user types on.
    """
    working = asyncio.ensure_future(work)

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        working.cancel()

    watching = asyncio.ensure_future(watch())
    try:
        return await working
    except asyncio.CancelledError:
        if watching.done():
            raise HTTPException(LEFT) from None
        raise
    finally:
        watching.cancel()


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form that was sent."""
    body = (await request.body()).decode("utf-8", "replace")
    return dict(parse_qsl(body, keep_blank_values=True, max_num_fields=50))


def go_to(request: Request, path: str) -> Response:
    """Send the browser to another page, with GET."""
    return RedirectResponse(f"{request.app.state.access.base}{path}", 303)


async def check_form(request: Request) -> dict[str, str]:
    """Return the fields of a form that changes something. Raises HTTPException without token."""
    form = await read_form(request)
    if not request.app.state.access.is_form_token(form.get("token", "")):
        raise HTTPException(403)
    return form


def read_text(request: Request, name: str) -> str:
    """Return a text of the address. Raises HTTPException if it is too long."""
    text = request.query_params.get(name, "").strip()
    if len(text) > MAX_CHARS:
        raise HTTPException(414)
    return text


def read_number(request: Request, name: str, default: int, limit: int) -> int:
    """Return a number of the address from 0 to `limit`; anything else means the default."""
    text = request.query_params.get(name, "")
    return min(int(text), limit) if text.isascii() and text.isdecimal() else default


def read_day(request: Request, name: str, *, is_end: bool = False) -> datetime | None:
    """Return the start or the end of a day in the address, or None if it is invalid."""
    try:
        day = datetime.strptime(request.query_params.get(name, ""), "%Y-%m-%d").astimezone()
    except (ValueError, OverflowError):
        return None
    return day + timedelta(days=1, milliseconds=-1) if is_end else day


def read_moment(request: Request, name: str) -> datetime | None:
    """Return a moment in the address, or None if it is invalid."""
    try:
        return parse_instant(request.query_params.get(name, ""))
    except InvalidTime:
        return None


def read_id(request: Request) -> str:
    """Return the id in the path. Raises HTTPException if it is invalid."""
    text = str(request.path_params["id"])
    if not _ID.fullmatch(text):
        raise HTTPException(404)
    return text
