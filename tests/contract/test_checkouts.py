"""Checkouts: which folders on which machines are one project."""

from __future__ import annotations

from ragforge.domain.conversations import ConversationFilter, MemoryFilter
from ragforge.domain.projects import Checkout, CheckoutFilter, RepositoryIdentity, join_checkout
from ragforge.domain.schema import CHECKOUT, CONVERSATION, TURN
from ragforge.ports.store import Store
from tests.fakes.builders import at, conversation, user

FLASK = "github.com/pallets/flask"


async def ids(store: Store, path: str, identity: RepositoryIdentity | None = None) -> list[str]:
    return [
        one.uuid
        for one in await store.records.find(
            CHECKOUT, CheckoutFilter(related_to=(path, identity or RepositoryIdentity()))
        )
    ]


async def test_a_checkout_is_kept_as_it_is(store: Store) -> None:
    given = Checkout("/w", "p", "ann", FLASK, ("r1", "r2"), ("old",), "1.2", "k", at(3, 5))

    await store.records.put(CHECKOUT, given)

    assert await store.records.find(
        CHECKOUT, CheckoutFilter(related_to=("/w", RepositoryIdentity()))
    ) == [given]


async def test_what_is_at_a_path_or_has_an_identity_is_found_with_all_its_checkouts(
    store: Store,
) -> None:
    for number, (path, project, remote, roots) in enumerate(
        [
            ("/a", "p", FLASK, ("r",)),
            ("/b", "p", None, ()),
            ("/a", "q", None, ("s", "t")),
            ("/w", "z", None, ()),
        ]
    ):
        made = Checkout(path, project, "h", remote, roots, uuid=f"k{number}", seen_at=at(number))
        await store.records.put(CHECKOUT, made)

    assert await ids(store, "/a") == ["k2", "k1", "k0"]
    assert await ids(store, "/b") == ["k1", "k0"]
    assert await ids(store, "/none") == []
    assert await ids(store, "/none", RepositoryIdentity(FLASK)) == ["k1", "k0"]
    assert await ids(store, "/none", RepositoryIdentity(None, ("s", "t"))) == ["k2"]
    assert await ids(store, "/w", RepositoryIdentity(None, ("s",))) == ["k3"]


async def test_two_projects_that_are_joined_keep_what_was_said_under_both_ids(store: Store) -> None:
    for name, path in (("p", "/a"), ("q", "/b"), ("z", "/z")):
        await store.records.put(CHECKOUT, Checkout(path, name, uuid=f"k{name}", seen_at=at(0)))
        await store.records.put(CONVERSATION, conversation(path, uuid=name, project_id=name))
        await store.timeline.append(name, [user("A zebra", uuid=f"{name}-0")])

    for _ in range(2):  # a second time changes nothing
        others = await store.records.find(CHECKOUT, CheckoutFilter(["q"]))
        await store.records.put(CHECKOUT, *(join_checkout(one, "p") for one in others))

    joined = await store.records.find(
        CHECKOUT, CheckoutFilter(related_to=("/b", RepositoryIdentity()))
    )
    assert {(one.project_id, one.former_ids) for one in joined} == {("p", ()), ("p", ("q",))}
    both = ConversationFilter(project_ids=["p", "q"])
    assert {one.uuid for one in await store.records.find(CONVERSATION, both)} == {"p", "q"}
    found = (
        await store.index.search(TURN, "zebra", None, MemoryFilter(None, ["p", "q"]), 9, read=0)
    ).by_words
    assert {match.id for match in found} == {"p-0", "q-0"}
