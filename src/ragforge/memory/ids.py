"""Ids: find a session or a note by its id, or by the start of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ragforge.domain.conversations import Conversation
from ragforge.domain.kinds import Filter, Kind
from ragforge.domain.notes import Note
from ragforge.errors import AmbiguousId, InputError
from ragforge.ports.records import Records

Named = TypeVar("Named", Conversation, Note)

CANDIDATES = 5


async def resolve_id(
    records: Records,
    kind: Kind[Named, Filter],
    name: str,
    text: str,
    filter_prefix: Callable[[str], Filter],
    describe: Callable[[Named], str],
) -> Named:
    """Return the thing with this id, or the only one whose id starts with the text.

    Raises InputError for an empty text, a NotFound, or AmbiguousId with the candidates.
    """
    wanted = text.strip()
    if not wanted:
        raise InputError(f"The id of the {name} is empty. Give the start of one.")
    found = await records.find(kind, filter_prefix(wanted), CANDIDATES + 1)
    if len(found) == 1:
        return found[0]
    try:
        return await records.get(kind, wanted)
    except kind.missing:
        if not found:
            raise
    shown = sorted(format_candidate(one.uuid, describe(one)) for one in found[:CANDIDATES])
    raise AmbiguousId(name, wanted, shown + ["…"] * (len(found) > CANDIDATES))


def format_candidate(uuid: str, description: str) -> str:
    """Return an id with the beginning of what it stands for."""
    return f"{uuid} ({' '.join(description.split())[:40]})"
