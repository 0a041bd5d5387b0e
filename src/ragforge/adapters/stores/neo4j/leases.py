"""Leases: who holds a job or a lock, and until when by the server's clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.domain.kinds import Row, Stored
from ragforge.domain.text import check_text
from ragforge.domain.work import Holder

LEASE = ".token, .host, .pid, .started, .lease_until"


async def read_server_ms(tx: Transaction) -> int:
    """Return the server's time: the one clock that all processes share."""
    return int(await tx.value("RETURN timestamp()"))


def encode_lease(holder: Holder, start: int, span: timedelta) -> Row:
    """Return what is stored of a lease that starts at a server's time."""
    check_text("holder.token", holder.token)
    check_text("holder.host", holder.host)
    return {
        "token": holder.token,
        "host": holder.host,
        "pid": holder.pid,
        "started": holder.started,
        "lease_until": start + to_milliseconds(span),
    }


def decode_holder(row: Stored) -> Holder:
    return Holder(row["host"], row["pid"], row["started"], row["token"])


def to_milliseconds(span: timedelta) -> int:
    return span // timedelta(milliseconds=1)


def from_milliseconds(ms: Any) -> datetime:
    """Return a server's time with the local offset."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)).astimezone()
