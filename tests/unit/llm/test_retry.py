"""Retries: which failures are tried again, when, and which are not."""

from __future__ import annotations

import pytest

from ragforge.domain.chat import Usage
from ragforge.errors import (
    KeyRejected,
    ModelBusy,
    ModelError,
    ModelUnavailable,
    ModelUnreachable,
    SpendCapReached,
)
from ragforge.llm.ask import Meter, RetryPolicy, with_retries

PATIENCE = RetryPolicy(attempts=4, first_wait=1.0, longest_wait=10.0)


async def waits_of(errors: list[ModelError], patience: RetryPolicy = PATIENCE) -> list[float]:
    """Return how long was waited between failures that end in success."""
    slept: list[float] = []
    steps = iter(errors)

    async def call() -> str:
        if error := next(steps, None):
            raise error
        return "done"

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    assert await with_retries(call, patience, sleep) == "done"
    return slept


async def test_waits_grow_and_are_spread_out() -> None:
    first, second, third = await waits_of([ModelUnavailable("down")] * 3)

    assert 0.5 <= first <= 1.0
    assert 1.0 <= second <= 2.0
    assert 2.0 <= third <= 4.0


async def test_a_provider_that_names_its_time_is_believed() -> None:
    assert await waits_of([ModelBusy("later", 7.5)]) == [7.5]


async def test_a_provider_that_asks_for_too_long_a_wait_is_given_up_at_once() -> None:
    with pytest.raises(ModelBusy):
        await waits_of([ModelBusy("tomorrow", 86_400)])


async def test_the_last_failure_is_reported() -> None:
    with pytest.raises(ModelUnavailable, match="fourth"):
        await waits_of([ModelUnavailable(n) for n in ("first", "second", "third", "fourth")])


async def test_an_address_where_nothing_answers_is_tried_twice() -> None:
    assert len(await waits_of([ModelUnreachable("first")])) == 1

    with pytest.raises(ModelUnreachable, match="second"):
        await waits_of([ModelUnreachable(n) for n in ("first", "second")])


async def test_what_time_does_not_mend_is_not_tried_again() -> None:
    with pytest.raises(KeyRejected):
        await waits_of([KeyRejected("no")])


def test_a_meter_adds_up_and_stops_at_its_cap() -> None:
    meter = Meter(cap_usd=0.5)
    meter.add(Usage(10, 5, 1, None))
    meter.check()
    meter.add(Usage(1, 1, 1, 0.5))

    assert meter.total == Usage(11, 6, 2, 0.5)
    with pytest.raises(SpendCapReached, match=r"0\.50 USD"):
        meter.check()


def test_a_meter_without_a_cap_never_stops() -> None:
    meter = Meter()
    meter.add(Usage(usd=1e9))
    meter.check()

    assert meter.total.usd == 1e9
