"""A cluster of servers that speak Bolt, as far as tests of routing need it.

Each member says who leads, answers queries from a table, hands out bookmarks and can be made to
fail as members of a real cluster do: it is not the leader any more, drops the connection, or never
catches up with a bookmark. The codec is the driver's own.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from neo4j._codec.packstream.v1 import Packer, Unpacker

MAGIC = b"\x60\x60\xb0\x17"
VERSION = b"\x00\x00\x04\x05"  # Bolt 5.4
HELLO, GOODBYE, RESET, RUN = 0x01, 0x02, 0x0F, 0x10
BEGIN, COMMIT, ROLLBACK = 0x11, 0x12, 0x13
DISCARD, PULL, ROUTE = 0x2F, 0x3F, 0x66
SUCCESS, RECORD, IGNORED, FAILURE = 0x70, 0x71, 0x7E, 0x7F
NOT_A_LEADER = ("Neo.ClientError.Cluster.NotALeader", "This member does not lead.")
BOOKMARK_TIMEOUT = (
    "Neo.TransientError.Transaction.BookmarkTimeout",
    "Database not up to the requested version.",
)

Rows = tuple[Sequence[str], Sequence[Sequence[Any]]]
Answer = Callable[[str, Mapping[str, Any]], Rows]


def answer_nothing(query: str, parameters: Mapping[str, Any]) -> Rows:
    """Answer every query with one row that holds 1."""
    return ("n",), [(1,)]


class Drop(Exception):
    """The member closes the connection."""


class Refusal(Exception):
    """The member answers with a failure: its code and message."""


@dataclass
class Member:
    """One server of the cluster, and what it was asked."""

    cluster: Cluster
    port: int = 0
    requests: list[tuple[str, Any]] = field(default_factory=list)
    server: asyncio.Server | None = None
    drop_at: set[str] = field(default_factory=set)  # the requests at which it drops, once each

    async def start(self) -> None:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self.server.sockets[0].getsockname()[1]

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def queries(self) -> list[str]:
        """Return the queries that it was asked, in their order."""
        return [extra for name, extra in self.requests if name == "RUN"]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            hello = await reader.readexactly(20)
            assert hello.startswith(MAGIC)
            writer.write(VERSION)
            talk = _Talk(self)
            while (message := await _read_message(reader))[0] != GOODBYE:
                for answer in talk.answer(*message):
                    writer.write(answer)
                await writer.drain()
        except (Drop, OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def note(self, name: str, extra: Any) -> None:
        """Remember a request. Raises Drop where the connection breaks."""
        self.requests.append((name, extra))
        if name in self.drop_at:
            self.drop_at.discard(name)
            self.cluster.announced = self.cluster.leader
            raise Drop

    def check_bookmarks(self, bookmarks: Sequence[str]) -> None:
        """Raise Refusal if it never reaches one of them."""
        for bookmark in bookmarks:
            if bookmark not in self.cluster.bookmarks:
                raise Refusal(*BOOKMARK_TIMEOUT)


class _Talk:
    """One connection to a member: a transaction at a time."""

    def __init__(self, member: Member) -> None:
        self._member = member
        self._rows: Sequence[Sequence[Any]] = ()
        self._writes = False
        self._is_begun = False  # otherwise a query is a separate transaction
        self._failed = False

    def answer(self, tag: int, fields: list[Any]) -> Iterator[bytes]:
        """Yield the answer to a message; after a failure all are ignored until a reset."""
        if self._failed and tag != RESET:
            yield _pack(IGNORED)
            return
        self._failed = False
        self._is_begun = self._is_begun and tag not in (RESET, ROLLBACK)
        try:
            if tag in (PULL, DISCARD):
                yield from (_pack(RECORD, list(row)) for row in self._rows if tag == PULL)
            yield _pack(SUCCESS, self._act(tag, fields))
        except Refusal as refusal:
            self._failed = True
            code, message = refusal.args
            yield _pack(FAILURE, {"code": code, "message": message})

    def _act(self, tag: int, fields: list[Any]) -> dict[str, Any]:
        member, cluster = self._member, self._member.cluster
        if tag == BEGIN:
            self._begin(fields[0])
            self._is_begun = True
        elif tag == RUN:
            if not self._is_begun:
                self._begin(fields[2])
            member.note("RUN", fields[0])
            if self._writes and member is not cluster.leader:
                cluster.announced = cluster.leader
                raise Refusal(*NOT_A_LEADER)
            columns, self._rows = cluster.answer(fields[0], fields[1])
            return {"fields": list(columns), "t_first": 0}
        elif tag in (PULL, DISCARD):
            self._rows = ()
            kind = {"type": "rw" if self._writes else "r"}
            return kind if self._is_begun else kind | {"bookmark": cluster.commit(self._writes)}
        elif tag == COMMIT:
            member.note("COMMIT", None)
            self._is_begun = False
            return {"bookmark": cluster.commit(self._writes)}
        elif tag == ROUTE:
            member.note("ROUTE", None)
            return {"rt": cluster.routes()}
        elif tag == HELLO:
            return {"server": "Neo4j/5.26.0", "connection_id": "bolt-1"}
        return {}  # LOGON, RESET, ROLLBACK, TELEMETRY

    def _begin(self, extra: Mapping[str, Any]) -> None:
        self._writes = extra.get("mode") != "r"
        self._member.note("BEGIN", extra)
        self._member.check_bookmarks(extra.get("bookmarks", ()))


@dataclass
class Cluster:
    """Members of which one leads; every commit of a write makes a bookmark that all know."""

    answer: Answer = answer_nothing
    members: list[Member] = field(default_factory=list)
    leader: Member | None = None
    announced: Member | None = None  # routes lead there until a client learns otherwise
    bookmarks: list[str] = field(default_factory=list)

    async def __aenter__(self) -> Cluster:
        self.members = [Member(self) for _ in range(3)]
        for member in self.members:
            await member.start()
        self.leader = self.announced = self.members[0]
        return self

    async def __aexit__(self, *_: object) -> None:
        for member in self.members:
            if member.server is not None:
                member.server.close()
                with suppress(OSError):
                    await asyncio.wait_for(member.server.wait_closed(), 1)

    @property
    def url(self) -> str:
        """The address by which it is entered: that of a member which does not lead."""
        return f"neo4j://{self.members[2].address}"

    def elect(self, member: Member) -> None:
        """Let another member lead; clients that ask for routes learn it after the first failure."""
        self.leader = member

    def routes(self) -> dict[str, Any]:
        everyone = [member.address for member in self.members]
        leads = [] if self.announced is None else [self.announced.address]
        roles = {"ROUTE": everyone, "READ": everyone[1:], "WRITE": leads}
        servers = [{"role": role, "addresses": found} for role, found in roles.items()]
        return {"ttl": 300, "db": "neo4j", "servers": servers}

    def commit(self, writes: bool) -> str:
        if writes or not self.bookmarks:
            self.bookmarks.append(f"ragforge:{len(self.bookmarks)}")
        return self.bookmarks[-1]


async def _read_message(reader: asyncio.StreamReader) -> tuple[int, list[Any]]:
    data = bytearray()
    while True:
        size = struct.unpack(">H", await reader.readexactly(2))[0]
        if size == 0 and data:
            break
        data += await reader.readexactly(size)
    buffer = Unpacker.new_unpackable_buffer()
    buffer.data = data
    buffer.used = len(data)
    unpacker = Unpacker(buffer)
    count, tag = unpacker.unpack_structure_header()
    return tag[0], [unpacker.unpack() for _ in range(count)]


def _pack(tag: int, *fields: Any) -> bytes:
    buffer = Packer.new_packable_buffer()
    Packer(buffer).pack_struct(bytes([tag]), fields)
    data = bytes(buffer.data)
    return struct.pack(">H", len(data)) + data + b"\x00\x00"
