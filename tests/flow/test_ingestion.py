"""Ingestion: a project on disk is read, related, embedded, kept current, searched, forgotten."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.adapters.stores.holders import this_process
from ragforge.app.wiring.projects import recognise
from ragforge.brain.files import walk
from ragforge.brain.ingestion import progress
from ragforge.brain.ingestion.embed import format_embedded_state, unsettle
from ragforge.brain.ingestion.progress import IngestionReport, IngestionStep
from ragforge.brain.project import Brain
from ragforge.brain.status import ProjectStatus
from ragforge.domain.schema import PROJECT
from ragforge.domain.work import Holder
from ragforge.errors import ModelError, ProjectNotFound
from ragforge.ports.store import Store
from tests.fakes.code import list_scopes, relations_of
from tests.fakes.engines import Engines
from tests.fakes.projects import (
    LONG_AGO,
    SHOP,
    Snapshot,
    ToyEmbedder,
    brain_of,
    differences,
    set_time,
    snapshot,
    write,
)

CART = "shop/cart.py"
OTHER_PROCESS = Holder("another-host", 1, 1.0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    write(root, SHOP)
    return root


@pytest.fixture
def toy() -> ToyEmbedder:
    return ToyEmbedder()


@pytest.fixture
def brain(store: Store, root: Path, toy: ToyEmbedder) -> Brain:
    return brain_of(store, root, toy)


@asynccontextmanager
async def held(store: Store, name: str) -> AsyncIterator[None]:
    """Hold a lock as another process would."""
    assert await store.locks.acquire(name, OTHER_PROCESS, timedelta(minutes=5))
    yield
    await store.locks.release(name, OTHER_PROCESS)


async def fresh(engines: Engines, engine: str, root: Path) -> Snapshot:
    """Return what an empty store knows after one ingestion; the engine's data are dropped."""
    store = await engines.empty(engine)
    await brain_of(store, root, ToyEmbedder()).ingest()
    return await snapshot(store, root)


def without(found: Snapshot, *paths: str) -> dict[str, object]:
    """Return all that is known of other files than these."""
    scopes = [scope for scope in found.scopes if scope.file not in paths]
    ids = {scope.uuid for scope in scopes}
    return {
        "files": [file for file in found.files if file.path not in paths],
        "scopes": scopes,
        "vectors": [vector for vector in found.vectors if vector["owner_id"] in ids],
    }


def edges(found: Snapshot, kind: str) -> set[tuple[str, str]]:
    names = {file.uuid: file.path for file in found.files}
    names |= {scope.uuid: scope.qualified_name for scope in found.scopes}
    return {
        (names[edge.source], names.get(edge.target, edge.target))
        for edge in found.relations
        if edge.kind == kind
    }


@pytest.mark.both_engines
async def test_a_project_is_read_related_and_embedded(
    brain: Brain, store: Store, root: Path
) -> None:
    steps: list[IngestionStep] = []

    report, embedded = await brain.ingest(steps.append)

    found = await snapshot(store, root)
    assert report == IngestionReport(
        brain.project_id, files=6, read=6, removed=0, scopes=15, related=6
    )
    assert embedded == len(found.scopes) == len(found.vectors) == 15
    assert {file.path for file in found.files} == set(SHOP)
    assert {file.state for file in found.files} == {"related"}
    assert [directory.path for directory in found.directories] == ["docs", "shop", "web"]
    assert edges(found, "IMPORTS") == {
        ("shop/__init__.py", CART),
        (CART, "shop/prices.py"),
        ("web/page.ts", "web/client.ts"),
    }
    assert edges(found, "CONSUMES") == {
        ("Cart.total", "price_of"),
        ("price_of", "round_up"),
        ("showCart", "fetchCart"),
    }
    assert {step.phase for step in steps} == {"reading", "relating", "embedding"}


@pytest.mark.both_engines
async def test_a_second_run_reads_and_embeds_nothing(
    brain: Brain, store: Store, root: Path, toy: ToyEmbedder
) -> None:
    await brain.ingest()
    before, texts = await snapshot(store, root), list(toy.texts)

    report, embedded = await brain.ingest()

    assert (report.files, report.read, report.removed, report.related, embedded) == (6, 0, 0, 0, 0)
    assert await snapshot(store, root) == before
    assert toy.texts == texts


