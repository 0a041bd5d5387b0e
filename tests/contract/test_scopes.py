"""Scopes: named ranges of lines, found by name and by place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragforge.domain.code import CodeFilter, FileLine, Relation, Scope, ScopeFilter
from ragforge.domain.schema import PROJECT, SCOPE
from ragforge.errors import ScopeNotFound
from ragforge.ports.store import Store
from tests.fakes.builders import MODEL, direction, document, parsed, project, scope
from tests.fakes.code import (
    embed_scopes,
    find_by_words,
    find_named,
    find_nearest,
    list_scopes,
    relations_of,
)
from tests.fakes.projects import relate

PATH = "src/cart.py"


@pytest.fixture
async def shop(store: Store) -> str:
    await store.records.put(PROJECT, project(uuid="shop"))
    return "shop"


def names(scopes: list[Scope]) -> list[str]:
    return [one.qualified_name for one in scopes]


async def to_embed(store: Store, project_id: str, model: str = MODEL, limit: int = 99) -> list[str]:
    return await store.index.pending(SCOPE, model, limit, ScopeFilter(project_id))


async def test_a_scope_comes_back_as_it_was_stored(store: Store, shop: str) -> None:
    full = scope(
        "add",
        PATH,
        (5, 9),
        qualified_name="Cart.add",
        type="method",
        language="python",
        signature="def add(self, item)",
        docstring="Add an item.",
        source="def add(self, item):\n\tpass\r\n",
    )
    bare = scope("x", PATH, (1, 1), source="", hash="", qualified_name="")
    await store.code.replace_files(shop, [parsed(PATH, full, bare)])

    assert await store.records.get(SCOPE, full.uuid) == full
    assert await store.records.get(SCOPE, bare.uuid) == bare
    assert await store.records.get_many(SCOPE, [bare.uuid, "none", full.uuid]) == {
        full.uuid: full,
        bare.uuid: bare,
    }
    assert await store.records.get_many(SCOPE, []) == {}


async def test_a_class_keeps_its_lines_and_is_found_by_its_search_text(
    store: Store, shop: str
) -> None:
    cart = scope(
        "Cart",
        PATH,
        (1, 3),
        type="class",
        source="class Cart:\n    def add(self, item):\n        self.zebras.append(item)",
        search_text="class Cart:\n    def add(self, item)",
    )
    await store.code.replace_files(shop, [parsed(PATH, cart)])

    assert await store.records.get(SCOPE, cart.uuid) == cart
    assert await find_by_words(store, "add item", CodeFilter(project_id=shop), 5)
    assert not await find_by_words(store, "zebras", CodeFilter(project_id=shop), 5)


async def test_real_lines_replace_the_search_text_that_an_older_version_stored_as_the_source(
    store: Store, shop: str
) -> None:
    text = "class Cart:\n    def add(self, item)"
    old = scope("Cart", PATH, (1, 3), uuid="c", type="class", source=text, hash="h")
    await store.code.replace_files(shop, [parsed(PATH, old)])
    await embed_scopes(store, {"c": direction(0)})
    source = "class Cart:\n    def add(self, item):\n        pass"

    new = replace(old, source=source, search_text=text)
    await store.code.replace_files(shop, [parsed(PATH, new)])

    assert (await store.records.get(SCOPE, "c")).source == source
    assert await to_embed(store, shop) == []
    assert await find_by_words(store, "add item", CodeFilter(project_id=shop), 5)


async def test_only_the_store_says_which_hash_was_embedded(store: Store, shop: str) -> None:
    given = scope("f", uuid="f", hash="h", embedding_hash="made up")
    await store.code.replace_files(shop, [parsed(PATH, given)])
    assert (await store.records.get(SCOPE, "f")).embedding_hash is None

    await embed_scopes(store, {"f": direction(0)})
    assert (await store.records.get(SCOPE, "f")).embedding_hash == "h"


async def test_scopes_of_a_file_are_returned_in_order_outer_before_inner(
    store: Store, shop: str
) -> None:
    given = [
        scope("late", lines=(40, 50)),
        scope("inner", lines=(1, 5)),
        scope("outer", lines=(1, 30)),
        scope("middle", lines=(1, 20)),
        scope("second", lines=(6, 7)),
    ]
    await store.code.replace_files(shop, [parsed(PATH, *given), parsed("b.py", scope("other"))])

    told = await list_scopes(store, shop, PATH)

    assert names(told) == ["outer", "middle", "inner", "second", "late"]
    both = await list_scopes(store, shop, PATH, "b.py", "b.py", "none.py")
    assert {scope.name for scope in both} == {*names(told), "other"}
    assert both == sorted(both, key=lambda scope: scope.file)
    assert len(both) == 6
    assert await list_scopes(store, shop, "none.py") == []
    assert await list_scopes(store, "none", PATH) == []


async def test_scopes_are_found_by_either_name_by_file_and_line(store: Store, shop: str) -> None:
    await store.records.put(PROJECT, project("/w/other", uuid="other"))
    await store.code.replace_files("other", [parsed("a.py", scope("run"))])
    files = [
        parsed("b.py", scope("run", lines=(1, 2), qualified_name="B.run")),
        parsed(
            "a.py",
            scope("run", lines=(9, 9), qualified_name="A.run"),
            scope("run", lines=(2, 3), qualified_name="run"),
            scope("runner", lines=(5, 6)),
            scope("Run", lines=(7, 7)),
        ),
    ]
    await store.code.replace_files(shop, files)

    missing = ("A", "ru", "r%", "run_", "", ".run")
    found = await find_named(store, shop, ["run", "A.run", *missing])

    assert found.keys() == {"run", "A.run"}
    places = [(scope.file, scope.start_line) for scope in found["run"]]
    assert places == [("a.py", 2), ("a.py", 9), ("b.py", 1)]
    assert names(found["A.run"]) == ["A.run"]
    assert await find_named(store, shop, []) == {}


async def test_the_smallest_scope_at_a_place_is_found(store: Store, shop: str) -> None:
    given = [
        scope("Cart", lines=(1, 30), type="class"),
        scope("Cart.add", lines=(5, 10)),
        scope("Cart.add.inner", lines=(7, 8)),
        scope("total", lines=(40, 40)),
    ]
    await store.code.replace_files(shop, [parsed(PATH, *given), parsed("b.py")])
    places = [FileLine(PATH, line) for line in (1, 5, 7, 8, 9, 10, 11, 30, 31, 40, 0, 41)]
    places += [FileLine("b.py", 5), FileLine("none.py", 5), FileLine(PATH, 7)]

    told = await store.code.scopes_at(shop, places)

    assert [one and one.qualified_name for one in told] == [
        "Cart",
        "Cart.add",
        "Cart.add.inner",
        "Cart.add.inner",
        "Cart.add",
        "Cart.add",
        "Cart",
        "Cart",
        None,
        "total",
        None,
        None,
        None,
        None,
        "Cart.add.inner",
    ]
    assert await store.code.scopes_at(shop, []) == []
    assert await store.code.scopes_at("none", [FileLine(PATH, 7)]) == [None]


async def test_a_replaced_file_has_exactly_its_new_scopes(store: Store, shop: str) -> None:
    kept, gone, new = scope("kept", uuid="k"), scope("gone", uuid="g"), scope("new", uuid="n")
    await store.code.replace_files(shop, [parsed(PATH, kept, gone), parsed("b.py", scope("far"))])

    changed = replace(kept, source="giraffe", hash="h2", start_line=3)
    await store.code.replace_files(shop, [parsed(PATH, changed, new)])

    assert set(await store.records.get_many(SCOPE, ["k", "g", "n"])) == {"k", "n"}
    assert await store.records.get(SCOPE, "k") == changed
    assert len(await list_scopes(store, shop, "b.py")) == 1
    found = await find_by_words(store, "giraffe", CodeFilter(), 9)
    assert [match.id for match in found] == ["k"]
    assert await find_by_words(store, "gone", CodeFilter(), 9) == []


@pytest.mark.parametrize("file_id", ["file", "another id for the same path"])
async def test_a_scope_that_keeps_its_id_keeps_its_vector_until_its_hash_changes(
    store: Store, shop: str, file_id: str
) -> None:
    same, changed = scope("same", uuid="s", hash="1"), scope("changed", uuid="c", hash="1")
    await store.code.replace_files(shop, [parsed(PATH, same, changed, uuid="file")])
    await embed_scopes(store, dict.fromkeys(("s", "c"), direction(0)), "1")
    assert await to_embed(store, shop) == []

    again = parsed(PATH, same, replace(changed, hash="2"), uuid=file_id)
    await store.code.replace_files(shop, [again])

    assert await to_embed(store, shop) == ["c"]
    assert (await store.records.get(SCOPE, "s")).embedding_hash == "1"
    found = await find_nearest(store, direction(0), CodeFilter(), 9)
    assert {match.id for match in found} == {"s", "c"}


@pytest.mark.parametrize("file_id", ["file", "another id for the same path"])
async def test_relations_to_a_kept_scope_stay_and_those_from_it_go(
    store: Store, shop: str, file_id: str
) -> None:
    kept, caller = scope("kept", uuid="k"), scope("caller", uuid="u")
    files = [parsed(PATH, kept, uuid="file"), parsed("b.py", caller)]
    await store.code.replace_files(shop, files)
    await relate(store, shop, [Relation("CONSUMES", "u", "k"), Relation("CONSUMES", "k", "u")])

    await store.code.replace_files(shop, [parsed(PATH, kept, uuid=file_id)])

    assert await relations_of(store, "k", "in") == [Relation("CONSUMES", "u", "k")]
    assert await relations_of(store, "k", "out") == []


async def test_scopes_to_embed_are_those_without_a_vector_of_the_model_for_their_hash(
    store: Store, shop: str
) -> None:
    given = [scope(name, uuid=name, hash="now") for name in ("d", "b", "a", "c")]
    await store.records.put(PROJECT, project("/w/other", uuid="other"))
    await store.code.replace_files("other", [parsed(PATH, scope("elsewhere"))])
    await store.code.replace_files(shop, [parsed(PATH, *given)])
    await embed_scopes(store, {"a": direction(0)}, "now")
    await embed_scopes(store, {"b": direction(0)}, "before")

    every = await to_embed(store, shop)
    assert sorted(every) == ["b", "c", "d"]
    assert await to_embed(store, shop, limit=2) == every[:2]
    assert sorted(await to_embed(store, shop, model="another")) == ["a", "b", "c", "d"]
    assert await to_embed(store, "none") == []
    assert await to_embed(store, shop, limit=0) == []


async def test_sections_of_documents_are_embedded_too(store: Store, shop: str) -> None:
    guide = document("guide.md", "Install")
    await store.code.replace_files(shop, [guide])
    assert await to_embed(store, shop) == [guide.scopes[0].uuid]


async def test_only_known_scopes_can_be_embedded_and_all_or_none_are(
    store: Store, shop: str
) -> None:
    await store.code.replace_files(shop, [parsed(PATH, scope("f", uuid="f"))])

    with pytest.raises(ScopeNotFound):
        await embed_scopes(store, {"f": direction(0), "none": direction(0)})
    await embed_scopes(store, {})

    assert await store.archive.count("vector") == 0
    assert (await store.records.get(SCOPE, "f")).embedding_hash is None
