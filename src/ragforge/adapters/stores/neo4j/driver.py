"""The driver: transactions against one database, with retries and RagForge's errors."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import tempfile
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from neo4j import (
    READ_ACCESS,
    AsyncDriver,
    AsyncGraphDatabase,
    AsyncManagedTransaction,
    AsyncSession,
    NotificationMinimumSeverity,
    unit_of_work,
)
from neo4j import Bookmarks as RawBookmarks
from neo4j.api import AsyncBookmarkManager
from neo4j.exceptions import DriverError, Neo4jError

from ragforge.adapters.stores.neo4j.cypher import LOCK, filter_seen, get_label, select_fields
from ragforge.adapters.stores.neo4j.failures import (
    describe_silence,
    translate_errors,
    translate_url_errors,
)
from ragforge.domain.kinds import STORED, Kind, Redactor, Row
from ragforge.errors import StoreError, StoreUnavailable
from ragforge.private_files import make_private_folder

KEPT_SECONDS = 600
"""Later every member has the writes, or the database was replaced and never will."""
SAVE_SECONDS = 1.0
"""Between two writes of the file: a turn makes many transactions."""
MAX_BOOKMARKS = 20


class BookmarkFile:
    """The bookmarks of one database of one server, readable only by their owner."""

    def __init__(self, folder: Path, url: str, database: str | None) -> None:
        name = sha256(f"{url}\n{database or ''}".encode()).hexdigest()[:32]
        self.path = folder / "bookmarks" / f"{name}.json"
        self.loaded = frozenset(self._read())
        self._newest = self._written = self.loaded
        self._saved_at = float("-inf")

    def make_manager(self) -> AsyncBookmarkManager:
        """Return a bookmark manager with these bookmarks, which records new ones."""
        return AsyncGraphDatabase.bookmark_manager(
            initial_bookmarks=RawBookmarks.from_raw_values(self.loaded),
            bookmarks_consumer=self._note,
        )

    def forget(self) -> None:
        """Remove them: the server does not know what they name."""
        self.loaded = self._newest = self._written = frozenset()
        with suppress(OSError):
            self.path.unlink()

    def save(self) -> None:
        """Add them to the file, keeping those that other processes wrote meanwhile."""
        if self._newest == self._written:
            return
        others = frozenset(self._read()) - self.loaded - self._written
        kept = [*sorted(self._newest), *sorted(others - self._newest)][:MAX_BOOKMARKS]
        try:
            _replace_file(self.path, json.dumps(kept))
        except OSError as error:  # the next process may see an older state for a moment
            log.warning("Bookmarks cannot be kept: %s", error)
        self._written, self._saved_at = self._newest, time.monotonic()

    async def _note(self, found: RawBookmarks) -> None:
        self._newest = frozenset(found.raw_values)
        if time.monotonic() - self._saved_at >= SAVE_SECONDS:
            self.save()

    def _read(self) -> Iterable[str]:
        try:
            if time.time() - self.path.stat().st_mtime > KEPT_SECONDS:
                return ()
            found = json.loads(self.path.read_text("utf-8"))
        except (OSError, ValueError):
            return ()
        return [one for one in found if isinstance(one, str)] if isinstance(found, list) else ()


def _replace_file(path: Path, text: str) -> None:
    make_private_folder(path.parent)
    handle, draft = tempfile.mkstemp(dir=path.parent)  # readable only by its owner
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, path)
    except OSError:
        with suppress(OSError):
            os.unlink(draft)
        raise


T = TypeVar("T")

log = logging.getLogger(__name__)

CONNECT_SECONDS = 5
ANSWER_SECONDS = 9
"""Until a server must have answered for the first time: another program may never do so."""
RETRY_SECONDS = 10
"""How long an operation is tried again: enough for a small server to come back."""
CLUSTER_RETRY_SECONDS = 30
"""The same for a cluster: enough to elect another leader."""
BOOKMARK_SECONDS = 10
"""How long a server may take to catch up with what an earlier process wrote."""
AT_ONCE = 8
"""Maximum number of reads, and of writes, at once; others wait here rather than in the server."""
SPARE = 4
"""Additional connections: for routes, and for migrations that hold one while others work."""
FETCH_ROWS = 100
"""Rows that the driver holds of a query with a time limit, of which the size is not known."""
_QUIET = logging.NullHandler()
_PARAMETER = re.compile(r"\$(\w+)")


class Transaction:
    """A running transaction. Queries take their values as parameters, always."""

    def __init__(self, inner: AsyncManagedTransaction | AsyncSession, viewer: str | None) -> None:
        self._inner = inner
        self.viewer = viewer  # every query knows it as $viewer

    async def rows(self, query: str, /, **parameters: Any) -> list[Row]:
        """Run a query and return all its rows."""
        given = {"viewer": self.viewer, **parameters}
        result = await self._inner.run(_nest_parameters(query), {"given": given})
        names = result.keys()
        # Our queries return maps and plain values: `data()` would check each value for nodes.
        return [dict(zip(names, record, strict=True)) async for record in result]

    async def each(
        self, query: str, /, rows: Iterable[Row | Sequence[Any]], **parameters: Any
    ) -> list[Row]:
        """Run a query for each row, which it knows as `row`; for none nothing is sent."""
        if not (given := list(rows)):
            return []
        return await self.rows(f"UNWIND $rows AS row {query}", rows=given, **parameters)

    async def row(self, query: str, /, **parameters: Any) -> Row | None:
        """Run a query and return its first row, or None."""
        return next(iter(await self.rows(query, **parameters)), None)

    async def value(self, query: str, /, **parameters: Any) -> Any:
        """Run a query and return the first value of its first row, or None."""
        row = await self.row(query, **parameters)
        return None if row is None else next(iter(row.values()))

    async def read_item(self, kind: Kind[Any, Any], item_id: str, lock: bool = False) -> Row:
        """Return the row of an item; with its lock, no other transaction changes it.

        Raises a NotFound.
        """
        row: Row | None = await self.value(
            f"""MATCH (n:{get_label(kind)} {{{kind.key}: $id}}) WHERE {filter_seen(kind)}
                {f"{LOCK} WITH n" if lock else ""}
                RETURN {select_fields("n", kind)} AS row""",
            id=item_id,
        )
        if row is None:
            raise kind.missing(item_id)
        return row

    async def explain(self, query: str, parameters: Mapping[str, Any]) -> tuple[str, set[str]]:
        """Return what a query would do ("r": it only reads) and the steps of its plan."""
        summary = await (await self._inner.run(f"EXPLAIN\n{query}", dict(parameters))).consume()
        return summary.query_type or "", set(_list_steps(summary.plan or {}))

    async def stream(
        self, query: str, parameters: Mapping[str, Any]
    ) -> tuple[tuple[str, ...], AsyncIterator[tuple[Any, ...]]]:
        """Run a query and return its columns and its rows, with the driver's values."""
        result = await self._inner.run(query, dict(parameters))
        return tuple(result.keys()), (tuple(record.values()) async for record in result)

    async def column(self, query: str, /, **parameters: Any) -> list[Any]:
        """Run a query and return the first value of each row."""
        return [next(iter(row.values())) for row in await self.rows(query, **parameters)]


