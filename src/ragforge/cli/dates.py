"""Dates: moments as people type them."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

import typer

from ragforge.domain.instants import now

_AGO = re.compile(r"(\d{1,6})\s*(minutes?|hours?|days?|weeks?|m|h|d|w)(?:\s+ago)?")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_since(text: str | None, option: str = "--since") -> datetime | None:
    """Return the moment a day, or a time of it, begins. Raises BadParameter."""
    return None if text is None else _parse_moment(text, time.min, option)


def parse_until(text: str | None) -> datetime | None:
    """Return the moment a day ends, or the time that is given. Raises BadParameter."""
    return None if text is None else _parse_moment(text, time.max, "--until")


def parse_before(text: str) -> datetime:
    """Return the moment before which something was. Raises BadParameter."""
    return _parse_moment(text, time.min, "--before")


def _parse_moment(text: str, of_day: time, option: str) -> datetime:
    """Read ISO 8601, or an age; what has no offset is of this machine's time zone."""
    try:
        if ago := _AGO.fullmatch(text.strip().lower()):
            return now() - timedelta(**{_UNITS[ago[2][0]]: int(ago[1])})
        if len(text) <= len("2025-12-09"):
            found = datetime.combine(date.fromisoformat(text), of_day)
        else:
            found = datetime.fromisoformat(text)
        return found if found.tzinfo is not None else found.astimezone()
    except (ValueError, OverflowError, OSError) as error:
        raise typer.BadParameter(
            f"{text!r} is no date such as 2025-12-09, 2025-12-09T14:30 or an age such as 7d",
            param_hint=option,
        ) from error
