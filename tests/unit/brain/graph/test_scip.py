"""SCIP: what an exact indexer wrote takes the place of names, while the files are the same.

The indexes in `tests/fixtures/scip` were written by scip-typescript 0.4.0 and scip-python 0.6.6.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragforge.brain.graph import scip
from ragforge.brain.graph.scip import Document, Occurrence, is_local, read_index, split_symbol
from ragforge.brain.ingestion.progress import IngestionReport
from ragforge.brain.project import Brain
from ragforge.domain.code import RelationFilter
from ragforge.domain.schema import SCOPE_NAME
from ragforge.errors import InputError
from tests.fakes.engines import Engines
from tests.fakes.projects import LONG_AGO, brain_of

FIXTURES = Path(__file__).parents[3] / "fixtures" / "scip"
OF_CHECKOUT = "src/cart.ts:checkout CONSUMES src/store.ts:Store.save"
BY_NAMES = "src/store.ts:LoudStore INHERITS_FROM src/store.ts:MemoryStore"


@pytest.fixture
async def brain(engines: Engines, tmp_path: Path) -> Brain:
    """A project that was indexed by scip-typescript; the index is not in it."""
    root = tmp_path / "shop"
    copy_old("typescript", root)
    shutil.move(root / "index.scip", tmp_path / "ci.scip")
    return make_brain(brain_of(await engines.empty("sqlite"), root), tmp_path)


def make_brain(found: Brain, folder: Path, trusted: bool = False) -> Brain:
    state = folder / "state"
    ingester = replace(found.ingester, folder=state, uses_index=lambda: trusted)
    return replace(found, ingester=ingester)


def copy_old(name: str, root: Path) -> None:
    """Copy a fixture, with files that are older than what is written from now on."""
    shutil.copytree(FIXTURES / name, root)
    for file in root.rglob("*"):
        os.utime(file, (LONG_AGO, LONG_AGO))


async def ingest(brain: Brain, index: Path | None = None) -> IngestionReport:
    return (await brain.ingest(scip=index))[0]


async def list_edges(brain: Brain) -> set[str]:
    where = RelationFilter(
        project_id=brain.project_id,
        files=await brain.code.file_paths(brain.project_id),
        kinds=["CONSUMES", "INHERITS_FROM"],
    )
    edges = await brain.code.relations(where)
    ids = [end for one in edges for end in (one.source, one.target)]
    names = await brain.store.records.get_many(SCOPE_NAME, ids)
    places = {uuid: f"{one.file}:{one.qualified_name}" for uuid, one in names.items()}
    return {f"{places[one.source]} {one.kind} {places[one.target]}" for one in edges}


def make_document(path: str) -> Any:
    return scip._make_messages()["Document"](relative_path=path)


def write_index(file: Path, *documents: Any) -> None:
    """Write an index of short documents, as protobuf does."""
    texts = [document.SerializeToString() for document in documents]
    heads = [bytes([0x12, len(text) & 127 | 128, len(text) >> 7]) for text in texts]
    file.write_bytes(b"".join(head + text for head, text in zip(heads, texts, strict=True)))


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


async def test_what_the_indexer_knows_is_found_and_bases_stay_direct(
    brain: Brain, tmp_path: Path
) -> None:
    await ingest(brain)
    assert OF_CHECKOUT not in await list_edges(brain)

    report = await ingest(brain, tmp_path / "ci.scip")

    assert await list_edges(brain) == {
        OF_CHECKOUT,
        "src/cart.ts:cart CONSUMES src/store.ts:open",
        "src/store.ts:MemoryStore INHERITS_FROM src/store.ts:Store",
        BY_NAMES,
        "src/store.ts:LoudStore.save CONSUMES src/store.ts:MemoryStore.save",
        "src/store.ts:open CONSUMES src/store.ts:Store",
        "src/store.ts:open CONSUMES src/store.ts:LoudStore",
        "src/store.ts:open CONSUMES src/store.ts:MemoryStore",
    }
    assert report.exact is not None
    assert sorted(report.exact.fresh) == ["src/cart.ts", "src/store.ts"]
    assert (await ingest(brain)).related == 0  # it stays, and costs nothing


async def test_a_changed_file_is_related_by_names_and_the_others_stay_exact(
    brain: Brain, tmp_path: Path
) -> None:
    await ingest(brain, tmp_path / "ci.scip")
    edit(brain.root / "src/cart.ts", "pick.now(true)", "pick.now(false)")
    await ingest(brain)

    changed = await list_edges(brain)
    assert OF_CHECKOUT not in changed
    assert BY_NAMES in changed
    edit(brain.root / "src/cart.ts", "pick.now(false)", "pick.now(true)")
    await brain.ingest(paths=["src/cart.ts"])
    assert OF_CHECKOUT in await list_edges(brain)


async def test_a_file_that_changed_before_the_index_is_read_is_ignored_and_named(
    brain: Brain, tmp_path: Path
) -> None:
    edit(brain.root / "src/cart.ts", "import", "\nimport")
    os.utime(brain.root / "src/cart.ts", (LONG_AGO, LONG_AGO))  # as after a checkout

    report = await ingest(brain, tmp_path / "ci.scip")

    assert report.exact is not None
    assert report.exact.stale == ("src/cart.ts",)
    assert OF_CHECKOUT not in await list_edges(brain)


async def test_a_file_that_is_younger_than_the_index_has_changed(
    brain: Brain, tmp_path: Path
) -> None:
    (brain.root / "src/cart.ts").touch()

    report = await ingest(brain, tmp_path / "ci.scip")

    assert report.exact is not None
    assert report.exact.stale == ("src/cart.ts",)


async def test_without_the_index_names_count_again(brain: Brain, tmp_path: Path) -> None:
    await ingest(brain)
    before = await list_edges(brain)
    await ingest(brain, tmp_path / "ci.scip")

    (tmp_path / "ci.scip").unlink()
    report = await ingest(brain)

    assert report.exact is None
    assert await list_edges(brain) == before


async def test_an_index_in_the_project_is_used_after_trust(brain: Brain, tmp_path: Path) -> None:
    shutil.copy2(tmp_path / "ci.scip", brain.root / "index.scip")
    assert (await ingest(brain)).exact is None
    assert OF_CHECKOUT not in await list_edges(brain)

    trusting = make_brain(brain, tmp_path, trusted=True)
    assert (await ingest(trusting)).exact is not None
    assert OF_CHECKOUT in await list_edges(brain)

    assert (await ingest(brain)).exact is None  # the trust was revoked
    assert OF_CHECKOUT not in await list_edges(brain)


@pytest.mark.parametrize("damage", ["cut", "other", "empty", "missing", "large", "many", "group"])
async def test_a_damaged_index_is_an_error_that_changes_nothing(
    brain: Brain, tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = tmp_path / "ci.scip"
    await ingest(brain, good)
    bad, data = tmp_path / "bad.scip", good.read_bytes()
    if damage != "missing":
        texts = {"cut": data[:-100], "other": b"\xff" * 500, "empty": b"", "group": b"\x13" * 9}
        bad.write_bytes(texts.get(damage, data))
    limit = {"large": "MAX_BYTES", "many": "MAX_OCCURRENCES"}.get(damage, "MAX_BYTES")
    monkeypatch.setattr(scip, limit, 10 if damage in ("large", "many") else 10_000)

    with pytest.raises(InputError, match=r"bad\.scip"):
        await ingest(brain, bad)

    monkeypatch.undo()
    assert OF_CHECKOUT in await list_edges(brain)
    assert (await ingest(brain)).related == 0


async def test_a_damaged_index_in_the_project_is_left_alone(brain: Brain, tmp_path: Path) -> None:
    (brain.root / "index.scip").write_bytes(b"\xff" * 500)

    report = await ingest(make_brain(brain, tmp_path, trusted=True))

    assert report.exact is None
    assert BY_NAMES in await list_edges(brain)


def test_files_outside_of_the_project_are_ignored(tmp_path: Path) -> None:
    paths = ("../a.py", "/etc/passwd", "a/../../b.py", "a\\b.py", "", "ok.py", "./c.py")
    write_index(tmp_path / "index.scip", *(make_document(path) for path in paths))

    assert list(read_index(tmp_path / "index.scip")) == ["ok.py"]
    assert list(read_index(tmp_path / "index.scip", "packages/a")) == ["packages/a/ok.py"]


def test_places_that_make_no_sense_are_skipped(tmp_path: Path) -> None:
    document = make_document("a.py")
    for place in ([], [1], [-1, 0, 3], [1, 2, 3, 4, 5], [2**31 - 1, 0, 1], [0, 4, 7]):
        document.occurrences.add(range=place, symbol="x . . . f().", symbol_roles=1)
    write_index(tmp_path / "index.scip", document)
    found = read_index(tmp_path / "index.scip")["a.py"]

    assert [one.line for one in found.occurrences] == [2**31, 1]
    assert not found.fits("def f(): ...")


def test_a_document_with_its_text_fits_only_that() -> None:
    document = Document("a.py", (Occurrence("x . . . f().", 1, 4, 5, True),), text="def f(): 1")

    assert document.fits("def f(): 1")
    assert not document.fits("def f(): 2")
    assert replace(document, text="").fits("def f(): 2")
    assert not replace(document, text="").fits("def g(): 2")
    assert not replace(document, text="").fits("def ff(): 2")


async def test_an_index_may_be_of_one_folder_and_describe_empty_files(
    engines: Engines, tmp_path: Path
) -> None:
    root = tmp_path / "many"
    copy_old("python", root / "python")
    brain = make_brain(brain_of(await engines.empty("sqlite"), root), tmp_path)

    report = await ingest(brain, root / "python" / "index.scip")

    assert report.exact is not None
    assert len(report.exact.fresh) == 3
    assert "python/shop/buy.py:buy CONSUMES python/shop/basket.py:Basket.add" in await list_edges(
        brain
    )


async def test_an_index_of_another_project_is_an_error(brain: Brain) -> None:
    with pytest.raises(InputError, match="describes no file of"):
        await ingest(brain, FIXTURES / "python" / "index.scip")


def test_symbols_of_indexers_are_split_into_names() -> None:
    assert split_symbol("scip-python python shop 1 `shop.cart`/Cart#add().") == ["Cart", "add"]
    assert split_symbol("rust-analyzer cargo clap 4.6.0 util/Map#get(+1).") == ["Map", "get"]
    assert split_symbol("scip-go gomod a v1 `a/b`/") == []
    assert is_local("local 12")
    assert is_local("x . . . f().(argument)")
    assert split_symbol("x . . . f().(argument)") == []