class Neo4jDatabase:
    """One database of a server. Transient failures are retried by the driver."""

    def __init__(
        self,
        driver: AsyncDriver,
        url: str,
        name: str | None,
        redactor: Redactor,
        viewer: str | None = None,
        bookmarks: BookmarkFile | None = None,
    ) -> None:
        self._driver = driver
        self.url = url
        self.redactor = redactor  # what is written passes it
        self.viewer = viewer  # the key of the reading user; None: an administrator, who sees all
        self._name = name
        self._bookmarks = bookmarks
        # One manager for all sessions: on a cluster each sees what the others wrote.
        self._manager = (
            driver.execute_query_bookmark_manager if bookmarks is None else bookmarks.make_manager()
        )
        # Apart, so that a lease is renewed while thousands of reads wait.
        self._reading = asyncio.Semaphore(AT_ONCE)
        self._writing = asyncio.Semaphore(AT_ONCE)

    async def read(
        self, work: Callable[[Transaction], Awaitable[T]], seconds: float | None = None
    ) -> T:
        """Do work that only reads, and that may have a time limit for all of it.

        Without one, each query is a separate transaction, which takes one round trip instead of
        three: a server shows what others commit meanwhile between two queries either way. If it
        cannot answer now, the work is begun again in a transaction, which the driver tries again.
        """
        bounded = unit_of_work(timeout=seconds)(lambda inner: work(Transaction(inner, self.viewer)))
        with translate_errors(self.url):
            async with self._reading:
                if seconds is None:
                    try:
                        async with self._session(default_access_mode=READ_ACCESS) as session:
                            return await work(Transaction(session, self.viewer))
                    except (Neo4jError, DriverError) as error:
                        if not error.is_retryable():
                            raise
                async with self._session(fetch_size=FETCH_ROWS) as session:
                    return await session.execute_read(bounded)

    async def write(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Do the work in a transaction: durable when it returns, undone when it raises."""
        with translate_errors(self.url):
            async with self._writing, self._session() as session:
                return await session.execute_write(
                    lambda inner: work(Transaction(inner, self.viewer))
                )

    async def in_batches(self, query: str) -> None:
        """Run a query that manages its own transactions: `CALL … IN TRANSACTIONS`.

        What it did before it raised stays done.
        """
        with translate_errors(self.url):
            async with self._session() as session:
                await (await session.run(query)).consume()

    async def rows(self, query: str, /, **parameters: Any) -> list[Row]:
        """Run one reading query and return all its rows."""
        return await self.read(lambda tx: tx.rows(query, **parameters))

    async def column(self, query: str, /, **parameters: Any) -> list[Any]:
        """Run one reading query that returns one value a row, and return these values.

        They come in one row: the driver is slow to read many.
        """
        found: list[Any] = await self.value(f"RETURN COLLECT {{ {query} }}", **parameters)
        return found

    async def value(self, query: str, /, **parameters: Any) -> Any:
        """Run one reading query and return its only value, or None."""
        return await self.read(lambda tx: tx.value(query, **parameters))

    async def verify(self) -> None:
        """Raise a StoreUnavailable unless the server answers, without trying for long."""
        with translate_url_errors(self.url):
            try:
                await asyncio.wait_for(self._driver.verify_connectivity(), ANSWER_SECONDS)
            except TimeoutError as error:
                raise StoreUnavailable(describe_silence(self.url, ANSWER_SECONDS)) from error
        if self._bookmarks is not None and self._bookmarks.loaded:
            await self._check_bookmarks(self._bookmarks)

    async def _check_bookmarks(self, bookmarks: BookmarkFile) -> None:
        """Forget bookmarks that the server does not reach: its database was replaced since."""
        try:
            await asyncio.wait_for(self.value("RETURN 1"), BOOKMARK_SECONDS)
        except (TimeoutError, StoreError) as error:
            log.warning("%s: bookmarks of an earlier process are forgotten: %s", self.url, error)
            bookmarks.forget()
            self._manager = bookmarks.make_manager()

    async def close(self) -> None:
        if self._bookmarks is not None:
            self._bookmarks.save()
        await self._driver.close()

    def _session(self, **options: Any) -> AsyncSession:
        return self._driver.session(database=self._name, bookmark_manager=self._manager, **options)


def connect(
    url: str,
    user: str | None,
    password: str | None,
    database: str | None,
    redactor: Redactor = STORED,
    viewer: str | None = None,
    state: Path | None = None,
) -> Neo4jDatabase:
    """Return the database at a URL; nothing is sent yet.

    What a process wrote on a cluster is noted in the `state` folder, for the next one.
    Credentials in the URL are used where none are given, and never shown again.
    Raises StoreUnavailable if the URL cannot be understood.
    """
    place, found_user, found_password = _split_credentials(url)
    user, password = user or found_user, password or found_password
    auth = None if password is None else (user or "neo4j", password)
    # The last error reports a failure; retries must not write to the user's terminal.
    logging.getLogger("neo4j").addHandler(_QUIET)
    is_routed = place.startswith("neo4j")
    with translate_url_errors(place):
        driver = AsyncGraphDatabase.driver(
            place,
            auth=auth,
            connection_timeout=CONNECT_SECONDS,
            max_transaction_retry_time=CLUSTER_RETRY_SECONDS if is_routed else RETRY_SECONDS,
            max_connection_pool_size=2 * AT_ONCE + SPARE,
            initial_retry_delay=0.5,
            retry_delay_multiplier=1.5,
            # Hints about queries are for us, not for the user's terminal.
            notifications_min_severity=NotificationMinimumSeverity.OFF,
        )
    # A single server has all its own writes; only members of a cluster lag behind each other.
    kept = BookmarkFile(state, place, database) if is_routed and state is not None else None
    return Neo4jDatabase(driver, place, database, redactor, viewer, kept)


@lru_cache(maxsize=1024)
def _nest_parameters(query: str) -> str:
    """Return a query whose parameters are in a map: `$given.name` instead of `$name`.

    A server makes a separate plan for every combination of sizes of lists and texts, which
    takes longer than to run it. Of what is in a map it does not look at the size (decision 3).
    """
    return _PARAMETER.sub(r"$given.\1", query)


def _list_steps(plan: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of a plan's steps: `LoadCSV@neo4j` is `LoadCSV`."""
    yield str(plan.get("operatorType", "")).partition("@")[0]
    for part in plan.get("children", ()):
        yield from _list_steps(part)


def _split_credentials(url: str) -> tuple[str, str | None, str | None]:
    parts = urlsplit(url)
    if "@" not in parts.netloc:
        return url, None, None
    place = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    password = None if parts.password is None else unquote(parts.password)
    return place, unquote(parts.username or "") or None, password
