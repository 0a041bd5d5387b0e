"""Relations: how scopes, files and libraries are connected."""

from __future__ import annotations

import pytest

from ragforge.domain.code import RELATION_KINDS, Relation
from ragforge.domain.schema import PROJECT
from ragforge.errors import FileNotKnown, ScopeNotFound
from ragforge.ports.store import Store
from tests.fakes.builders import parsed, project, scope
from tests.fakes.code import relations_of
from tests.fakes.engines import counts
from tests.fakes.projects import relate


@pytest.fixture
async def shop(store: Store) -> str:
    """A project with the files A and B and the scopes a1, a2 and b1 in them."""
    await store.records.put(PROJECT, project(uuid="shop"))
    files = [
        parsed("a.py", scope("a1", uuid="a1"), scope("a2", uuid="a2"), uuid="A"),
        parsed("b.py", scope("b1", uuid="b1"), uuid="B"),
    ]
    await store.code.replace_files("shop", files)
    return "shop"


async def test_every_kind_of_relation_is_listed_from_both_ends(store: Store, shop: str) -> None:
    given = {
        "HAS_PARENT": Relation("HAS_PARENT", "a2", "a1"),
        "CONSUMES": Relation("CONSUMES", "a1", "b1"),
        "INHERITS_FROM": Relation("INHERITS_FROM", "b1", "a2"),
        "IMPORTS": Relation("IMPORTS", "A", "B"),
        "USES_LIBRARY": Relation("USES_LIBRARY", "A", "numpy"),
    }
    assert set(given) == set(RELATION_KINDS)
    await relate(store, shop, list(given.values()))

    for relation in given.values():
        assert await relations_of(store, relation.source, "out", [relation.kind]) == [relation]
        assert await relations_of(store, relation.target, "in", [relation.kind]) == [relation]
        assert relation not in await relations_of(store, relation.source, "in")


async def test_relations_are_returned_by_kind_source_and_target(store: Store, shop: str) -> None:
    out = [
        Relation("INHERITS_FROM", "a1", "a2"),
        Relation("CONSUMES", "a1", "b1"),
        Relation("CONSUMES", "a1", "a2"),
    ]
    into = [Relation("CONSUMES", "b1", "a1"), Relation("CONSUMES", "a2", "a1")]
    await relate(store, shop, out + into)

    assert await relations_of(store, "a1", "out") == [out[2], out[1], out[0]]
    assert await relations_of(store, "a1", "in") == [into[1], into[0]]
    assert await relations_of(store, "a1", "out", ["INHERITS_FROM", "IMPORTS"]) == [out[0]]
    assert await relations_of(store, "none", "out") == []


async def test_a_relation_that_is_there_stays_once(store: Store, shop: str) -> None:
    given = Relation("CONSUMES", "a1", "b1")
    await relate(store, shop, [given, given])
    await relate(store, shop, [given])
    await relate(store, shop, [])

    assert await relations_of(store, "a1", "out") == [given]
    assert await store.archive.count("relation") == 1


async def test_a_scope_may_relate_to_itself(store: Store, shop: str) -> None:
    loop = Relation("CONSUMES", "a1", "a1")
    await relate(store, shop, [loop])
    assert await relations_of(store, "a1", "out") == [loop]
    assert await relations_of(store, "a1", "in") == [loop]


UNKNOWN_ENDS = [
    (Relation("CONSUMES", "a1", "none"), ScopeNotFound),
    (Relation("CONSUMES", "none", "a1"), ScopeNotFound),
    (Relation("CONSUMES", "a1", "A"), ScopeNotFound),  # a file is not a scope
    (Relation("HAS_PARENT", "a1", "none"), ScopeNotFound),
    (Relation("INHERITS_FROM", "none", "a1"), ScopeNotFound),
    (Relation("IMPORTS", "A", "none"), FileNotKnown),
    (Relation("IMPORTS", "none", "B"), FileNotKnown),
    (Relation("IMPORTS", "A", "a1"), FileNotKnown),
    (Relation("USES_LIBRARY", "none", "numpy"), FileNotKnown),
]


async def test_an_unknown_end_is_an_error_and_nothing_is_added(store: Store, shop: str) -> None:
    before = await counts(store)

    for relation, error in UNKNOWN_ENDS:
        given = [Relation("CONSUMES", "a2", "b1"), relation]
        with pytest.raises(error):
            await store.code.relate_files(shop, ["a.py"], given, "parsed")

    assert await counts(store) == before
    assert await relations_of(store, "a2", "out") == []


async def test_a_library_is_known_by_its_exact_name(store: Store, shop: str) -> None:
    names = ["numpy", "Numpy", "@scope/pkg", "std::vec", "numpy ", "a1"]
    given = [Relation("USES_LIBRARY", "A", name) for name in names]
    await relate(store, shop, given)

    for relation in given:
        assert await relations_of(store, relation.target, "in", ["USES_LIBRARY"]) == [relation]


async def test_relations_from_a_replaced_file_are_dropped(store: Store, shop: str) -> None:
    stays = Relation("IMPORTS", "B", "A")
    given = [
        Relation("IMPORTS", "A", "B"),
        Relation("USES_LIBRARY", "A", "numpy"),
        Relation("CONSUMES", "a1", "b1"),
        stays,
    ]
    await relate(store, shop, given)

    files = [parsed("a.py", scope("a1", uuid="a1"), scope("a2", uuid="a2"), uuid="A")]
    await store.code.replace_files(shop, files)

    for node in ("A", "a1"):
        assert await relations_of(store, node, "out") == []
    assert await relations_of(store, "numpy", "in") == []
    assert await relations_of(store, "A", "in") == [stays]
    assert await store.archive.count("relation") == 1


async def test_relations_of_removed_files_go_with_them(store: Store, shop: str) -> None:
    given = [
        Relation("IMPORTS", "A", "B"),
        Relation("IMPORTS", "B", "A"),
        Relation("CONSUMES", "a1", "b1"),
        Relation("CONSUMES", "b1", "a1"),
        Relation("USES_LIBRARY", "B", "numpy"),
    ]
    await relate(store, shop, given)

    await store.code.remove_files(shop, ["b.py"])

    assert await store.archive.count("relation") == 0
    for node in ("A", "a1"):
        assert await relations_of(store, node, "out") == []
        assert await relations_of(store, node, "in") == []
    assert await relations_of(store, "numpy", "in") == []


async def test_relations_to_a_scope_that_is_gone_are_dropped(store: Store, shop: str) -> None:
    await relate(store, shop, [Relation("CONSUMES", "b1", "a1")])

    await store.code.replace_files(shop, [parsed("a.py", scope("a2", uuid="a2"), uuid="A")])

    assert await relations_of(store, "b1", "out") == []
    assert await store.archive.count("relation") == 0
