"""A checkout that begins with the index of another one: nothing is parsed or embedded twice."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from ragforge.brain.files import compare
from ragforge.brain.ingestion import copy_index
from ragforge.brain.project import Brain
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.schema import PROJECT
from ragforge.ports.store import Store
from tests.fakes.engines import Engines
from tests.fakes.projects import SHOP, ToyEmbedder, brain_of, differences, snapshot, write
from tests.flow.test_incremental import Shaker


def open_checkout(store: Store, root: Path, embedder: ToyEmbedder, project: str = "shop") -> Brain:
    """Return the brain of a checkout of a repository."""
    place = ProjectPlace((project, f"former {project}"), str(root), checkout_id=f"of {root.name}")
    return brain_of(store, root, embedder, place)


async def ingest_fresh(engines: Engines, engine: str, root: Path) -> Store:
    """Return a store that holds only this checkout."""
    fresh = await engines.empty(engine)
    await open_checkout(fresh, root, ToyEmbedder()).ingest()
    return fresh


@pytest.mark.both_engines
async def test_a_second_clone_is_neither_parsed_nor_embedded_and_has_the_same_graph(
    engine: str, engines: Engines, tmp_path: Path
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    write(one, SHOP | {"twins.py": "def twin(): ...\n\n\ndef twin(): ...\n"})
    shutil.copytree(one, two)
    store = await engines.empty(engine)
    await open_checkout(store, one, ToyEmbedder()).ingest()
    embedder = ToyEmbedder()

    report, embedded = await open_checkout(store, two, embedder).ingest()

    assert (report.copied, report.read, report.related, embedded) == (7, 0, 0, 0)
    assert embedder.texts == []
    [*_, hit] = await open_checkout(store, two, embedder).search("price_of", limit=1)
    assert hit.scope.file == "shop/prices.py"
    await store.records.delete(PROJECT, "of one")
    copied = await snapshot(store, two)
    assert not differences(copied, await snapshot(await ingest_fresh(engines, engine, two), two))


async def test_what_differs_in_the_second_clone_is_read_and_the_rest_is_not(
    engine: str, engines: Engines, tmp_path: Path
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    write(one, SHOP)
    shutil.copytree(one, two)
    write(two, {"shop/prices.py": "def price_of(item):\n    return 1\n", "new.py": "N = 1\n"})
    (two / "web/page.ts").unlink()
    store = await engines.empty(engine)
    await open_checkout(store, one, ToyEmbedder()).ingest()
    embedder = ToyEmbedder()

    report, _ = await open_checkout(store, two, embedder).ingest()

    assert (report.copied, report.read, report.removed) == (6, 2, 1)
    assert all(text.startswith(("shop/prices.py", "new.py")) for text in embedder.texts)
    await store.records.delete(PROJECT, "of one")
    copied = await snapshot(store, two)
    assert not differences(copied, await snapshot(await ingest_fresh(engines, engine, two), two))


async def test_vectors_come_from_the_other_checkout_when_both_have_pulled(
    engine: str, engines: Engines, tmp_path: Path
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    write(one, SHOP)
    shutil.copytree(one, two)
    store = await engines.empty(engine)
    embedder = ToyEmbedder()
    pulled = {"shop/tax.py": "def tax(amount):\n    return amount / 5\n"}
    for root in (one, two):
        await open_checkout(store, root, embedder).ingest()
    write(one, pulled)
    await open_checkout(store, one, embedder).ingest()
    embedder.texts.clear()
    write(two, pulled)

    report, embedded = await open_checkout(store, two, embedder).ingest()

    assert (report.copied, report.read, embedded) == (0, 1, 0)
    assert embedder.texts == []


async def test_another_project_with_the_same_files_is_read_for_itself(
    engine: str, engines: Engines, tmp_path: Path
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    write(one, SHOP)
    shutil.copytree(one, two)
    store = await engines.empty(engine)
    await open_checkout(store, one, ToyEmbedder()).ingest()

    report, embedded = await open_checkout(store, two, ToyEmbedder(), "another").ingest()

    assert (report.copied, report.read, embedded) == (0, 6, 15)


@pytest.mark.parametrize("stops_at", ["relations", "relate_files"])
async def test_a_copy_that_is_interrupted_is_made_again(
    engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stops_at: str
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    write(one, SHOP)
    shutil.copytree(one, two)
    store = await engines.empty("sqlite")
    await open_checkout(store, one, ToyEmbedder()).ingest()
    monkeypatch.setattr(copy_index, "TOGETHER", 2)

    async def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(store.code, stops_at, stop)
        with pytest.raises(KeyboardInterrupt):
            await open_checkout(store, two, ToyEmbedder()).ingest()
    states = {mark.state for mark in (await store.code.file_marks("of two")).values()}
    assert states == {compare.PARSED}

    report, embedded = await open_checkout(store, two, ToyEmbedder()).ingest(paths=["new.py"])

    assert (report.copied, report.read, embedded) == (6, 0, 0)
    await store.records.delete(PROJECT, "of one")
    copied = await snapshot(store, two)
    assert not differences(copied, await snapshot(await ingest_fresh(engines, "sqlite", two), two))


async def shaken_clone_equals_fresh(engines: Engines, engine: str, folder: Path, seed: int) -> None:
    one, two = folder / "one", folder / "two"
    one.mkdir()
    first = Shaker(one, random.Random(seed))
    first.begin()
    store = await engines.empty(engine)
    await open_checkout(store, one, ToyEmbedder()).ingest()
    shutil.copytree(one, two)
    shaker = Shaker(two, first.chance, first.clock)
    for _ in range(shaker.chance.choice((1, 2, 4))):
        shaker.step()

    await open_checkout(store, two, ToyEmbedder()).ingest()

    await store.records.delete(PROJECT, "of one")
    found = differences(
        await snapshot(store, two), await snapshot(await ingest_fresh(engines, engine, two), two)
    )
    if found:
        print(*first.trace, "CLONE", *shaker.trace, "", *found, sep="\n")
    assert not found


@pytest.mark.parametrize("seed", range(6))
async def test_a_shaken_clone_in_sqlite_equals_a_fresh_one(
    engines: Engines, tmp_path: Path, seed: int
) -> None:
    await shaken_clone_equals_fresh(engines, "sqlite", tmp_path, seed)


@pytest.mark.neo4j
async def test_a_shaken_clone_in_neo4j_equals_a_fresh_one(engines: Engines, tmp_path: Path) -> None:
    await shaken_clone_equals_fresh(engines, "neo4j", tmp_path, 5)
