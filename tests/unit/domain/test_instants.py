"""Instants: to the millisecond, with their offset, compared as moments."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragforge.domain.instants import format_instant, now, parse_instant, to_epoch_ms, to_millisecond
from ragforge.errors import InvalidTime


def test_an_instant_is_written_with_milliseconds_and_offset() -> None:
    moment = datetime(2025, 12, 9, 14, 30, 0, 123_999, timezone(timedelta(hours=1)))

    assert format_instant(to_millisecond("t", moment)) == "2025-12-09T14:30:00.123+01:00"


def test_the_present_has_an_offset() -> None:
    assert now().utcoffset() is not None


def test_moments_are_the_same_whatever_their_offset() -> None:
    paris = parse_instant("2025-12-09T14:30:00.123+01:00")
    london = parse_instant("2025-12-09T13:30:00.123+00:00")

    assert to_epoch_ms(paris) == to_epoch_ms(london)


@pytest.mark.parametrize("text", ["", "yesterday", "2025-12-09", "2025-12-09T14:30:00"])
def test_a_moment_without_a_time_zone_is_refused(text: str) -> None:
    with pytest.raises(InvalidTime, match="needs a date, a time and a time zone"):
        parse_instant(text)


@given(st.datetimes(min_value=datetime(1901, 1, 1), timezones=st.just(UTC)), st.integers(-700, 700))  # noqa: DTZ001
def test_what_is_written_is_read_back(moment: datetime, minutes: int) -> None:
    local = moment.astimezone(timezone(timedelta(minutes=minutes)))
    kept = to_millisecond("t", local)

    assert parse_instant(format_instant(kept)) == kept
    assert parse_instant(format_instant(kept)).utcoffset() == kept.utcoffset()
    assert timedelta(0) <= moment - kept < timedelta(milliseconds=1)
