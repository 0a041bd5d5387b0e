"""Searching code: scopes by words and by vectors, in the part that the caller searches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import pytest

from ragforge.domain.code import SECTION, CodeFilter
from ragforge.domain.schema import PROJECT
from ragforge.ports.store import Store
from tests.fakes.builders import direction, document, parsed, project, scope
from tests.fakes.code import as_asked, embed_scopes, find_by_words, find_nearest

ANY = CodeFilter()
Search: TypeAlias = Callable[[CodeFilter, int], Awaitable[list[str]]]


@pytest.fixture(params=["words", "vector"])
def search(request: pytest.FixtureRequest, store: Store) -> Search:
    """Search for zebras, which all the scopes of these tests are about."""

    async def by_words(where: CodeFilter, limit: int) -> list[str]:
        return [m.id for m in await find_by_words(store, "zebra", where, limit)]

    async def by_vector(where: CodeFilter, limit: int) -> list[str]:
        return [m.id for m in await find_nearest(store, direction(0), where, limit)]

    return by_words if request.param == "words" else by_vector


@pytest.fixture
async def shop(store: Store) -> str:
    await store.records.put(PROJECT, project(uuid="shop"))
    return "shop"


async def plant(store: Store, project_id: str, *paths: str, angle: float = 5) -> None:
    """Store files with one scope about zebras each, whose id tells project and path."""
    files = [parsed(path, scope("zebra", uuid=f"{project_id}:{path}", hash="h")) for path in paths]
    await store.code.replace_files(project_id, files)
    await embed_scopes(store, {f"{project_id}:{path}": direction(angle) for path in paths})


async def test_projects_never_leak(store: Store, shop: str, search: Search) -> None:
    await store.records.put(PROJECT, project("/w/other", uuid="other"))
    for one in (shop, "other"):
        await plant(store, one, "a.py")

    assert await search(CodeFilter("shop"), 9) == ["shop:a.py"]
    assert await search(CodeFilter("other"), 9) == ["other:a.py"]
    assert set(await search(ANY, 9)) == {"shop:a.py", "other:a.py"}
    assert await search(CodeFilter("none"), 9) == []
    assert await search(CodeFilter("sho_"), 9) == []


UNDER = {
    "src/a": {"src/a/x.py", "src/a/deep/y.py"},
    "src/a.py": {"src/a.py"},
    "src/a%": {"src/a%/x.py"},
    "src/a_": {"src/a_/x.py"},
    "src/[a]": {"src/[a]/x.py"},
    "src/*": {"src/*/x.py"},
    "src/A": {"src/A/x.py"},
    "src/a/x": set(),
    "sr": set(),
}


async def test_under_means_whole_segments(store: Store, shop: str, search: Search) -> None:
    paths = ["src/a.py", "src/a/x.py", "src/a/deep/y.py", "src/ab/x.py", "src/a%/x.py"]
    paths += ["src/a_/x.py", "src/[a]/x.py", "src/*/x.py", "src/A/x.py", "lib/src/a/x.py"]
    await plant(store, shop, *paths)

    for under, expected in UNDER.items():
        found = await search(CodeFilter(shop, under), 99)
        assert {one.removeprefix("shop:") for one in found} == expected, under


async def test_filters_come_before_the_limit(store: Store, shop: str, search: Search) -> None:
    await store.records.put(PROJECT, project("/w/other", uuid="other"))
    await plant(store, "other", *(f"zebra/z{i}.py" for i in range(200)), angle=0)
    await plant(store, shop, *(f"zebra/z{i}.py" for i in range(200)), angle=0)
    await plant(store, shop, "quiet/one.py", angle=80)

    assert await search(CodeFilter(shop, "quiet"), 1) == ["shop:quiet/one.py"]
    assert await search(CodeFilter(under="quiet"), 1) == ["shop:quiet/one.py"]
    assert len(await search(CodeFilter(shop), 7)) == 7
    assert await search(CodeFilter(shop), 0) == []


async def test_sections_of_documents_are_not_code(store: Store, shop: str, search: Search) -> None:
    guide = document("docs/zebra.md", "Zebra", "More of zebra")
    await store.code.replace_files(shop, [guide])
    sections = {one.uuid for one in guide.scopes}
    await embed_scopes(store, dict.fromkeys(sections, direction(1)))
    await plant(store, shop, "a.py")

    assert await search(CodeFilter(shop), 9) == ["shop:a.py"]
    assert set(await search(CodeFilter(shop, sections=True), 9)) == sections
    assert await search(ANY, 9) == ["shop:a.py"]


async def test_many_nearer_sections_hide_no_code(store: Store, shop: str, search: Search) -> None:
    guide = document("docs/zebra.md", *(f"Zebra {i}" for i in range(200)))
    await store.code.replace_files(shop, [guide])
    await embed_scopes(store, {one.uuid: direction(0) for one in guide.scopes})
    await plant(store, shop, "a.py", angle=80)

    assert await search(CodeFilter(shop), 1) == ["shop:a.py"]


async def test_removed_files_are_not_found(store: Store, shop: str, search: Search) -> None:
    await plant(store, shop, "a.py", "b.py")

    await store.code.remove_files(shop, ["a.py"])
    assert await search(ANY, 9) == ["shop:b.py"]

    await store.records.delete(PROJECT, shop)
    assert await search(ANY, 9) == []


async def test_a_scope_is_found_by_all_its_texts(store: Store, shop: str) -> None:
    given = scope(
        "zebra",
        uuid="s",
        qualified_name="Giraffe.zebra",
        signature="def zebra(lion: Tiger)",
        docstring="Feeds the walrus.",
        source="return self.elephant",
    )
    await store.code.replace_files(shop, [parsed("src/otter.py", given)])

    for word in ("zebra", "giraffe", "lion", "tiger", "walrus", "elephant", "otter"):
        found = await find_by_words(store, word, ANY, 9)
        assert [match.id for match in found] == ["s"], word
    assert await find_by_words(store, "badger", ANY, 9) == []


async def test_the_scope_that_holds_more_of_the_words_comes_first(store: Store, shop: str) -> None:
    some = scope("other", uuid="some", source="return zebra + 1 - many * different / things")
    most = scope("feed_zebra", uuid="most", source="giraffe = zebra()")
    filler = [scope(f"filler{i}", source="pass") for i in range(8)]
    await store.code.replace_files(shop, [parsed("a.py", some, most, *filler)])

    found = await find_by_words(store, "giraffe zebra", ANY, 9)

    assert [match.id for match in found] == ["most", "some"]
    assert found[0].score > found[1].score


async def test_a_moved_scope_is_found_at_its_new_place(
    store: Store, shop: str, search: Search
) -> None:
    await plant(store, shop, "old/a.py")

    await store.code.remove_files(shop, ["old/a.py"])
    await plant(store, shop, "new/a.py")

    assert await search(CodeFilter(shop, "new"), 9) == ["shop:new/a.py"]
    assert await search(CodeFilter(shop, "old"), 9) == []


async def test_the_type_of_a_scope_decides_what_a_section_is(store: Store, shop: str) -> None:
    mixed = [scope("zebra", uuid="code"), scope("Zebra", uuid="text", type=SECTION)]
    await store.code.replace_files(shop, [parsed("notebook.md", *mixed)])

    code = await find_by_words(store, "zebra", ANY, 9)
    sections = await find_by_words(store, "zebra", CodeFilter(sections=True), 9)

    assert [match.id for match in code] == ["code"]
    assert [match.id for match in sections] == ["text"]


async def test_files_are_found_by_the_names_in_their_code(store: Store, shop: str) -> None:
    await store.records.put(PROJECT, project("/w/other", uuid="other"))
    texts = {
        "use.py": "return feed_zebra(1)",
        "part.py": "zebra = 1",
        "other.py": "return feed(zebras)",
        "feed_zebra.py": "pass",
    }
    for where in (shop, "other"):
        files = [parsed(path, scope("f", source=text)) for path, text in texts.items()]
        await store.code.replace_files(where, files if where == shop else files[:1])
    document = scope("About", type=SECTION, source="feed_zebra is a function")
    await store.code.replace_files(shop, [parsed("read.md", document)])

    async def holding(*names: str) -> set[str] | None:
        return await store.code.files_holding(shop, names)

    assert await holding("feed_zebra") == {"use.py"}
    assert await holding("zebra") == {"use.py", "part.py", "other.py"}  # a part, and a plural
    assert await holding("feed_zebra", "nowhere", "feed") == {"use.py", "other.py"}
    assert await holding("nowhere") == set()
    assert await holding() == set()
    assert await holding("feed_zebra", "<*>") is None


async def test_scopes_that_hold_a_word_are_counted_up_to_a_number(store: Store, shop: str) -> None:
    files = [
        parsed(f"{n}.py", scope("f", uuid=f"s{n}", source="parse zebra" if n % 2 else "parsed"))
        for n in range(9)
    ]
    await store.code.replace_files(shop, files)
    await store.records.put(PROJECT, project("/other", uuid="other"))
    await store.code.replace_files("other", [parsed("x.py", scope("zebra", uuid="x"))])
    asked = as_asked("zebra", "Parsing", "walrus", "?!")

    assert await store.code.count_holding(shop, asked, 99) == {
        "zebra": 4,
        "Parsing": 9,
        "walrus": 0,
        "?!": 0,
    }
    assert (await store.code.count_holding(shop, asked, 5))["Parsing"] == 5
    assert await store.code.count_holding("nowhere", as_asked("zebra"), 5) == {"zebra": 0}
    assert await store.code.count_holding(shop, {}, 5) == {}


async def test_a_word_of_the_index_is_counted_as_it_is(store: Store, shop: str) -> None:
    # A stem has its own stem: "False" is indexed as "fals", whose stem is "fal".
    await store.code.replace_files(
        shop, [parsed("a.py", scope("f", source="silenceUsage = False"))]
    )
    asked = {"False": ["fals"], "silenceUsage": ["silenceusage"]}

    assert await store.code.count_holding(shop, asked, 9) == {"False": 1, "silenceUsage": 1}


async def test_words_of_documents_are_counted_if_asked_for(store: Store, shop: str) -> None:
    await plant(store, shop, "zebra.py")
    await store.code.replace_files(shop, [document("docs/guide.md", "Giraffe")])
    asked = as_asked("zebra", "giraffe", "okapi")

    assert await store.code.count_holding(shop, asked, 9) == {"zebra": 1, "giraffe": 0, "okapi": 0}
    held = await store.code.count_holding(shop, asked, 9, documents=True)
    assert {word for word, count in held.items() if count} == {"zebra", "giraffe"}


async def test_a_word_is_counted_if_a_search_would_find_it(store: Store, shop: str) -> None:
    await store.records.put(PROJECT, project("/w/other", uuid="other"))
    await plant(store, "other", "lion.py")
    await plant(store, shop, "zebra.py")
    await store.code.replace_files(shop, [document("docs/guide.md", "Giraffe")])

    asked = as_asked("zebra", "Zebra", "lion", "giraffe", "zebbra", "", "…")
    held = await store.code.count_holding(shop, asked, 1)

    by_search = {w for w in asked if await find_by_words(store, w, CodeFilter(shop), 1)}
    assert {word for word, count in held.items() if count} == by_search == {"zebra", "Zebra"}
