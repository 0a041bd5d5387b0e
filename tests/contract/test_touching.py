"""Where code was touched: by references of turns, and by what summaries mention."""

from __future__ import annotations

import pytest

from ragforge.domain.code import ScopeFilter, Touch
from ragforge.domain.schema import CONVERSATION, MESSAGE, PROJECT, SCOPE_NAME, SUMMARY
from ragforge.ports.store import Store
from tests.fakes.builders import (
    assistant,
    at,
    conversation,
    mention,
    parsed,
    project,
    reference,
    scope,
    summary,
    user,
)


@pytest.fixture
async def talks(store: Store) -> Store:
    """Four conversations of two projects, the last of them the last active."""
    for minute, name in enumerate(("referred", "mentioned", "scoped", "bank")):
        cwd = "/work/bank" if name == "bank" else "/work/shop"
        await store.records.put(CONVERSATION, conversation(cwd, uuid=name, created_at=at(minute)))
        said = [user(uuid=f"{name}-{n}", timestamp=at(minute, 2)) for n in range(2)]
        await store.timeline.append(name, said)
        await store.timeline.save_summary(
            summary(name, 0, 1, uuid=f"{name}-l1", created_at=at(minute))
        )
    add = reference("id-add", "src/cart.py", "Cart.add", how="edited")
    await store.timeline.link(MESSAGE, "referred-1", [add, reference("id-b", "src/b.py", "b")])
    await store.timeline.link(MESSAGE, "bank-0", [add])
    await store.timeline.link(SUMMARY, "mentioned-l1", [], [mention("src/cart.py", "hf", "read")])
    await store.timeline.link(
        SUMMARY, "scoped-l1", [reference("id-pay", "src/pay.py", "Pay.add")], []
    )
    return store


async def touching(store: Store, **what: object) -> list[str]:
    found = await store.timeline.touches(**what)  # type: ignore[arg-type]
    return [one.conversation_id for one in found]


async def test_a_touch_says_who_when_what_and_how(talks: Store) -> None:
    [bank, by_summary, turn] = await talks.timeline.touches(files=["src/cart.py"])
    assert turn == Touch(
        conversation_id="referred",
        first_turn=1,
        last_turn=1,
        when=at(0, 2),
        how="edited",
        file="src/cart.py",
        name="Cart.add",
        hash="h1",
        target_id="id-add",
    )
    assert turn.when.isoformat() == at(0, 2).isoformat()  # with its offset
    assert (by_summary.first_turn, by_summary.last_turn, by_summary.by_summary) == (0, 1, True)
    assert (by_summary.name, by_summary.how, by_summary.hash) == (None, "read", "hf")
    assert (bank.conversation_id, bank.first_turn) == ("bank", 0)


async def test_files_are_found_in_references_and_mentions(talks: Store) -> None:
    assert await touching(talks, files=["src/cart.py"]) == ["bank", "mentioned", "referred"]
    assert await touching(talks, files=["src/pay.py", "src/b.py"]) == ["scoped", "referred"]
    assert await touching(talks, files=["cart.py"]) == []
    assert await touching(talks, files=["src/Cart.py"]) == []


async def test_scopes_are_found_by_id(talks: Store) -> None:
    assert await touching(talks, scope_ids=["id-add"]) == ["bank", "referred"]
    assert await touching(talks, scope_ids=["id-pay", "id-b"]) == ["scoped", "referred"]
    assert await touching(talks, scope_ids=["id of src/cart.py"]) == []


async def test_names_are_whole_or_between_dots(talks: Store) -> None:
    assert await touching(talks, names=["Cart.add"]) == ["bank", "referred"]
    assert await touching(talks, names=["add"]) == ["bank", "scoped", "referred"]
    assert await touching(talks, names=["dd"]) == []
    assert await touching(talks, names=["%", "_", "", "."]) == []


async def test_a_class_is_touched_when_its_method_is(talks: Store) -> None:
    assert await touching(talks, names=["Cart"]) == ["bank", "referred"]
    inner = reference("id-x", "src/x.py", "Outer.Inner.run")
    await talks.timeline.link(MESSAGE, "bank-0", [inner])
    for name in ("Outer", "Inner", "Outer.Inner", "Inner.run", "run"):
        assert await touching(talks, names=[name]) == ["bank"], name
    assert await touching(talks, names=["Outer.run", "Oute", "un"]) == []


async def test_a_project_is_not_mixed_with_another(talks: Store) -> None:
    where = {"names": ["add"], "project_ids": ["/work/shop"]}
    assert await touching(talks, **where) == ["scoped", "referred"]


async def test_all_that_a_conversation_touched_can_be_asked_for(talks: Store) -> None:
    touches = talks.timeline.touches
    assert [one.name for one in await touches(conversation_id="referred")] == ["b", "Cart.add"]
    assert [one.file for one in await touches(conversation_id="mentioned")] == ["src/cart.py"]
    assert await touches(conversation_id="none") == []
    narrowed = await touches(conversation_id="referred", names=["add"])
    assert [one.name for one in narrowed] == ["Cart.add"]
    assert await touches(conversation_id="referred", project_ids=["/work/bank"]) == []


async def test_a_search_hit_does_not_count_as_touching(talks: Store) -> None:
    hit = reference("id-x", "src/x.py", "x", how="found")
    await talks.timeline.link(MESSAGE, "referred-0", [hit])
    await talks.timeline.link(SUMMARY, "scoped-l1", [hit], [mention("src/x.py", how="found")])
    assert await touching(talks, files=["src/x.py"], scope_ids=["id-x"], names=["x"]) == []

    await talks.timeline.link(
        MESSAGE, "referred-0", [reference("id-x", "src/x.py", "x", how="read")]
    )
    assert await touching(talks, names=["x"]) == ["referred"]


async def test_nothing_asked_is_nothing_found_and_the_newest_come_first(talks: Store) -> None:
    assert await touching(talks) == []
    assert await touching(talks, project_ids=["/work/shop"]) == []
    assert await touching(talks, names=["add"], limit=1) == ["bank"]
    await talks.timeline.append("referred", [assistant(uuid="late", timestamp=at(99))])
    await talks.timeline.link(MESSAGE, "late", [reference("id-add", "src/cart.py", "Cart.add")])
    assert await touching(talks, names=["add"], limit=1) == ["referred"]


async def test_scopes_are_found_by_their_content(store: Store) -> None:
    shop = project()
    await store.records.put(PROJECT, shop)
    same = [scope("a", uuid="a", hash="h"), scope("b", lines=(20, 30), uuid="b", hash="h")]
    await store.code.replace_files(shop.uuid, [parsed("a.py", *same, scope("c", lines=(40, 50)))])

    async def with_hash(project_id: str, hash: str) -> list[str]:
        where = ScopeFilter(project_id, hash=hash)
        return [one.uuid for one in await store.records.find(SCOPE_NAME, where)]

    assert await with_hash(shop.uuid, "h") == ["a", "b"]
    assert await with_hash(shop.uuid, "none") == []
    assert await with_hash("other", "h") == []