async def test_touched_files_are_looked_at_and_nothing_else(
    brain: Brain, store: Store, root: Path
) -> None:
    await brain.ingest()
    before = await snapshot(store, root)
    for number, path in enumerate(SHOP):
        set_time(root / path, LONG_AGO + 5_000_000 + number)

    report, embedded = await brain.ingest()

    assert (report.read, report.related, embedded) == (0, 0, 0)
    assert await snapshot(store, root) == before
    assert (await brain.status()).changed_files == 0


@pytest.mark.both_engines
async def test_a_changed_file_replaces_only_its_own_scopes(
    brain: Brain, store: Store, root: Path
) -> None:
    await brain.ingest()
    before = await snapshot(store, root)
    write(root, {CART: SHOP[CART].replace("def add", "def put")})

    report, embedded = await brain.ingest()

    after = await snapshot(store, root)
    assert (report.read, report.removed) == (1, 0)
    assert embedded == 3  # the method, its class and the file
    assert without(after, CART) == without(before, CART)
    assert len(before.ids[CART] - after.ids[CART]) == len(after.ids[CART] - before.ids[CART]) == 1


async def test_the_hash_of_a_scope_decides_whether_it_is_embedded(
    brain: Brain, store: Store, root: Path, toy: ToyEmbedder
) -> None:
    await brain.ingest()
    toy.texts.clear()
    write(root, {CART: SHOP[CART] + "\nLIMIT = 3\n"})

    _, embedded = await brain.ingest()

    assert embedded == len(toy.texts) == 2  # the file, and the constant in it
    for scope in (await snapshot(store, root)).scopes:
        assert scope.embedding_hash == scope.hash


@pytest.mark.both_engines
async def test_a_deleted_file_leaves_nothing_behind(
    brain: Brain, store: Store, root: Path, engine: str, engines: Engines
) -> None:
    await brain.ingest()
    gone = (await snapshot(store, root)).ids["web/client.ts"]
    (root / "web/client.ts").unlink()
    (root / "docs/guide.md").unlink()

    report, _ = await brain.ingest()

    after = await snapshot(store, root)
    assert (report.read, report.removed) == (0, 2)
    assert [directory.path for directory in after.directories] == ["shop", "web"]
    assert gone.isdisjoint({str(vector["owner_id"]) for vector in after.vectors})
    for scope_id in gone:
        assert await relations_of(store, scope_id, "in") == []
        assert await relations_of(store, scope_id, "out") == []
    assert differences(after, await fresh(engines, engine, root)) == []


async def test_a_renamed_file_is_found_only_under_its_new_name(
    brain: Brain, store: Store, root: Path, engine: str, engines: Engines
) -> None:
    await brain.ingest()
    (root / "shop/prices.py").rename(root / "shop/costs.py")

    report, _ = await brain.ingest()

    after = await snapshot(store, root)
    assert (report.read, report.removed) == (1, 1)
    assert {scope.file for scope in after.scopes if scope.name == "price_of"} == {"shop/costs.py"}
    assert (CART, "shop/prices.py") not in edges(after, "IMPORTS")
    assert differences(after, await fresh(engines, engine, root)) == []


async def test_a_method_does_not_hide_the_library_that_has_its_name(
    brain: Brain, store: Store, root: Path
) -> None:
    write(root, {"lib/a.rb": "require 'json'\n", "lib/b.rb": "class B\n  def json\n  end\nend\n"})

    await brain.ingest()

    assert edges(await snapshot(store, root), "USES_LIBRARY") == {("lib/a.rb", "json")}


async def test_a_syntax_error_keeps_the_scopes_around_it(
    brain: Brain, store: Store, root: Path
) -> None:
    broken = SHOP[CART].replace("self.items.append(item)", "self.items.append(((")
    write(root, {CART: broken})

    await brain.ingest()

    names = {scope.qualified_name for scope in await list_scopes(store, brain.project_id, CART)}
    assert {"Cart", "Cart.__init__", "Cart.total"} <= names


async def test_another_model_embeds_everything_again_and_word_search_works_meanwhile(
    brain: Brain, store: Store, root: Path
) -> None:
    await brain.ingest()
    other = brain_of(store, root, ToyEmbedder("toy-2"))
    assert (await other.status()).unembedded_scopes == 15

    meanwhile = await other.search("look a price up in the list")
    report, embedded = await other.ingest()

    assert meanwhile[0].scope.name == "price_of"
    assert meanwhile[0].signals == ("words",)
    assert (report.read, embedded) == (0, 15)
    assert (await snapshot(store, root, "toy-2")).unembedded == 0
    assert {str(v["model"]) for v in (await snapshot(store, root)).vectors} == {"toy-2"}


