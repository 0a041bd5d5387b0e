"""Dates: what a user writes when a command asks for one."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import typer

from ragforge.domain.instants import now

_AGO = re.compile(r"(\d{1,6})\s*(minutes?|hours?|days?|weeks?|m|h|d|w)(?:\s+ago)?")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment(text: str | None) -> datetime | None:
    """Read 2026-01-31, 2026-01-31T14:30, a moment with an offset, or an age: 7d, 3 hours.

    Without an offset it is local time. Raises BadParameter.
    """
    if text is None:
        return None
    if ago := _AGO.fullmatch(text.strip().lower()):
        return now() - timedelta(**{_UNITS[ago[2][0]]: int(ago[1])})
    try:
        found = datetime.fromisoformat(text.strip())
        return found if found.tzinfo is not None else found.astimezone()
    except (ValueError, OverflowError, OSError) as error:
        raise typer.BadParameter(
            f"{text!r} is no date. Write 2026-01-31, 2026-01-31T14:30 or an age such as 7d."
        ) from error
