"""Dates: moments as people type them."""

from __future__ import annotations

from datetime import date, datetime, time

import typer


def since(text: str | None) -> datetime | None:
    """Return the moment a day, or a time of it, begins. Raises BadParameter."""
    return _moment(text, time.min, "--since")


def until(text: str | None) -> datetime | None:
    """Return the moment a day ends, or the time that is given. Raises BadParameter."""
    return _moment(text, time.max, "--until")


def _moment(text: str | None, of_day: time, option: str) -> datetime | None:
    """Read ISO 8601; what has no offset is of this machine's time zone."""
    if text is None:
        return None
    try:
        if len(text) <= len("2025-12-09"):
            found = datetime.combine(date.fromisoformat(text), of_day)
        else:
            found = datetime.fromisoformat(text)
        return found if found.tzinfo is not None else found.astimezone()
    except (ValueError, OverflowError, OSError) as error:
        raise typer.BadParameter(
            f"{text!r} is no date such as 2025-12-09 or 2025-12-09T14:30", param_hint=option
        ) from error