async def test_a_model_that_fails_leaves_what_was_read_to_be_found_by_words(
    brain: Brain, toy: ToyEmbedder
) -> None:
    toy.fails = True
    with pytest.raises(ModelError):
        await brain.ingest()

    assert (await brain.search("round_up"))[0].scope.name == "round_up"
    assert (await brain.status()).unembedded_scopes == 15
    toy.fails = False
    report, embedded = await brain.ingest()
    assert (report.read, embedded) == (0, 15)


@pytest.mark.both_engines
@pytest.mark.parametrize("lock", [progress.name_ingestion_lock, progress.name_embedding_lock])
async def test_words_find_code_while_it_is_changed_or_embedded(
    brain: Brain, store: Store, root: Path, lock: object
) -> None:
    async def find_signals() -> set[str]:
        hits = await brain.search_code_semantic("price", root)
        return {signal for hit in hits for signal in hit.signals}

    await brain.ingest()
    await unsettle(store.records, await store.records.get(PROJECT, brain.project_id))
    assert callable(lock)

    async with held(store, lock(brain.project_id)):
        assert await find_signals() == {"words"}
        assert not await brain.is_settled()
    async with held(store, lock("another project")):
        assert await find_signals() > {"words"}

    assert await find_signals() > {"words"}


async def test_search_works_while_an_ingestion_without_changes_runs(
    brain: Brain, store: Store, root: Path
) -> None:
    await brain.ingest()

    async with held(store, progress.name_ingestion_lock(brain.project_id)):
        assert await brain.is_settled()
        assert await brain.search_code_semantic("price", root) != []


async def test_an_ingestion_waits_for_another_one(brain: Brain, store: Store) -> None:
    waiting = asyncio.Event()

    def on_step(step: IngestionStep) -> None:
        if step.phase == "waiting":
            waiting.set()

    async with asyncio.timeout(60):
        async with held(store, progress.name_ingestion_lock(brain.project_id)):
            running = asyncio.create_task(brain.ingest(on_step))
            await waiting.wait()
            assert not await brain.is_ingested()
            assert (
                (await store.locks.held([progress.name_ingestion_lock(brain.project_id)])).get(
                    progress.name_ingestion_lock(brain.project_id)
                )
            ) is not None
        report, _ = await running

    assert report.read == 6
    assert await brain.is_settled()


async def test_a_search_can_be_limited_to_a_directory_below_the_root(
    brain: Brain, root: Path
) -> None:
    await brain.ingest()
    question = "cart"

    async def files(cwd: Path, **options: bool) -> set[str]:
        hits = await brain.search_code_semantic(question, cwd, **options)
        return {hit.scope.file for hit in hits}

    assert await files(root) >= {CART, "web/client.ts"}
    assert await files(root / "shop") == {CART, "shop/__init__.py", "shop/prices.py"}
    assert await files(root / "web" / ".." / "shop", subdirectory_only=True) == await files(
        root / "shop"
    )
    assert await files(root, subdirectory_only=True) == set()
    assert await files(root.parent) == set()
    assert await files(root / "nowhere") == set()


async def test_a_budget_of_characters_is_never_exceeded(brain: Brain, root: Path) -> None:
    await brain.ingest()
    everything = await brain.search_code_semantic("cart price", root)
    sizes = [len(hit.scope.source) for hit in everything]

    for budget in (*range(0, sum(sizes) + 50, 37), sum(sizes)):
        hits = await brain.search_code_semantic("cart price", root, max_chars=budget)
        assert sum(len(hit.scope.source) for hit in hits) <= budget
        assert [hit for hit in everything if hit in hits] == hits
        if budget >= max(sizes):
            assert hits[:1] == everything[:1]

    assert await brain.search_code_semantic("cart price", root, max_chars=sum(sizes)) == everything


async def test_weak_hits_are_left_out_on_request(brain: Brain, root: Path) -> None:
    await brain.ingest()

    hits = await brain.search_code_semantic("price", root, min_score=0.5)

    assert hits
    assert all(hit.score >= 0.5 for hit in hits)
    assert len(hits) < len(await brain.search_code_semantic("price", root))


