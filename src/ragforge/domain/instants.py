"""Instants: moments in time with their local offset, to the millisecond."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta, timezone

from ragforge.errors import InvalidTime

_CLOCK_SLACK = timedelta(minutes=5)
_EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def now() -> datetime:
    """Return the current time with the local offset."""
    return to_millisecond("now", datetime.now().astimezone())


def latest_plausible() -> datetime:
    """Return the latest moment that is not the mistake of a wrong clock."""
    return now() + _CLOCK_SLACK


def date_session(
    created: datetime, updated: datetime, added: Sequence[datetime]
) -> tuple[datetime, datetime]:
    """Return when a session began and was last active, now that messages were added.

    Dates in the future are mistakes of a clock that was set back since, and give way. Messages
    from before there was RagForge are mistakes of a clock that is wrong now, and change nothing.
    """
    latest = latest_plausible()
    usable = [one for one in added if _EARLIEST <= one <= latest] or [max(added)]
    newest, first = max(usable), min(usable)
    if newest < _EARLIEST:
        return created, updated
    updated = max(updated, newest) if updated <= latest else newest
    return min(created, first), updated


def to_millisecond(field: str, moment: datetime) -> datetime:
    """Return the moment cut to the millisecond, the precision that is stored.

    Raises InvalidTime if the moment has no time zone.
    """
    offset = moment.utcoffset()
    if offset is None:
        raise InvalidTime(field, moment.isoformat())
    whole_minutes = timedelta(minutes=offset // timedelta(minutes=1))
    cut = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    return cut.astimezone(timezone(whole_minutes))


def to_epoch_ms(moment: datetime) -> int:
    """Return the moment as milliseconds since 1970, the same for every offset.

    Raises InvalidTime if the moment has no time zone.
    """
    if moment.utcoffset() is None:
        raise InvalidTime("date", moment.isoformat())
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def format_instant(moment: datetime) -> str:
    """Return ISO 8601 with milliseconds and offset: 2025-12-09T14:30:00.123+01:00."""
    return moment.isoformat(timespec="milliseconds")


def parse_instant(text: str) -> datetime:
    """Read what `format_instant` wrote, or any ISO 8601 moment with an offset.

    Raises InvalidTime if the text is something else.
    """
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is UTC and not moment.microsecond % 1000:
            return moment  # the common case, and there are thousands
        return to_millisecond("timestamp", moment)
    except ValueError as error:
        raise InvalidTime("timestamp", text) from error


def begin_of_day() -> datetime:
    """Return the last midnight of the user's clock."""
    return datetime.combine(now().astimezone().date(), time.min).astimezone()
