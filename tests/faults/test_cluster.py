"""A cluster that fails over: routing, retries and bookmarks, against members that are fakes.

No real cluster was seen. The driver is real, and so is the Bolt that it speaks with the fakes.
"""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ragforge.adapters.stores.neo4j import driver
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase, connect
from ragforge.errors import StoreError, StoreReadOnly, StoreUnavailable
from tests.fakes.bolt_cluster import Cluster, Refusal, Rows


@asynccontextmanager
async def opened(
    cluster: Cluster, state: Path | None = None, url: str | None = None
) -> AsyncIterator[Neo4jDatabase]:
    """A database of the cluster, as a separate process would open it."""
    database = connect(url or cluster.url, "ann", "secret", None, state=state)
    try:
        await database.verify()
        yield database
    finally:
        await database.close()


async def write(database: Neo4jDatabase) -> None:
    await database.write(lambda tx: tx.rows("CREATE (n)"))


async def test_a_write_goes_to_the_leader_and_a_read_to_another() -> None:
    async with Cluster() as cluster, opened(cluster) as database:
        await write(database)
        await database.value("RETURN 1")

        leader, *others = cluster.members
        assert leader.queries() == ["CREATE (n)"]
        assert [query for member in others for query in member.queries()] == ["RETURN 1"]


async def test_a_write_follows_the_leader_when_another_member_is_elected() -> None:
    async with Cluster() as cluster, opened(cluster) as database:
        await write(database)
        old, new, _ = cluster.members
        cluster.elect(new)

        await write(database)

        assert old.queries() == ["CREATE (n)", "CREATE (n)"]  # the second was refused
        assert new.queries() == ["CREATE (n)"]


@pytest.mark.parametrize("moment", ["BEGIN", "RUN"])
async def test_a_connection_that_breaks_before_the_commit_costs_nothing(moment: str) -> None:
    async with Cluster() as cluster, opened(cluster) as database:
        await write(database)
        old, new, _ = cluster.members
        old.drop_at.add(moment)
        cluster.elect(new)

        await write(database)

        assert len(cluster.bookmarks) == 2
        assert new.requests[-1] == ("COMMIT", None)


async def test_a_connection_that_breaks_in_the_commit_is_reported_and_not_repeated() -> None:
    async with Cluster() as cluster, opened(cluster) as database:
        [leader, *_] = cluster.members
        leader.drop_at.add("COMMIT")

        with pytest.raises(StoreUnavailable, match="may be there or not"):
            await write(database)

        assert leader.queries() == ["CREATE (n)"]


async def test_a_read_is_a_single_query_that_is_asked_again_if_its_connection_breaks() -> None:
    async with Cluster() as cluster, opened(cluster) as database:
        [_, *readers] = cluster.members
        await database.value("RETURN 1")
        for reader in readers:
            reader.drop_at.add("RUN")

        assert await database.value("RETURN 2") == 1

        asked = [query for member in readers for query in member.queries()]
        assert asked.count("RETURN 1") == 1
        assert asked.count("RETURN 2") >= 2
        commits = [name for member in readers for name, _ in member.requests if name == "COMMIT"]
        assert len(commits) == 1  # the first attempt needs none


async def test_a_cluster_without_a_leader_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "CLUSTER_RETRY_SECONDS", 0)
    async with Cluster() as cluster, opened(cluster) as database:
        cluster.leader = cluster.announced = None
        with pytest.raises(StoreUnavailable, match="does not answer"):
            await write(database)


async def test_a_follower_that_is_addressed_directly_is_read_only_with_a_hint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(driver, "RETRY_SECONDS", 0)
    async with Cluster() as cluster:
        url = f"bolt://{cluster.members[1].address}"
        async with opened(cluster, url=url) as database:
            with pytest.raises(StoreReadOnly, match="Write neo4j:// in place of bolt://"):
                await write(database)


async def test_the_next_process_sees_what_the_last_one_wrote(tmp_path: Path) -> None:
    async with Cluster() as cluster:
        async with opened(cluster, tmp_path) as first:
            await write(first)
            await write(first)
        async with opened(cluster, tmp_path) as second:
            await second.value("MATCH (n) RETURN n")

        begun = [
            extra.get("bookmarks", [])
            for member in cluster.members[1:]
            for name, extra in member.requests
            if name == "BEGIN"
        ]
        assert begun
        assert all(found == ["ragforge:1"] for found in begun)
        [file] = (tmp_path / "bookmarks").iterdir()
        assert json.loads(file.read_text()) == ["ragforge:1"]
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_two_processes_at_once_both_leave_their_bookmarks(tmp_path: Path) -> None:
    async with Cluster() as cluster:
        async with opened(cluster, tmp_path) as first, opened(cluster, tmp_path) as second:
            await write(first)
            await write(second)
        [file] = (tmp_path / "bookmarks").iterdir()
        assert set(json.loads(file.read_text())) == {"ragforge:0", "ragforge:1"}


async def test_bookmarks_of_a_database_that_was_replaced_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "CLUSTER_RETRY_SECONDS", 0)
    async with Cluster() as cluster:
        async with opened(cluster, tmp_path) as before:
            await write(before)
        cluster.bookmarks[:] = ["ragforge:new"]  # restored from a backup

        async with opened(cluster, tmp_path) as after:
            assert await after.value("RETURN 1") == 1
            await write(after)
        [file] = (tmp_path / "bookmarks").iterdir()
        assert set(json.loads(file.read_text())) == set(cluster.bookmarks[-1:])


async def test_a_single_server_needs_no_bookmarks(tmp_path: Path) -> None:
    async with Cluster() as cluster:
        url = f"bolt://{cluster.members[0].address}"
        async with opened(cluster, tmp_path, url) as database:
            await write(database)
        assert list(tmp_path.iterdir()) == []


async def test_many_reads_at_once_reach_the_server_a_few_at_a_time() -> None:
    running = peak = 0

    async def read(tx: Any) -> None:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        await tx.value("RETURN 1")
        running -= 1

    async with Cluster() as cluster, opened(cluster) as database:
        await asyncio.gather(*(database.read(read) for _ in range(40)))
        assert 1 < peak <= driver.AT_ONCE
        # A lease is renewed while reads wait.
        waiting = [asyncio.create_task(database.read(read)) for _ in range(40)]
        await write(database)
        assert not all(task.done() for task in waiting)
        await asyncio.gather(*waiting)


async def test_errors_of_the_server_stay_errors() -> None:
    def fail(query: str, parameters: Mapping[str, Any]) -> Rows:
        raise Refusal("Neo.ClientError.Security.Forbidden", "No.")

    async with Cluster(fail) as cluster, opened(cluster) as database:
        with pytest.raises(StoreError, match="denies access"):
            await database.value("RETURN 1")