async def test_a_part_of_a_project_can_be_forgotten_and_comes_back(
    brain: Brain, store: Store, root: Path
) -> None:
    await brain.ingest()
    before = await snapshot(store, root)

    assert await brain.ingester.forget(brain.project_id, "shop") == 3
    assert {file.path for file in (await snapshot(store, root)).files} == {
        path for path in SHOP if not path.startswith("shop/")
    }
    assert await brain.ingester.forget(brain.project_id, "web/page.ts") == 1
    assert await brain.ingester.forget(brain.project_id, "sho") == 0
    assert not any(hit.scope.file == CART for hit in await brain.search("price_of Cart.total"))
    assert (root / CART).exists()

    await brain.ingest()
    assert differences(await snapshot(store, root), before) == []


async def test_a_forgotten_project_leaves_nothing(brain: Brain, store: Store, root: Path) -> None:
    await brain.ingest()

    assert await brain.ingester.forget(brain.project_id) == 6

    assert not await brain.is_ingested()
    assert await store.archive.count("project") == 0
    for kind in ("file", "scope", "relation", "vector"):
        assert await store.archive.count(kind) == 0
    with pytest.raises(ProjectNotFound):
        await brain.ingester.forget(brain.project_id)


async def test_status_tells_what_is_known_and_what_is_to_be_done(
    brain: Brain, store: Store, root: Path
) -> None:
    assert await brain.status() == ProjectStatus(str(root), known=False)
    assert not (await brain.status()).is_fresh

    await brain.ingest()
    status = await brain.status()
    assert status == ProjectStatus(
        str(root), known=True, files=6, scopes=15, files_compared=6, model="toy-1"
    )
    assert status.is_fresh

    (root / CART).write_text("changed = 1\n")
    (root / "new.py").write_text("new = 1\n")
    (root / "web/page.ts").unlink()
    (root / "shop/prices.py").touch()
    status = await brain.status()
    assert (status.changed_files, status.is_fresh) == (3, False)

    async with held(store, progress.name_ingestion_lock(brain.project_id)):
        assert (await brain.status()).ingesting == "another-host, process 1"
    await store.code.set_files(brain.project_id, "state", {"web/client.ts": "parsed"})
    assert (await brain.status()).unrelated_files == 1

    await brain.ingest()
    assert (await brain.status()).is_fresh


async def test_a_project_is_the_same_by_any_way_to_it(
    brain: Brain, store: Store, root: Path, toy: ToyEmbedder
) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    by_link = brain_of(store, link, toy)

    report, embedded = await by_link.ingest()

    assert (report.read, embedded) == (6, 15)
    assert await brain.is_ingested()
    assert await by_link.is_ingested()
    assert (await by_link.status()).is_fresh
    assert await brain.ingest() == (IngestionReport(brain.project_id, 6, 0, 0, 0, 0), 0)
    assert (await by_link.search_code_semantic("round_up", link))[0].scope.name == "round_up"


async def test_odd_files_are_read_or_reported_as_left_out(
    store: Store, tmp_path: Path, toy: ToyEmbedder
) -> None:
    root = tmp_path / "odd"
    write(
        root,
        {
            "a file with spaces.py": "def spaced(): ...\n",
            "größe/naïve 名前.py": "def übergröße(): ...\n",
            "latin.py": "# Gr\xf6\xdfe\ndef latin(): ...\n".encode("cp1252"),
            "wide.py": "def wide(): ...\n".encode("utf-16"),
            "marked.py": b"\xef\xbb\xbfdef marked(): ...\n",
            "lines.py": "def first():\r\n    pass\r\n\r\n\r\ndef second():\r\n    pass\r\n",
            "directory.py/inner.py": "def inner(): ...\n",
            "empty.py": "",
            "blank.py": "\n\n\n",
            "data.py": b"\0\1\2",
            "ancient.py": "def ancient(): ...\n",
            "future.py": "def future(): ...\n",
        },
    )
    set_time(root / "ancient.py", -1)
    set_time(root / "future.py", 4_000_000_000)
    (root / "loop").symlink_to(root)
    (root / "link.py").symlink_to(root / "latin.py")
    (root / "nowhere.py").symlink_to(root / "missing.py")
    os.mkfifo(root / "pipe.py")
    brain = brain_of(store, root, toy)

    report, _ = await brain.ingest()

    found = await snapshot(store, root)
    functions = {scope.name for scope in found.scopes if scope.type == "function"}
    assert functions == {
        *("spaced", "übergröße", "latin", "wide", "marked", "first", "second", "inner"),
        *("ancient", "future"),
    }
    assert {skipped.path: skipped.reason for skipped in report.skipped} == {
        "data.py": "binary",
        "link.py": "link",
        "loop": "link",
        "nowhere.py": "link",
        "pipe.py": "special",
    }
    again, embedded = await brain.ingest()
    assert (again.read, again.removed, embedded) == (0, 0, 0)
    assert await snapshot(store, root) == found


