"""Named files: a change whose file is named costs the same in a project of any size."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ragforge.app.opening import open_app
from ragforge.app.wiring.brain import name_ingest_kind
from ragforge.brain import status as project_status
from ragforge.brain.files.compare import look_at
from ragforge.brain.files.exclusions import FileLimits
from ragforge.brain.project import Brain
from ragforge.config import Settings
from ragforge.config.settings import StoreSettings
from ragforge.domain.code import FileFilter
from ragforge.domain.schema import FILE
from ragforge.domain.work import NewJob
from ragforge.ports.store import Store
from tests.fakes.code import find_named
from tests.fakes.engines import Engines
from tests.fakes.projects import SHOP, ToyEmbedder, brain_of, differences, snapshot, write

CART = "shop/cart.py"
ALIASED = "from shop.prices import price as cost\n\n\ndef pay(item):\n    return cost(item)\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    write(root, SHOP | {"shop/pay.py": ALIASED, "README.md": "# Shop\n\nSells things.\n"})
    return root


@pytest.fixture
async def brain(store: Store, root: Path) -> Brain:
    brain = brain_of(store, root, ToyEmbedder())
    await brain.ingest()
    return brain


@contextmanager
def count_listings(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    listed: list[object] = []
    scandir = os.scandir

    def count(place: str | int = ".") -> object:
        listed.append(place)
        return scandir(place)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", count)
        yield listed


def change(root: Path, path: str, old: str, new: str) -> None:
    text = (root / path).read_text()
    write(root, {path: text.replace(old, new) if old else text + new})


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (CART, "", "\n\ndef added(cart):\n    return cart\n"),
        (CART, "def ", "def renamed_"),  # others use these names
        ("shop/prices.py", "def price", "def amount"),  # one file imports it by another name
        ("shop/pay.py", ALIASED, "from shop.cart import Cart\n"),  # other imports
        ("README.md", "things", "more things"),
        ("web/client.ts", "", "\nexport function more(): number { return 1; }\n"),
        ("shop/new.py", None, "from shop.prices import price\n\n\ndef new():\n    return price\n"),
        ("shop/prices.py", None, None),  # it is removed
        (".gitignore", None, "web/\n"),  # it decides about other files
        ("web", None, None),  # a directory
    ],
)
async def test_a_named_change_leaves_what_a_walk_would_leave(
    brain: Brain,
    store: Store,
    engines: Engines,
    engine: str,
    root: Path,
    path: str,
    old: str | None,
    new: str | None,
) -> None:
    if new is None and (root / path).is_file():
        (root / path).unlink()
    elif new is None:
        change(root, "web/client.ts", "", "\nexport const added = 1;\n")
    elif old is None:
        write(root, {path: new})
    else:
        change(root, path, old, new)
    report, _ = await brain.ingest(paths=[path])
    after = await snapshot(store, root)
    assert report.files == len(after.files)

    empty = await engines.empty(engine)
    await brain_of(empty, root, ToyEmbedder()).ingest()
    assert differences(after, await snapshot(empty, root)) == []


async def test_a_named_change_lists_no_directory_and_looks_at_no_other_file(
    brain: Brain, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(root, CART, "", "\n\ndef added(cart):\n    return cart\n")
    change(root, "shop/prices.py", "", "\n\ndef unnoticed():\n    return 1\n")
    with count_listings(monkeypatch) as listed:
        report, _ = await brain.ingest(paths=[CART])
    assert listed == []
    assert report.changed == (CART,)
    report, _ = await brain.ingest()
    assert report.changed == ("shop/prices.py",)


async def test_a_watched_change_lists_no_directory(
    brain: Brain, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The watcher walks when it begins; after that the system names the files."""
    stopping, walks = asyncio.Event(), []
    walk = brain.ingester._walk
    changed: list[str] = []

    async def count_walk(*args: object) -> object:
        walks.append(args)
        return await walk(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(type(brain.ingester), "_walk", lambda _, *args: count_walk(*args))
    edits = iter([CART, "shop/prices.py"])

    def on_report(report: object) -> None:
        changed.extend(report.changed)  # type: ignore[attr-defined]
        if (path := next(edits, None)) is None:
            stopping.set()
        else:
            change(root, path, "", "\n\ndef added():\n    return 1\n")

    await asyncio.wait_for(brain.watch(stopping, on_report), 60)
    assert changed == [CART, "shop/prices.py"]
    assert len(walks) == 1


@pytest.mark.parametrize("left_out", ["ignored.py", "venv/code.py", ".git/hook.py", "key.pem"])
def test_a_named_file_that_a_walk_leaves_out_is_left_out(root: Path, left_out: str) -> None:
    write(root, {".gitignore": "ignored.py\n", "venv/pyvenv.cfg": "", left_out: "x = 1\n"})
    found = look_at(root, [left_out, CART], FileLimits())
    assert found is not None
    assert [file.path for file in found.files] == [CART]
    assert [skipped.path for skipped in found.skipped] == [left_out]


def test_a_named_file_behind_a_link_is_not_read(root: Path, tmp_path: Path) -> None:
    write(tmp_path / "outside", {"secret.py": "x = 1\n"})
    (root / "linked").symlink_to(tmp_path / "outside")
    (root / "link.py").symlink_to(tmp_path / "outside" / "secret.py")
    found = look_at(root, ["linked/secret.py", "link.py"], FileLimits())
    assert found is not None
    assert found.files == ()


async def test_the_status_of_a_large_project_looks_only_at_its_newest_files(
    brain: Brain, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_status, "LARGE", 1)
    monkeypatch.setattr(project_status, "NEWEST", 2)
    [newest, *_, oldest] = await brain.store.records.find(
        FILE, FileFilter(brain.project_id), 100, order=("-mtime", "path")
    )
    assert (await brain.status()).changed_files == 0

    change(root, newest.path, "", "\n# changed\n")
    change(root, oldest.path, "", "\n# changed too\n")
    write(root, {"shop/new.py": "new = 1\n", "key.pem": "a key\n"})
    status = await brain.status()
    assert status.changed_files == 2  # one changed, one new
    assert status.files_compared == 2 < status.files
    assert (await brain.status(thorough=True)).changed_files == 3


async def test_files_that_the_agent_edited_are_read_without_a_walk(
    tmp_path: Path, root: Path
) -> None:
    (root / ".git").mkdir()
    settings = Settings(store=StoreSettings(url=str(tmp_path / "store.db")))
    async with open_app(settings, root) as app:
        await app.code.ingest()
        change(root, CART, "", "\n\ndef edited():\n    return 1\n")
        change(root, "shop/pay.py", "", "\n\ndef unnoticed():\n    return 1\n")
        outside = {"root": str(app.project_path), "files": ["../secret.py"]}
        kind = name_ingest_kind(app.brain.project_id)
        await app.store.jobs.enqueue([NewJob("outside", kind, outside)])

        await app.code.automatic_reading.queue([CART])
        await app.jobs.wait(60)

        uuid = app.brain.project_id
        assert await find_named(app.store, uuid, ["edited"])
        assert not await find_named(app.store, uuid, ["unnoticed"])
        [refused] = await app.jobs.find(10, ["dead"])
        assert "outside the project" in (refused.error or "")
