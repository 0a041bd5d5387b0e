"""Copying: what one store holds, record by record, into another."""

from __future__ import annotations

from collections.abc import AsyncIterator

from ragforge.ports.store import Record, RecordKind, Store, list_record_kinds

Page = list[tuple[str, Record]]


async def in_pages(store: Store, kind: RecordKind, size: int) -> AsyncIterator[Page]:
    """Yield all records of a kind with their cursors, `size` at a time."""
    after: str | None = None
    while page := await store.archive.read(kind, after, size):
        assert len(page) <= size
        yield page
        after = page[-1][0]


async def records(store: Store, kind: RecordKind) -> list[dict[str, object]]:
    return [dict(record) async for page in in_pages(store, kind, 500) for _, record in page]


async def everything(store: Store) -> dict[RecordKind, list[dict[str, object]]]:
    """Return all records of a store, in an order that does not depend on the engine."""
    found = {kind: await records(store, kind) for kind in list_record_kinds()}
    return {kind: sorted(found[kind], key=_by_content) for kind in list_record_kinds()}


async def pages_of(store: Store, size: int) -> list[tuple[RecordKind, list[Record]]]:
    """Return all records in the order in which they are written, `size` a page."""
    return [
        (kind, [record for _, record in page])
        for kind in list_record_kinds()
        async for page in in_pages(store, kind, size)
    ]


def _by_content(record: dict[str, object]) -> list[tuple[str, str]]:
    return sorted((name, repr(value)) for name, value in record.items())


async def read_bookmark(store: Store, name: str) -> str | None:
    """Return the value of a bookmark, if there is one of this name."""
    found = {one["name"]: one["value"] for _, one in await store.archive.read("bookmark", None, 99)}
    assert None not in found.values()
    return found.get(name)  # type: ignore[return-value]


async def set_bookmark(store: Store, name: str, value: str | None) -> None:
    await store.archive.write({"bookmark": [{"name": name, "value": value}]})