def list_skipped(report: IngestionReport) -> list[tuple[str, str]]:
    return sorted((one.path, one.reason) for one in report.skipped)


async def test_the_same_files_are_left_out_in_every_run(store: Store, root: Path) -> None:
    write(
        root,
        {
            "data.py": b"\0\1\2",
            "made.py": "# Code generated by a tool. DO NOT EDIT.\nx = 1\n",
            "packed.js": "var a=1;" * 2_000,
            "notes.txt": "Dear diary,\n",
        },
    )
    (root / "fresh.py").write_bytes(b"\0")  # written a moment ago: it is read again
    (root / "link.py").symlink_to(root / "data.py")
    brain = brain_of(store, root)
    first, _ = await brain.ingest()
    second, _ = await brain.ingest()
    write(root, {CART: SHOP[CART] + "\n# more\n"})
    third, _ = await brain.ingest()
    named, _ = await brain.ingest(paths=["made.py", "notes.txt"])
    write(root, {"made.py": "x = 1\n"})
    fourth, _ = await brain.ingest()

    assert {"binary": 2, "generated": 1, "minified": 1}.items() <= first.reasons.items()
    for again in (second, third):
        assert list_skipped(again) == list_skipped(first)
    assert list_skipped(named) == [("made.py", "generated")]
    assert fourth.reasons == first.reasons - Counter(generated=1)


async def test_a_file_of_which_only_the_text_is_stored_is_named_in_every_run(
    store: Store, root: Path
) -> None:
    write(root, {"dense.js": "".join(f"function f{n}(){{}};" for n in range(300))[:4_900]})
    brain = brain_of(store, root)
    first, _ = await brain.ingest()
    second, _ = await brain.ingest()
    assert first.reasons["outline"] >= 1
    assert list_skipped(second) == list_skipped(first)


async def test_the_reason_is_found_for_files_that_an_older_version_left_out(
    store: Store, root: Path
) -> None:
    write(root, {"data.py": b"\0\1\2"})
    brain = brain_of(store, root)
    await brain.ingest()
    await store.code.set_files(brain.project_id, "state", {"data.py": "skipped"})
    for _ in range(2):
        report, _ = await brain.ingest()
        assert list_skipped(report) == [("data.py", "binary")]


async def test_a_file_that_changes_while_others_are_related_is_related_to_later(
    brain: Brain, store: Store, root: Path, engine: str, engines: Engines
) -> None:
    await brain.ingest()
    write(root, {CART: SHOP[CART].replace("def add", "def put")})
    prices = SHOP["shop/prices.py"]

    def change_what_the_cart_imports(step: IngestionStep) -> None:
        if step.phase == "reading":  # only the cart was read
            write(root, {"shop/prices.py": prices.replace("0.5", "0.6")})

    await brain.ingest(change_what_the_cart_imports)
    assert not (await brain.status()).is_fresh
    await brain.ingest()

    after = await snapshot(store, root)
    assert ("Cart.total", "price_of") in edges(after, "CONSUMES")
    assert differences(after, await fresh(engines, engine, root)) == []


