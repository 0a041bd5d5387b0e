"""Times: moments with their offset, to the millisecond, compared as instants."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from ragforge.adapters.stores.holders import this_process
from ragforge.domain.conversations import ConversationFilter, MemoryFilter
from ragforge.domain.schema import CONVERSATION, JOB, MESSAGE, SUMMARY, TURN
from ragforge.domain.summaries import SummaryFilter
from ragforge.domain.work import NewJob
from ragforge.errors import InvalidTime
from ragforge.ports.store import Store
from tests.fakes.builders import START, conversation, direction, summary, user
from tests.fakes.jobs import fail_job

NO_ZONE = START.replace(tzinfo=None)
MOMENTS = [
    datetime(1, 1, 2, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC),
    datetime(1970, 1, 1, tzinfo=timezone(timedelta(hours=-12))),
    datetime(2024, 2, 29, 23, 59, 59, 1_000, tzinfo=timezone(timedelta(hours=14))),
    datetime(2025, 10, 26, 2, 30, fold=0, tzinfo=ZoneInfo("Europe/Paris")),
    datetime(2025, 10, 26, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Paris")),
    datetime(2025, 6, 1, tzinfo=timezone(timedelta(hours=5, minutes=45))),
    datetime(9999, 12, 30, tzinfo=UTC),
]


async def test_any_moment_is_kept_with_its_offset(store: Store) -> None:
    for i, moment in enumerate(MOMENTS):
        name, said = f"c{i}", f"t{i}"
        await store.records.put(CONVERSATION, conversation(uuid=name, created_at=moment))
        await store.timeline.append(name, [user(uuid=said, timestamp=moment)])
        await store.timeline.save_summary(summary(name, uuid=f"s{i}", created_at=moment))

        kept = [
            (await store.records.get(CONVERSATION, name)).created_at,
            (await store.records.get(MESSAGE, said)).timestamp,
            (await store.records.get(SUMMARY, f"s{i}")).created_at,
        ]

        wanted = moment.isoformat(timespec="milliseconds")
        assert [one.isoformat(timespec="milliseconds") for one in kept] == [wanted] * 3


async def test_moments_are_ordered_as_instants(store: Store) -> None:
    for i, moment in enumerate(MOMENTS):
        await store.records.put(CONVERSATION, conversation(uuid=f"{i}", created_at=moment))

    found = await store.records.find(CONVERSATION, ConversationFilter())

    order = sorted(range(len(MOMENTS)), key=lambda i: MOMENTS[i].timestamp(), reverse=True)
    assert [c.uuid for c in found] == [f"{i}" for i in order]


async def test_a_moment_finer_than_a_millisecond_still_finds_what_has_it(store: Store) -> None:
    moment = START.replace(microsecond=123_987)
    await store.records.put(CONVERSATION, conversation(uuid="c", created_at=moment))
    await store.timeline.append("c", [user("zebra", uuid="t", timestamp=moment)])
    await store.index.embed(TURN, {"t": direction(0)})
    await store.timeline.save_summary(summary("c", uuid="s", created_at=moment))

    then = MemoryFilter(since=moment, until=moment)
    talks = await store.records.find(CONVERSATION, ConversationFilter(since=moment, until=moment))
    by_words = (await store.index.search(TURN, "zebra", None, then, 9, read=0)).by_words
    by_vector = (await store.index.search(TURN, "", direction(0), then, 9, read=0)).by_vector
    summaries = await store.records.find(SUMMARY, SummaryFilter(since=moment, until=moment))

    assert [c.uuid for c in talks] == ["c"]
    assert [m.id for m in by_words] == [m.id for m in by_vector] == ["t"]
    assert [s.uuid for s in summaries] == ["s"]


async def test_a_millisecond_makes_the_difference(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    step = timedelta(milliseconds=1)
    said = [user("zebra", uuid=f"{i}", timestamp=START + i * step) for i in range(3)]
    await store.timeline.append("c", said)

    async def found(where: MemoryFilter) -> set[str]:
        return {
            m.id for m in (await store.index.search(TURN, "zebra", None, where, 9, read=0)).by_words
        }

    assert await found(MemoryFilter(since=START + step)) == {"1", "2"}
    assert await found(MemoryFilter(until=START + step)) == {"0", "1"}
    assert await found(MemoryFilter(since=START + step, until=START + step)) == {"1"}


async def test_a_filter_without_a_zone_is_refused(store: Store) -> None:
    search = store.index.search
    for ask in (
        lambda: store.records.find(CONVERSATION, ConversationFilter(since=NO_ZONE)),
        lambda: store.records.find(CONVERSATION, ConversationFilter(until=NO_ZONE)),
        lambda: search(TURN, "zebra", None, MemoryFilter(since=NO_ZONE), 9),
        lambda: search(TURN, "", direction(0), MemoryFilter(until=NO_ZONE), 9),
        lambda: search(CONVERSATION, "", direction(0), ConversationFilter(since=NO_ZONE), 9),
        lambda: store.records.find(SUMMARY, SummaryFilter(since=NO_ZONE)),
        lambda: search(SUMMARY, "zebra", None, SummaryFilter(until=NO_ZONE), 9),
        lambda: search(SUMMARY, "", direction(0), SummaryFilter(since=NO_ZONE), 9),
        lambda: store.timeline.trim(NO_ZONE),
    ):
        with pytest.raises(InvalidTime):
            await ask()


async def test_a_retry_without_a_zone_is_refused_and_the_job_stays_held(store: Store) -> None:
    await store.jobs.enqueue([NewJob("k", "embed")])
    holder = this_process()
    claimed = await store.jobs.claim(holder, timedelta(minutes=1))

    with pytest.raises(InvalidTime):
        await fail_job(store, "k", holder, "no", NO_ZONE)

    assert await store.records.get(JOB, "k") == claimed
