"""Ids: find a session or a note by its id, or by the start of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from ragforge.domain.conversations import Conversation
from ragforge.domain.notes import Note
from ragforge.errors import AmbiguousId, InputError

Named = TypeVar("Named", Conversation, Note)

CANDIDATES = 5


async def resolve_id(
    kind: str,
    text: str,
    get: Callable[[str], Awaitable[Named]],
    starting_with: Callable[[str, int], Awaitable[list[Named]]],
    describe: Callable[[Named], str],
) -> Named:
    """Return the thing with this id, or the only one whose id starts with the text.

    Raises InputError for an empty text, what `get` raises, or AmbiguousId with the candidates.
    """
    wanted = text.strip()
    if not wanted:
        raise InputError(f"The id of the {kind} is empty. Give the start of one.")
    found = await starting_with(wanted, CANDIDATES + 1)
    if not found:
        return await get(wanted)
    if len(found) > 1 and found[0].uuid != wanted:  # by id: the very one comes first
        shown = [format_candidate(one.uuid, describe(one)) for one in found[:CANDIDATES]]
        raise AmbiguousId(kind, wanted, shown + ["…"] * (len(found) > CANDIDATES))
    return found[0]


def format_candidate(uuid: str, description: str) -> str:
    """Return an id with the beginning of what it stands for."""
    return f"{uuid} ({' '.join(description.split())[:40]})"
