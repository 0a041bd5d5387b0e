"""Turns that are still to be linked to code."""

from __future__ import annotations

import pytest

from ragforge.domain.code import CodeReference, make_file_target
from ragforge.domain.schema import CONVERSATION, MESSAGE
from ragforge.ports.store import Store
from tests.fakes.builders import assistant, at, conversation, user

SHOP, BANK = "/work/shop", "/work/bank"


@pytest.fixture
async def talks(store: Store) -> Store:
    """Two turns in the shop, the second the older one, and one in the bank."""
    for cwd, name, minute in ((SHOP, "b", 2), (SHOP, "a", 1), (BANK, "c", 0)):
        await store.records.put(CONVERSATION, conversation(cwd, uuid=name))
        said = [user(uuid=f"{name}-0", timestamp=at(minute)), assistant(uuid=f"{name}-1")]
        await store.timeline.append(name, said)
    return store


async def test_turns_wait_oldest_first_each_project_by_itself(talks: Store) -> None:
    assert list(await talks.timeline.turns_to_link([SHOP], 9)) == []
    await talks.timeline.set_link_pending(["b-0", "a-0", "c-0", "a-1", "none"], True)

    assert list(await talks.timeline.turns_to_link([SHOP], 9)) == ["a-0", "b-0"]
    assert list(await talks.timeline.turns_to_link([SHOP], 1)) == ["a-0"]
    assert list(await talks.timeline.turns_to_link([BANK], 9)) == ["c-0"]

    await talks.timeline.set_link_pending(["a-0", "c-0"], False)
    await talks.timeline.set_link_pending([], True)
    assert list(await talks.timeline.turns_to_link([SHOP], 9)) == ["b-0"]
    assert list(await talks.timeline.turns_to_link([BANK], 9)) == []


async def test_a_turn_that_refers_to_no_scope_and_does_not_wait_is_unlinked(talks: Store) -> None:
    talk = talks.timeline
    assert list(await talk.turns_to_link([SHOP], 9, waiting=False)) == ["a-0", "b-0"]
    assert list(await talk.turns_to_link([SHOP], 1, waiting=False)) == ["a-0"]

    file = CodeReference(make_file_target(SHOP, "cart.py"), "cart.py", "cart", "hash")
    await talk.link(MESSAGE, "a-1", [file])  # a file without scopes may have got some
    assert list(await talk.turns_to_link([SHOP], 9, waiting=False)) == ["a-0", "b-0"]
    await talk.link(MESSAGE, "a-1", [CodeReference("total", "cart.py", "Cart.total", "hash")])
    assert list(await talk.turns_to_link([SHOP], 9, waiting=False)) == ["b-0"]
    await talk.set_link_pending(["b-0"], True)
    assert list(await talk.turns_to_link([SHOP], 9, waiting=False)) == []
    await talk.set_link_pending(["b-0"], False)
    assert list(await talk.turns_to_link([SHOP, BANK], 9, waiting=False)) == ["c-0", "b-0"]


async def test_a_branch_of_a_turn_that_waits_waits_too(talks: Store) -> None:
    await talks.timeline.set_link_pending(["a-0"], True)
    await talks.timeline.branch("a-1", conversation(SHOP, uuid="branch"))
    await talks.timeline.branch("b-1", conversation(SHOP, uuid="other"))
    waiting = await talks.timeline.turns_to_link([SHOP], 9)
    assert sorted(waiting.values()) == ["a", "branch"]
