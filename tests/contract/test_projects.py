"""Projects, files and directories: what the brain knows of a tree."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from ragforge.brain.ingestion.embed import change_state
from ragforge.domain.code import CodeFilter, File, FileFilter, ParsedFile, Project, ProjectFilter
from ragforge.domain.schema import FILE, PROJECT, SCOPE
from ragforge.errors import DuplicateId, FileNotKnown, InvalidId, ProjectNotFound
from ragforge.ports.store import Store
from tests.fakes.builders import at, document, file, parsed, project, scope
from tests.fakes.code import find_by_words, list_directories, list_files, list_pages, read_file
from tests.fakes.engines import Engines, counts


@pytest.fixture
async def shop(store: Store) -> str:
    await store.records.put(PROJECT, project(uuid="shop"))
    return "shop"


async def paths(store: Store, project_id: str, under: str | None = None) -> list[str]:
    return [one.path for one in await list_files(store, project_id, under)]


async def list_in_state(store: Store, project_id: str, state: str) -> list[File]:
    return await store.records.find(FILE, FileFilter(project_id, state=state))


async def folders(store: Store, project_id: str) -> list[str]:
    return [one.path for one in await list_directories(store, project_id)]


async def test_a_project_is_known_by_its_exact_id(store: Store) -> None:
    given = Project("/w/shop", "The Shop", "Shop", "ready", "ann", "repository")
    await store.records.put(PROJECT, given)

    assert await store.records.get(PROJECT, "Shop") == given
    assert await store.records.find(PROJECT, ProjectFilter(["other", "repository"])) == [given]
    for other in ("Shop/", "shop", "Sho_", "%", "/w/shop", "repository"):
        with pytest.raises(ProjectNotFound):
            await store.records.get(PROJECT, other)
        assert await store.records.find(PROJECT, ProjectFilter([f"{other}x"])) == []


async def test_saving_a_project_again_changes_it_and_keeps_its_files(
    store: Store, shop: str
) -> None:
    await store.code.replace_files(shop, [parsed("a.py", scope("f", uuid="f"))])
    moved = Project("/moved", "Moved", uuid=shop, state="ready")

    await store.records.put(PROJECT, moved)

    assert await store.records.get(PROJECT, shop) == moved
    assert await store.archive.count("project") == 1
    assert await paths(store, shop) == ["a.py"]
    assert (await store.records.get(SCOPE, "f")).name == "f"


async def test_a_path_of_a_host_has_only_one_checkout(store: Store, shop: str) -> None:
    other, shop_path = project("/w/other", uuid="other"), project().path
    await store.records.put(PROJECT, other)

    with pytest.raises(DuplicateId):
        await store.records.put(PROJECT, project(uuid="new"))
    with pytest.raises(DuplicateId):
        await store.records.put(PROJECT, replace(other, path=shop_path, project_id=shop_path))
    elsewhere = project(uuid="elsewhere", host="bob")
    await store.records.put(PROJECT, elsewhere)
    await store.records.put(PROJECT, project(uuid="fork", project_id="fork"))

    assert (await store.records.get(PROJECT, shop)).path == project().path
    assert await store.records.get(PROJECT, "other") == other
    assert elsewhere in await store.records.find(PROJECT, ProjectFilter([shop_path]))
    assert await store.archive.count("project") == 4


async def test_a_state_is_changed_only_from_the_one_that_was_seen(store: Store, shop: str) -> None:
    seen = await store.records.get(PROJECT, shop)

    assert (await change_state(store.records, seen, "ready")).state == "ready"
    assert (await change_state(store.records, seen, "late")).state == "ready"
    with pytest.raises(ProjectNotFound):
        await change_state(store.records, replace(seen, uuid="none"), "late")

    assert (await store.records.get(PROJECT, shop)).state == "ready"


async def test_one_of_two_concurrent_state_changes_sees_the_other(
    store: Store, engine: str, engines: Engines
) -> None:
    await store.records.put(PROJECT, project(uuid="shop"))
    seen = await store.records.get(PROJECT, "shop")
    others = [await engines.open(engine) for _ in range(4)]

    found = await asyncio.gather(
        *(change_state(one.records, seen, f"by {n}") for n, one in enumerate(others))
    )

    assert len({one.state for one in found}) == 1


async def test_a_project_needs_a_path_and_an_id(store: Store) -> None:
    with pytest.raises(InvalidId):
        await store.records.put(PROJECT, Project("", "nameless"))
    with pytest.raises(InvalidId):
        await store.records.put(PROJECT, Project("/p", "nameless", uuid=""))
    assert await store.archive.count("project") == 0


async def test_a_file_comes_back_as_it_was_stored(store: Store, shop: str) -> None:
    full = file(
        "src/deep/ä b.py", language="python", size=5_000_000_000, mtime=at(1, 5.5), state="broken"
    )
    bare = file("README", kind="document", hash="")
    for one in (full, bare):
        await store.code.replace_files(shop, [replace(parsed("x"), file=one)])

    stored = await read_file(store, shop, full.path)

    assert stored == full
    assert stored.mtime is not None
    assert stored.mtime.isoformat() == "2026-01-05T17:31:00+05:30"
    assert await read_file(store, shop, "README") == bare


async def test_a_web_page_is_stored_next_to_the_files_and_is_not_one_of_them(
    store: Store, shop: str
) -> None:
    page = file(
        "https://docs.example.org/a/leases.html",
        kind="web_page",
        language="markdown",
        size=5,
        mtime=at(1),
        state="related",
    )
    section = scope("Leases", type="section", source="# Leases end", uuid="s")
    await store.code.replace_files(shop, [parsed("a/b.py", mtime=at(1), state="related")])
    await store.code.replace_files(shop, [ParsedFile(page, (replace(section, file=page.path),))])

    assert await list_pages(store, shop) == [page]
    assert await read_file(store, shop, page.path) == page
    assert await paths(store, shop) == ["a/b.py"]
    assert list(await store.code.file_marks(shop)) == ["a/b.py"]
    named = await store.code.file_marks(shop, ["a/b.py", page.path, "unknown.py"])
    assert {path: mark.hash for path, mark in named.items()} == {
        path: (await read_file(store, shop, path)).hash for path in ("a/b.py", page.path)
    }
    assert await store.code.file_paths(shop) == ["a/b.py"]
    assert [one.path for one in await list_in_state(store, shop, "related")] == ["a/b.py"]
    assert await folders(store, shop) == ["a"]
    where = CodeFilter(shop, sections=True)
    assert [one.id for one in await find_by_words(store, "leases", where, 9)] == ["s"]
    assert await find_by_words(store, "leases", CodeFilter(shop), 9) == []

    await store.code.remove_files(shop, [page.path])

    assert await list_pages(store, shop) == []
    assert await find_by_words(store, "leases", where, 9) == []
    assert await folders(store, shop) == ["a"]


async def test_a_project_that_is_deleted_leaves_no_web_page(store: Store, shop: str) -> None:
    page = parsed("http://example.org/", scope("x", uuid="x", type="section"), kind="web_page")
    await store.code.replace_files(shop, [page])

    await store.records.delete(PROJECT, shop)

    assert await list_pages(store, shop) == []
    assert await store.archive.count("file") == 0
    assert await store.archive.count("scope") == 0


async def test_an_unknown_file_is_an_error(store: Store, shop: str) -> None:
    await store.records.put(PROJECT, project("/w/other", uuid="other"))
    await store.code.replace_files("other", [parsed("a.py")])

    for wanted in ("a.py", "", "A.py"):
        with pytest.raises(FileNotKnown):
            await read_file(store, shop, wanted)


async def test_replacing_a_file_keeps_one_of_it(store: Store, shop: str) -> None:
    await store.code.replace_files(shop, [parsed("a.py", uuid="id", hash="1")])
    await store.code.replace_files(shop, [parsed("a.py", uuid="id", hash="2", state="broken")])

    [stored] = await list_files(store, shop)

    assert (stored.hash, stored.state) == ("2", "broken")


async def test_files_are_listed_by_path(store: Store, shop: str) -> None:
    given = ["b.py", "a/z.py", "a.py", "a/b/c.py", "B.py"]
    await store.code.replace_files(shop, [parsed(path) for path in given])
    assert await paths(store, shop) == sorted(given)


LOOK_ALIKES = [
    "src/a.py",
    "src/a/x.py",
    "src/a/deep/y.py",
    "src/ab/x.py",
    "src/a%/x.py",
    "src/a_/x.py",
    "src/[a]/x.py",
    "src/*/x.py",
    "src/A/x.py",
    "lib/src/a/x.py",
]


UNDER = {
    "src/a": ["src/a/deep/y.py", "src/a/x.py"],
    "src/a.py": ["src/a.py"],
    "src/a/deep": ["src/a/deep/y.py"],
    "src/a%": ["src/a%/x.py"],
    "src/a_": ["src/a_/x.py"],
    "src/[a]": ["src/[a]/x.py"],
    "src/*": ["src/*/x.py"],
    "src/A": ["src/A/x.py"],
    "lib": ["lib/src/a/x.py"],
    "sr": [],
    "src/a/x": [],
    "%": [],
    "none": [],
}


async def test_paths_are_listed_and_states_counted_of_one_project(store: Store, shop: str) -> None:
    await store.records.put(PROJECT, project("/w/other", uuid="other"))
    await store.code.replace_files("other", [parsed("src/x.py")])
    odd = 'src/q"uo\\te\u00e9.py'
    await store.code.replace_files(shop, [parsed("src/a.py"), parsed(odd), parsed("b.py")])
    await store.code.set_files(shop, "state", {"b.py": "related"})

    assert sorted(await store.code.file_paths(shop)) == sorted(["src/a.py", odd, "b.py"])
    assert [one.path for one in await list_in_state(store, shop, "related")] == ["b.py"]
    assert await store.code.file_paths("unknown") == []
    assert await list_in_state(store, "unknown", "related") == []


async def test_files_are_listed_in_another_order_without_a_time_first(
    store: Store, shop: str
) -> None:
    times = {"old.py": at(1), "new.py": at(9), "b.py": None, "a.py": None}
    given = [parsed(path, mtime=time) for path, time in times.items()]
    await store.code.replace_files(shop, given)
    where, order = FileFilter(shop), ("-mtime", "path")

    newest = await store.records.find(FILE, where, 3, order=order)
    rest = await store.records.find(FILE, where, 9, 3, order)

    assert [one.path for one in (*newest, *rest)] == ["a.py", "b.py", "new.py", "old.py"]


async def test_under_means_whole_segments(store: Store, shop: str) -> None:
    await store.code.replace_files(shop, [parsed(path) for path in LOOK_ALIKES])

    for under, expected in UNDER.items():
        assert await paths(store, shop, under) == expected, under


async def test_directories_follow_the_files(store: Store, shop: str) -> None:
    await store.code.replace_files(shop, [parsed("src/x.py"), parsed("src/a/y.py"), parsed("z.py")])

    known = await list_directories(store, shop)
    assert [(one.path, one.name) for one in known] == [("src", "src"), ("src/a", "a")]
    assert len({one.uuid for one in known}) == 2

    await store.code.remove_files(shop, ["src/a/y.py"])
    assert await folders(store, shop) == ["src"]
    await store.code.remove_files(shop, ["src/x.py"])
    assert await folders(store, shop) == []
    assert await paths(store, shop) == ["z.py"]


async def test_a_directory_keeps_its_id_while_it_holds_files(store: Store, shop: str) -> None:
    await store.code.replace_files(shop, [parsed("src/x.py")])
    before = await list_directories(store, shop)

    await store.code.replace_files(shop, [parsed("src/y.py")])
    await store.code.remove_files(shop, ["src/x.py"])

    assert await list_directories(store, shop) == before


async def test_projects_do_not_share_files_or_directories(store: Store, shop: str) -> None:
    await store.records.put(PROJECT, project("/w/other", uuid="other"))
    for one in (shop, "other"):
        await store.code.replace_files(one, [parsed("src/x.py", hash=one)])

    await store.code.remove_files(shop, ["src/x.py"])

    assert (await paths(store, shop), await folders(store, shop)) == ([], [])
    assert (await read_file(store, "other", "src/x.py")).hash == "other"
    assert await folders(store, "other") == ["src"]


async def test_removing_unknown_paths_does_nothing(store: Store, shop: str) -> None:
    await store.code.replace_files(shop, [parsed("src/a.py"), parsed("src/b.py")])

    await store.code.remove_files(shop, ["none.py", "src", "src/%", "src/a.p_", ""])
    await store.code.remove_files(shop, [])

    assert await paths(store, shop) == ["src/a.py", "src/b.py"]


async def test_thousands_of_files_go_in_one_batch(store: Store, shop: str) -> None:
    many = [parsed(f"d{i % 50}/f{i}.py", scope(f"f{i}")) for i in range(2_000)]
    await store.code.replace_files(shop, many)
    assert len(await paths(store, shop)) == 2_000
    assert len(await folders(store, shop)) == 50

    await store.code.remove_files(shop, [one.file.path for one in many[1:]])

    assert await paths(store, shop) == ["d0/f0.py"]
    assert await store.archive.count("scope") == 1


async def test_an_unknown_project_takes_and_loses_nothing(store: Store) -> None:
    with pytest.raises(ProjectNotFound):
        await store.code.replace_files("none", [parsed("a.py", scope("f"))])
    with pytest.raises(ProjectNotFound):
        await store.code.remove_files("none", ["a.py"])
    with pytest.raises(ProjectNotFound):
        await store.records.delete(PROJECT, "none")
    assert set((await counts(store)).values()) == {0}


async def test_one_bad_file_stores_none(store: Store, shop: str) -> None:
    await store.code.replace_files(shop, [parsed("a.py", scope("f", uuid="taken"))])
    before = await counts(store)

    with pytest.raises(DuplicateId):
        await store.code.replace_files(
            shop, [parsed("good.py", scope("g")), parsed("bad.py", scope("h", uuid="taken"))]
        )
    with pytest.raises(InvalidId):
        await store.code.replace_files(shop, [document("good.md", "One"), parsed("")])

    assert await counts(store) == before
    assert (await store.records.get(SCOPE, "taken")).file == "a.py"


async def test_an_id_of_another_project_is_refused(store: Store, shop: str) -> None:
    await store.records.put(PROJECT, project("/w/other", uuid="other"))
    await store.code.replace_files("other", [parsed("a.py", scope("f", uuid="s"), uuid="file")])
    before = await counts(store)

    with pytest.raises(DuplicateId):
        await store.code.replace_files(shop, [parsed("a.py", uuid="file")])
    with pytest.raises(DuplicateId):
        await store.code.replace_files(shop, [parsed("a.py", scope("f", uuid="s"))])

    assert await counts(store) == before
    assert await paths(store, shop) == []
