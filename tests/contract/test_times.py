"""Times: moments with their offset, to the millisecond, compared as instants."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from ragforge.adapters.stores.holders import this_process
from ragforge.domain.conversations import ConversationFilter, MemoryFilter
from ragforge.domain.summaries import SummaryFilter
from ragforge.domain.work import NewJob
from ragforge.errors import InvalidTime
from ragforge.ports.store import Store
from tests.fakes.builders import START, conversation, direction, summary, user

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
        await store.conversations.create(conversation(uuid=name, created_at=moment))
        await store.conversations.append(name, [user(uuid=said, timestamp=moment)])
        await store.summaries.save(summary(name, uuid=f"s{i}", created_at=moment))

        kept = [
            (await store.conversations.get(name)).created_at,
            (await store.conversations.message(said)).timestamp,
            (await store.summaries.get(f"s{i}")).created_at,
        ]

        wanted = moment.isoformat(timespec="milliseconds")
        assert [one.isoformat(timespec="milliseconds") for one in kept] == [wanted] * 3


async def test_moments_are_ordered_as_instants(store: Store) -> None:
    for i, moment in enumerate(MOMENTS):
        await store.conversations.create(conversation(uuid=f"{i}", created_at=moment))

    found = await store.conversations.find(ConversationFilter())

    order = sorted(range(len(MOMENTS)), key=lambda i: MOMENTS[i].timestamp(), reverse=True)
    assert [c.uuid for c in found] == [f"{i}" for i in order]


async def test_a_moment_finer_than_a_millisecond_still_finds_what_bears_it(store: Store) -> None:
    moment = START.replace(microsecond=123_987)
    await store.conversations.create(conversation(uuid="c", created_at=moment))
    await store.conversations.append("c", [user("zebra", uuid="t", timestamp=moment)])
    await store.conversations.embed_turns({"t": direction(0)})
    await store.summaries.save(summary("c", uuid="s", created_at=moment))

    then = MemoryFilter(since=moment, until=moment)
    talks = await store.conversations.find(ConversationFilter(since=moment, until=moment))
    by_words = await store.conversations.turns_by_words("zebra", then, 9)
    by_vector = await store.conversations.turns_by_vector(direction(0), then, 9)
    summaries = await store.summaries.find(SummaryFilter(since=moment, until=moment))

    assert [c.uuid for c in talks] == ["c"]
    assert [m.id for m in by_words] == [m.id for m in by_vector] == ["t"]
    assert [s.uuid for s in summaries] == ["s"]


async def test_a_millisecond_makes_the_difference(store: Store) -> None:
    await store.conversations.create(conversation(uuid="c"))
    step = timedelta(milliseconds=1)
    said = [user("zebra", uuid=f"{i}", timestamp=START + i * step) for i in range(3)]
    await store.conversations.append("c", said)

    async def found(where: MemoryFilter) -> set[str]:
        return {m.id for m in await store.conversations.turns_by_words("zebra", where, 9)}

    assert await found(MemoryFilter(since=START + step)) == {"1", "2"}
    assert await found(MemoryFilter(until=START + step)) == {"0", "1"}
    assert await found(MemoryFilter(since=START + step, until=START + step)) == {"1"}


async def test_a_filter_without_a_zone_is_refused(store: Store) -> None:
    talk, summaries = store.conversations, store.summaries
    for ask in (
        lambda: talk.find(ConversationFilter(since=NO_ZONE)),
        lambda: talk.find(ConversationFilter(until=NO_ZONE)),
        lambda: talk.turns_by_words("zebra", MemoryFilter(since=NO_ZONE), 9),
        lambda: talk.turns_by_vector(direction(0), MemoryFilter(until=NO_ZONE), 9),
        lambda: talk.conversations_by_vector(direction(0), ConversationFilter(since=NO_ZONE), 9),
        lambda: summaries.find(SummaryFilter(since=NO_ZONE)),
        lambda: summaries.by_words("zebra", SummaryFilter(until=NO_ZONE), 9),
        lambda: summaries.by_vector(direction(0), SummaryFilter(since=NO_ZONE), 9),
        lambda: summaries.trim(NO_ZONE),
    ):
        with pytest.raises(InvalidTime):
            await ask()


async def test_a_retry_without_a_zone_is_refused_and_the_job_stays_held(store: Store) -> None:
    await store.jobs.enqueue([NewJob("k", "embed")])
    holder = this_process()
    claimed = await store.jobs.claim(holder, timedelta(minutes=1))

    with pytest.raises(InvalidTime):
        await store.jobs.fail("k", holder, "no", NO_ZONE)

    assert await store.jobs.get("k") == claimed
