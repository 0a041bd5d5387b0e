"""Which conversations touched some code: by references, and by what summaries mention."""

from __future__ import annotations

import pytest

from ragforge.ports.store import Store
from tests.fakes.builders import at, conversation, mention, reference, summary, user


@pytest.fixture
async def talks(store: Store) -> Store:
    """Four conversations of two projects, the last of them the last active."""
    for minute, name in enumerate(("referred", "mentioned", "scoped", "bank")):
        cwd = "/work/bank" if name == "bank" else "/work/shop"
        await store.conversations.create(conversation(cwd, uuid=name, created_at=at(minute)))
        await store.conversations.append(name, [user(uuid=f"{name}-0", timestamp=at(minute))])
        await store.summaries.save(summary(name, uuid=f"{name}-l1"))
    add = reference("id-add", "src/cart.py", "Cart.add")
    await store.conversations.refer("referred-0", [add, reference("id-b", "src/b.py", "b")])
    await store.conversations.refer("bank-0", [add])
    await store.summaries.mention("mentioned-l1", [mention("src/cart.py")], [])
    await store.summaries.mention("scoped-l1", [], [reference("id-pay", "src/pay.py", "Pay.add")])
    return store


async def touching(store: Store, **what: object) -> list[str]:
    found = await store.conversations.conversations_touching(**what)  # type: ignore[arg-type]
    return [one.uuid for one in found]


async def test_files_are_found_in_references_and_mentions(talks: Store) -> None:
    assert await touching(talks, files=["src/cart.py"]) == ["bank", "mentioned", "referred"]
    assert await touching(talks, files=["src/pay.py", "src/b.py"]) == ["scoped", "referred"]
    assert await touching(talks, files=["cart.py"]) == []


async def test_scopes_are_found_by_id(talks: Store) -> None:
    assert await touching(talks, scope_ids=["id-add"]) == ["bank", "referred"]
    assert await touching(talks, scope_ids=["id-pay", "id-b"]) == ["scoped", "referred"]
    assert await touching(talks, scope_ids=["id of src/cart.py"]) == []


async def test_names_are_whole_or_stand_after_a_dot(talks: Store) -> None:
    assert await touching(talks, names=["Cart.add"]) == ["bank", "referred"]
    assert await touching(talks, names=["add"]) == ["bank", "scoped", "referred"]
    assert await touching(talks, names=["dd"]) == []
    assert await touching(talks, names=["Cart"]) == []
    assert await touching(talks, names=["%", "_", "", "."]) == []


async def test_a_project_is_not_mixed_with_another(talks: Store) -> None:
    where = {"names": ["add"], "project_path": "/work/shop"}
    assert await touching(talks, **where) == ["scoped", "referred"]


async def test_a_search_hit_is_no_touching(talks: Store) -> None:
    hit = reference("id-x", "src/x.py", "x", how="found")
    await talks.conversations.refer("referred-0", [hit])
    await talks.summaries.mention("scoped-l1", [mention("src/x.py", how="found")], [hit])
    assert await touching(talks, files=["src/x.py"], scope_ids=["id-x"], names=["x"]) == []

    await talks.conversations.refer("referred-0", [reference("id-x", "src/x.py", "x", how="read")])
    assert await touching(talks, names=["x"]) == ["referred"]


async def test_nothing_asked_is_nothing_found(talks: Store) -> None:
    assert await touching(talks) == []
    assert await touching(talks, project_path="/work/shop") == []


async def test_a_conversation_is_told_once_for_all_its_reasons(talks: Store) -> None:
    found = await touching(
        talks, files=["src/cart.py", "src/b.py"], scope_ids=["id-add"], names=["add"]
    )
    assert sorted(found) == ["bank", "mentioned", "referred", "scoped"]
