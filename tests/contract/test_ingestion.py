"""What ingestion needs of a store: states, imports, and relations replaced file by file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest

from ragforge.domain.code import (
    CodeFilter,
    Relation,
    RelationFilter,
    RelationKind,
    ScopeFilter,
    ScopeName,
)
from ragforge.domain.schema import PROJECT, SCOPE, SCOPE_NAME
from ragforge.errors import FileNotKnown, ProjectNotFound, ScopeNotFound
from ragforge.ports.store import Store
from tests.fakes.builders import at, direction, file, parsed, project, scope
from tests.fakes.code import (
    count_missing,
    embed_scopes,
    find_by_words,
    find_nearest,
    list_files,
    list_missing,
    read_file,
    relations_of,
)
from tests.fakes.projects import relate


@pytest.fixture
async def shop(store: Store) -> str:
    """A project with the files A and B and the scopes a1, a2 and b1 in them."""
    await store.records.put(PROJECT, project(uuid="shop"))
    files = [
        parsed(
            "a.py",
            scope("cart", "a.py", (1, 9), uuid="a1", type="class"),
            scope("cart_total", "a.py", (3, 5), uuid="a2"),
            uuid="A",
        ),
        parsed("b.py", scope("cart", "b.py", uuid="b1", type="module"), uuid="B"),
    ]
    await store.code.replace_files("shop", files)
    return "shop"


async def states(store: Store, project_id: str) -> dict[str, str]:
    return {found.path: found.state for found in await list_files(store, project_id)}


async def test_what_a_file_imports_comes_back_in_order(store: Store, shop: str) -> None:
    imports = ("..pkg\tname,other", "numpy", "é 'quoted'\t*")
    given = file("c.py", uuid="C", imports=imports)
    await store.code.replace_files(shop, [parsed("c.py", uuid="C", imports=imports)])

    assert (await read_file(store, shop, "c.py")).imports == given.imports
    assert (await read_file(store, shop, "a.py")).imports == ()


async def test_files_are_marked_by_path(store: Store, shop: str) -> None:
    await store.code.set_files(shop, "state", dict.fromkeys(["a.py", "none.py"], "stale"))

    assert await states(store, shop) == {"a.py": "stale", "b.py": "parsed"}
    await store.code.set_files(shop, "state", {})
    assert (await states(store, shop))["b.py"] == "parsed"


async def test_files_get_another_time_by_path(store: Store, shop: str) -> None:
    await store.code.set_files(shop, "mtime", {"a.py": at(5), "none.py": at(6)})
    assert (await read_file(store, shop, "a.py")).mtime == at(5)

    await store.code.set_files(shop, "mtime", {"a.py": None})
    assert (await read_file(store, shop, "a.py")).mtime is None
    assert len(await list_files(store, shop)) == 2


async def test_marking_files_of_an_unknown_project_is_an_error(store: Store) -> None:
    with pytest.raises(ProjectNotFound):
        await store.code.set_files("none", "state", {"a.py": "stale"})


async def test_relations_of_a_file_are_replaced_and_others_stay(store: Store, shop: str) -> None:
    old = [Relation("CONSUMES", "a1", "b1"), Relation("IMPORTS", "A", "B")]
    stays = Relation("CONSUMES", "b1", "a1")
    new = [Relation("CONSUMES", "a2", "b1"), Relation("USES_LIBRARY", "A", "numpy")]
    await relate(store, shop, [*old, stays])

    await store.code.relate_files(shop, ["a.py"], new, "related")

    assert await relations_of(store, "a1", "out") == []
    assert await relations_of(store, "a2", "out") == [new[0]]
    assert await relations_of(store, "A", "out") == [new[1]]
    assert await relations_of(store, "b1", "out") == [stays]
    assert await states(store, shop) == {"a.py": "related", "b.py": "parsed"}


async def test_relations_with_an_unknown_end_change_nothing(store: Store, shop: str) -> None:
    kept = Relation("CONSUMES", "a1", "b1")
    await relate(store, shop, [kept])

    for bad, error in (
        (Relation("CONSUMES", "a1", "none"), ScopeNotFound),
        (Relation("IMPORTS", "A", "none"), FileNotKnown),
    ):
        with pytest.raises(error):
            await store.code.relate_files(shop, ["a.py"], [bad], "related")

    assert await relations_of(store, "a1", "out") == [kept]
    assert (await states(store, shop))["a.py"] == "parsed"


async def test_relations_that_go_out_of_files_and_their_scopes_are_listed(
    store: Store, shop: str
) -> None:
    edges = [
        Relation("CONSUMES", "a2", "b1"),
        Relation("IMPORTS", "A", "B"),
        Relation("USES_LIBRARY", "A", "numpy"),
    ]
    back = Relation("CONSUMES", "b1", "a1")
    await relate(store, shop, [*edges, back])

    async def going_out(project_id: str, *files: str) -> list[Relation]:
        return await store.code.relations(RelationFilter(project_id=project_id, files=files))

    assert await going_out(shop, "a.py", "none.py") == edges
    assert await going_out(shop, "b.py") == [back]
    assert await going_out("none", "a.py") == []


async def test_relations_of_several_nodes_are_listed_together(store: Store, shop: str) -> None:
    edges = [
        Relation("CONSUMES", "a2", "b1"),
        Relation("CONSUMES", "b1", "a1"),
        Relation("USES_LIBRARY", "A", "numpy"),
    ]
    await relate(store, shop, edges)

    async def of(*nodes: str, kinds: Sequence[RelationKind] | None = None) -> list[Relation]:
        return await store.code.relations(RelationFilter(nodes, kinds=kinds))

    assert await of("a1", "a2", "numpy") == edges
    assert await of("a1", "b1", "none") == edges[:2]
    assert await of("a1", "A", kinds=["USES_LIBRARY"]) == edges[2:]
    assert await of() == []


async def test_scopes_inside_a_qualified_name_are_found(store: Store, shop: str) -> None:
    names = ("Cart", "Cart.add", "Cart.Line.tax", "Cart/x", "Carts.add", "cart.add", "Cart_1")
    scopes = [scope(name, "c.py", (n, n), uuid=name) for n, name in enumerate(names, 1)]
    await store.code.replace_files(shop, [parsed("c.py", *scopes)])

    async def inside(name: str, files: list[str] | None = None) -> list[str]:
        where = ScopeFilter(shop, files, inside=name)
        return [one.uuid for one in await store.records.find(SCOPE_NAME, where)]

    assert await inside("Cart") == ["Cart.add", "Cart.Line.tax"]
    assert await inside("Cart", ["c.py"]) == ["Cart.add", "Cart.Line.tax"]
    assert await inside("Cart", ["a.py"]) == []
    assert await inside("none") == []


async def test_vectors_are_copied_to_scopes_with_the_same_text_in_another_checkout(
    store: Store, shop: str
) -> None:
    await store.records.put(PROJECT, project("/clone", uuid="clone"))
    await store.code.replace_files(
        "clone",
        [
            parsed(
                "a.py",
                scope("cart", "a.py", (2, 10), uuid="c1", type="class"),
                scope("cart_total", "a.py", uuid="c2", hash="changed"),
            ),
            parsed("c.py", scope("cart", "c.py", uuid="c3", type="module")),
            parsed("d.md", scope("Buy", "d.md", uuid="c4", type="section")),
        ],
    )
    await store.code.replace_files(
        shop, [parsed("d.md", scope("Buy", "d.md", uuid="d1", type="section"))]
    )
    names = {"a1": "cart", "a2": "cart_total", "b1": "cart", "d1": "Buy"}
    for number, (uuid, name) in enumerate(names.items()):
        await embed_scopes(store, {uuid: direction(number)}, f"hash of {name}")
    model = direction(0).model
    ids = ["c1", "c2", "c3", "c4", "none"]

    assert await store.code.copy_vectors([shop], ids, "another model") == set()
    assert await store.code.copy_vectors(["none", "clone"], ids, model) == set()
    assert await store.code.copy_vectors([shop, "none"], ids, model) == {"c1", "c4"}

    [found] = await find_nearest(store, direction(0), CodeFilter("clone"), 1)
    assert (found.id, found.score) == ("c1", pytest.approx(1))
    assert set(await list_missing(store, "clone", model)) == {"c2", "c3"}


async def test_importers_of_files_are_counted(store: Store, shop: str) -> None:
    await store.code.replace_files(shop, [parsed("c.py", uuid="C")])
    edges = [("A", "B"), ("C", "B"), ("B", "C")]
    await relate(store, shop, [Relation("IMPORTS", *edge) for edge in edges])

    assert await store.code.importers(shop, ["a.py", "b.py", "none.py"]) == {"b.py": 2}
    assert await store.code.importers("none", ["b.py"]) == {}


async def test_relating_an_unknown_project_is_an_error(store: Store) -> None:
    with pytest.raises(ProjectNotFound):
        await store.code.relate_files("none", ["a.py"], [], "related")


async def test_names_of_scopes_come_without_their_source(store: Store, shop: str) -> None:
    found = await store.records.get_many(SCOPE_NAME, ["a2", "b1", "none"])

    assert set(found) == {"a2", "b1"}
    whole = await store.records.get(SCOPE, "a2")
    assert found["a2"] == ScopeName(
        "a2", "cart_total", whole.qualified_name, whole.type, "a.py", 3, 5, whole.signature
    )
    assert await store.records.get_many(SCOPE_NAME, []) == {}


async def test_names_of_whole_files_come_by_file_and_line(store: Store, shop: str) -> None:
    async def names_in(project_id: str, *files: str) -> list[ScopeName]:
        return await store.records.find(SCOPE_NAME, ScopeFilter(project_id, files))

    found = await names_in(shop, "b.py", "a.py", "none.py", "a.py")
    assert [name.uuid for name in found] == ["a1", "a2", "b1"]
    assert await names_in("none", "a.py") == []


async def test_what_is_left_to_embed_is_counted_and_listed(store: Store, shop: str) -> None:
    model = direction(0).model
    assert await count_missing(store, shop, model) == (3, 3)
    pending = partial(store.index.pending, SCOPE, model)
    assert await list_missing(store, shop, model) == ["a1", "a2", "b1"]
    assert await pending(2, ScopeFilter(shop)) == ["a1", "a2"]
    assert await pending(where=ScopeFilter(shop, ["b.py", "none.py"])) == ["b1"]
    assert await pending(where=ScopeFilter(shop, [])) == []

    whole = await store.records.get(SCOPE, "a1")
    await embed_scopes(store, {"a1": direction(0)}, whole.hash)

    assert await count_missing(store, shop, model) == (2, 3)
    assert await count_missing(store, shop, "another") == (3, 3)
    assert await count_missing(store, "none", model) == (0, 0)
    assert await store.index.count_pending(SCOPE, None, ScopeFilter(shop)) == (0, 3)


async def test_types_filter_words_and_vectors(store: Store, shop: str) -> None:
    await embed_scopes(store, {i: direction(n) for n, i in enumerate(("a1", "a2", "b1"))})

    async def found(*types: str) -> tuple[set[str], set[str]]:
        where = CodeFilter(project_id=shop, types=types)
        by_words = await find_by_words(store, "cart", where, 9)
        by_vector = await find_nearest(store, direction(0), where, 9)
        return {match.id for match in by_words}, {match.id for match in by_vector}

    assert await found("module") == ({"b1"}, {"b1"})
    assert await found("module", "class") == ({"a1", "b1"}, {"a1", "b1"})
    assert await found() == ({"a1", "a2", "b1"}, {"a1", "a2", "b1"})
    assert await found("none") == (set(), set())


async def test_files_filter_words_and_vectors(store: Store, shop: str) -> None:
    await embed_scopes(store, {i: direction(n) for n, i in enumerate(("a1", "a2", "b1"))})
    where = CodeFilter(project_id=shop, files=("b.py", "none.py"))

    assert [m.id for m in await find_by_words(store, "cart", where, 9)] == ["b1"]
    assert [m.id for m in await find_nearest(store, direction(0), where, 9)] == ["b1"]
