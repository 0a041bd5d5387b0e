"""A clock that is set: no live process is taken for dead, and no wrong date lasts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from ragforge.adapters.stores import holders
from ragforge.adapters.stores.sqlite import work
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.app.features.sessions import Sessions
from ragforge.domain import instants
from ragforge.domain.conversations import Identity, Message
from ragforge.domain.instants import now
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.schema import CONVERSATION
from ragforge.domain.work import NewJob
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.store import Store
from ragforge.search.words.tokenise import WORDS
from tests.fakes.processes import another_process

pytestmark = pytest.mark.both_engines
HOUR = timedelta(hours=1)
YEARS = timedelta(days=4 * 365)

on_linux = pytest.mark.skipif(
    holders.read_boot_clock() is None, reason="the boot of this system has no name"
)


@contextmanager
def clock_set_by(span: timedelta) -> Iterator[None]:
    """Change the time of day for all code that asks for it here."""
    real = now
    patch = pytest.MonkeyPatch()
    for place in (instants, work):
        patch.setattr(place, "now", lambda: real() + span)
    patch.setattr(time, "time", lambda at=time.time: at() + span.total_seconds())
    try:
        yield
    finally:
        patch.undo()


@on_linux
@pytest.mark.parametrize("span", [timedelta(seconds=3), -timedelta(seconds=3), YEARS, -YEARS])
async def test_a_live_process_keeps_its_job_and_lock_when_the_clock_is_set(
    tmp_path: Path, span: timedelta
) -> None:
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    try:
        await store.jobs.enqueue([NewJob("k", "embed")])
        with another_process() as other:
            described = f"{other.holder.host} {other.holder.pid} {other.holder.started}"
            assert await store.jobs.claim(other.holder, HOUR) is not None
            assert await store.locks.acquire("lock", other.holder, HOUR)
            with clock_set_by(span):
                assert not holders.is_gone(described)
                assert await store.jobs.claim(holders.this_process(), HOUR) is None
                assert not await store.locks.acquire("lock", holders.this_process(), HOUR)
            other.kill()
            assert await store.locks.acquire("lock", holders.this_process(), HOUR)
    finally:
        await store.close()


@on_linux
def test_a_process_of_an_earlier_boot_is_dead() -> None:
    mine = holders.this_process()
    earlier = replace(mine, host=f"{mine.machine} 00000000-0000-0000-0000-000000000000")

    assert not holders.is_dead(mine.host, mine.pid, mine.started)
    assert holders.is_dead(earlier.host, earlier.pid, earlier.started)
    assert holders.is_dead(mine.host, mine.pid, mine.started + 1)
    assert not holders.is_dead("another-host boot", mine.pid, mine.started)


@on_linux
def test_what_an_older_version_wrote_is_read() -> None:
    mine = holders.this_process()

    assert not holders.is_gone(f"{mine.machine} {mine.pid} 1700000000.5")
    assert holders.is_gone(f"{mine.machine} 4194999 1700000000.5")


async def test_a_session_of_the_future_is_not_the_current_one_for_ever(
    store: Store, tmp_path: Path
) -> None:
    sessions = Sessions(
        store, tmp_path, ProjectPlace.at(str(tmp_path)), None, Identity("Ann", "here")
    )
    await sessions.create("yesterday")
    with clock_set_by(YEARS):
        future = await sessions.create("of 2030")
        later = Message("user", "sent in 2030", timestamp=now() + YEARS)
        await store.timeline.append(future.uuid, [later])

    current = await sessions.find_current()
    assert current is not None
    assert current.title == "yesterday"

    # The next message to it sets a correct date again.
    await store.timeline.append(future.uuid, [Message("user", "sent today")])
    again = await sessions.find_current()
    assert again is not None
    assert again.uuid == future.uuid
    assert again.updated_at < now() + HOUR


@pytest.mark.parametrize("span", [timedelta(minutes=3), HOUR, YEARS])
async def test_a_session_does_not_begin_after_its_messages_when_the_clock_goes_back(
    store: Store, tmp_path: Path, span: timedelta
) -> None:
    sessions = Sessions(
        store, tmp_path, ProjectPlace.at(str(tmp_path)), None, Identity("Ann", "here")
    )
    session = await sessions.create("begun ahead of time")
    ahead = replace(session, created_at=now() + span, updated_at=now() + span)
    await store.records.delete(CONVERSATION, session.uuid)
    await store.records.put(CONVERSATION, ahead)
    await store.timeline.append(
        session.uuid, [Message("user", "the first", timestamp=now() + span)]
    )
    for text in ("the second", "the last"):
        await store.timeline.append(session.uuid, [Message("user", text)])

    found = await store.records.get(CONVERSATION, session.uuid)
    said = await store.timeline.messages(session.uuid)
    assert [one.content for one in said] == ["the first", "the second", "the last"]
    assert found.created_at <= said[1].timestamp <= said[-1].timestamp
    assert found.created_at <= found.updated_at
    assert await store.timeline.last_texts([session.uuid]) == {session.uuid: "the last"}


async def test_a_clock_that_is_wrong_now_changes_no_date_of_a_session(
    store: Store, tmp_path: Path
) -> None:
    sessions = Sessions(
        store, tmp_path, ProjectPlace.at(str(tmp_path)), None, Identity("Ann", "here")
    )
    session = await sessions.create("of today")
    with clock_set_by(-timedelta(days=50 * 365)):
        await store.timeline.append(
            session.uuid, [Message("user", "sent in the seventies", timestamp=instants.now())]
        )
    found = await store.records.get(CONVERSATION, session.uuid)
    assert (found.created_at, found.updated_at) == (session.created_at, session.updated_at)


async def test_a_job_that_waits_for_the_future_is_due(store: Store) -> None:
    await store.jobs.enqueue([NewJob("k", "embed", run_after=now() + YEARS)])

    assert await store.jobs.claim(holders.this_process(), HOUR) is not None