async def test_a_file_that_goes_before_it_is_read_leaves_nothing_behind(
    store: Store, root: Path, engine: str, engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(
        root,
        {
            "go.mod": "module example.com/shop\n",
            "srv/a.go": "package srv\n\nfunc load() {}\n",
            "srv/b.go": "package srv\n\nfunc load() {}\n",
            "srv/c.go": "package srv\n\nfunc run() {\n\tload()\n}\n",  # which one is meant?
        },
    )
    brain = brain_of(store, root, ToyEmbedder())
    await brain.ingest()
    write(root, {"srv/b.go": "package srv\n\nfunc load() { run() }\n"})
    real_walk = walk.walk

    def walk_and_remove(*arguments: object) -> object:
        walked = real_walk(*arguments)  # type: ignore[arg-type]
        (root / "srv/b.go").unlink(missing_ok=True)
        return walked

    monkeypatch.setattr(walk, "walk", walk_and_remove)
    report, _ = await brain.ingest()

    assert [skipped.path for skipped in report.skipped] == ["srv/b.go"]
    after = await snapshot(store, root)
    assert ("run", "load") in edges(after, "CONSUMES")
    assert differences(after, await fresh(engines, engine, root)) == []


async def test_a_watched_project_follows_edits_atomic_saves_and_deletions(
    brain: Brain, root: Path
) -> None:
    reports: asyncio.Queue[IngestionReport] = asyncio.Queue()
    stopping = asyncio.Event()

    async def next_change() -> tuple[int, int]:
        while True:
            report = await reports.get()
            if report.read or report.removed:
                return report.read, report.removed

    async def names() -> set[str]:
        return {hit.scope.name for hit in await brain.search("followed_name", limit=1)}

    async with asyncio.timeout(120):
        watching = asyncio.create_task(brain.watch(stopping, reports.put_nowait))
        assert await next_change() == (6, 0)

        (root / CART).write_text("def followed_name(): ...\n")
        assert await next_change() == (1, 0)
        assert await names() == {"followed_name"}

        saved = root / "shop/.cart.py.new"
        saved.write_text("def followed_name_again(): ...\n")
        saved.replace(root / CART)
        while "followed_name_again" not in await names():
            await next_change()

        (root / CART).unlink()
        while await brain.search("followed_name_again", under=CART):
            await next_change()
        stopping.set()
        await watching


def ingest_in_a_process(store: str, root: Path, home: Path) -> subprocess.Popen[str]:
    """Start `ragforge ingest` as a user without settings would."""
    command = [sys.executable, "-m", "ragforge", "--store", store, "ingest", str(root), "--json"]
    own = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_DATA_HOME": str(home)}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAGFORGE_")}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env={**kept, **own})


@pytest.mark.both_engines
async def test_two_processes_at_once_share_the_work(
    engine: str, engines: Engines, root: Path, tmp_path: Path
) -> None:
    (root / ".git").mkdir()
    write(root, {f"many/f{n}.py": f"def f{n}():\n    return f{n - 1}()\n" for n in range(60)})
    store = await engines.empty(engine)
    location, model = engines.location(engine), BundledEmbedder.name

    processes = [ingest_in_a_process(location, root, tmp_path / "home") for _ in range(2)]
    told = [process.communicate(timeout=300) for process in processes]

    assert [(p.returncode, errors) for p, (_, errors) in zip(processes, told, strict=True)] == [
        (0, "")
    ] * 2
    reports = [json.loads(out) for out, _ in told]
    assert [report["files"] for report in reports] == [66, 66]
    assert sorted(report["read"] for report in reports) == [0, 66]
    together = await snapshot(store, root, model)
    assert sum(report["embedded"] for report in reports) == len(together.vectors)

    alone = await engines.empty(engine)
    place = await recognise(alone, root, None if engine == "sqlite" else this_process().machine)
    await brain_of(alone, root, BundledEmbedder(), place).ingest()
    assert differences(together, await snapshot(alone, root, model)) == []


async def test_all_is_looked_through_until_a_run_has_embedded_it(
    brain: Brain, store: Store, root: Path, toy: ToyEmbedder
) -> None:
    await brain_of(store, root, None).ingest()
    (root / CART).write_text((root / CART).read_text("utf-8") + "\n\ndef empty(): ...\n", "utf-8")

    _, embedded = await brain.ingest()

    assert embedded == len((await snapshot(store, root)).scopes)
    project = await store.records.get(PROJECT, brain.project_id)
    assert project.state == format_embedded_state(toy.name)
    assert await brain.ingest() == (IngestionReport(brain.project_id, 6, 0, 0, 0, 0), 0)


async def test_another_model_embeds_all_of_a_settled_project(
    brain: Brain, store: Store, root: Path
) -> None:
    _, embedded = await brain.ingest()

    assert (await brain_of(store, root, ToyEmbedder("another")).ingest())[1] == embedded
