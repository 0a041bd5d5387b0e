"""An ingestion that is killed at any moment: the next run makes up for it, and no process stays."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.adapters.stores.holders import this_process
from ragforge.app.wiring.projects import recognise
from ragforge.brain.ingestion.ingest import Ingester
from ragforge.brain.ingestion.pool import MANY_FILES
from ragforge.ports.code_graph import CodeGraph
from ragforge.ports.store import Store
from tests.conftest import Effort
from tests.fakes.engines import Engines
from tests.fakes.projects import (
    SHOP,
    Snapshot,
    ToyEmbedder,
    brain_of,
    differences,
    snapshot,
    write,
)

FILES = 400
ROUNDS = (1, 6)
"""How many without --thorough, and with it."""
assert FILES > MANY_FILES  # so that there are workers to be killed


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose files form a chain of imports."""
    root = tmp_path_factory.mktemp("chain") / "project"
    (root / ".git").mkdir(parents=True)
    write(
        root,
        {
            f"pkg{n % 7}/m{n}.py": (
                f"from pkg{(n - 1) % 7}.m{n - 1} import Class{n - 1}, f{n - 1}\n\n\n"
                f"class Class{n}(Class{n - 1}):\n"
                f"    def method{n}(self):\n        return f{n - 1}()\n\n\n"
                f"def f{n}():\n    return Class{n - 1}()\n"
            )
            for n in range(FILES)
        },
    )
    return root


def start(store: Path, root: Path) -> subprocess.Popen[str]:
    """Start `ragforge ingest` as a shell would: in its own process group."""
    command = [sys.executable, "-m", "ragforge", "--store", str(store), "ingest", str(root)]
    home = str(root.parent / "home")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAGFORGE_")}
    return subprocess.Popen(
        [*command, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**kept, "HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home},
        start_new_session=True,
    )


def finish(store: Path, root: Path) -> dict[str, int]:
    """Run to the end, and return what was done."""
    process = start(store, root)
    out, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (0, "")
    return json.loads(out)


def workers(root: Path) -> list[psutil.Process]:
    """Return the workers that read this project, whichever process started them."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        command = process.info["cmdline"] or []
        if "ragforge.brain.ingestion.pool" in command and str(root) in command:
            found.append(process)
    return found


def until(is_so: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def workers_or_end(process: subprocess.Popen[str], root: Path) -> list[psutil.Process]:
    """Wait for the first workers of a run."""
    found: list[psutil.Process] = []

    def are_there() -> bool:
        found[:] = workers(root)
        return bool(found) or process.poll() is not None

    until(are_there)
    return found


async def known(engines: Engines, path: Path, root: Path) -> Snapshot:
    store = await engines.open_at(str(path))
    assert (await store.health()).problems == ()
    return await snapshot(store, root, BundledEmbedder.name)


_FRESH: dict[Path, Snapshot] = {}


async def fresh(engines: Engines, root: Path) -> Snapshot:
    """Return what one run makes of the project that nothing disturbs; it is made once."""
    if root not in _FRESH:
        store = await engines.empty("sqlite")
        place = await recognise(store, root, None)
        await brain_of(store, root, BundledEmbedder(), place).ingest()
        _FRESH[root] = await snapshot(store, root, BundledEmbedder.name)
    return _FRESH[root]


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_runs_that_are_killed_twice_in_a_row_end_as_one_that_is_not(
    engines: Engines, root: Path, tmp_path: Path, effort: Effort
) -> None:
    expected = await fresh(engines, root)
    begin = time.monotonic()
    finish(tmp_path / "whole.db", root)
    whole_run = time.monotonic() - begin
    chance = random.Random(20260105)

    for number in range(effort(*ROUNDS)):
        path = tmp_path / f"killed-{number}.db"
        for _ in range(2):
            process = start(path, root)
            await asyncio.sleep(chance.uniform(0.2, 1.0) * whole_run)
            process.kill()
            process.communicate()
        until(lambda: not workers(root))

        report = finish(path, root)

        assert report["files"] == FILES
        assert differences(await known(engines, path, root), expected) == []
    assert workers(root) == []


@pytest.mark.timeout(600)
async def test_a_killed_worker_costs_no_file(engines: Engines, root: Path, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    process = start(path, root)
    for worker in workers_or_end(process, root)[:1]:
        worker.kill()
    out, errors = process.communicate(timeout=300)

    assert (process.returncode, errors) == (0, "")
    report = json.loads(out)
    assert (report["files"], report["read"]) == (FILES, FILES)
    assert report["skipped"] == {"version control": 1}
    assert workers(root) == []
    assert differences(await known(engines, path, root), await fresh(engines, root)) == []


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "share",
    [pytest.param(0.0, marks=pytest.mark.long), 0.2, pytest.param(0.5, marks=pytest.mark.long)],
)
async def test_ctrl_c_ends_quietly_and_the_next_run_continues(
    engines: Engines, root: Path, tmp_path: Path, share: float
) -> None:
    begin = time.monotonic()
    finish(tmp_path / "whole.db", root)
    path = tmp_path / "store.db"
    whole_run = time.monotonic() - begin

    process = start(path, root)
    assert workers_or_end(process, root)
    await asyncio.sleep(share * whole_run / 2)
    os.killpg(process.pid, signal.SIGINT)  # the terminal sends it to the whole group
    out, errors = process.communicate(timeout=60)

    if not out:  # otherwise it had already finished: there was nothing to interrupt
        assert process.returncode == 130
        assert "Traceback" not in errors
        assert "Exception" not in errors
    until(lambda: not workers(root))
    finish(path, root)
    assert differences(await known(engines, path, root), await fresh(engines, root)) == []


class Stopped(Exception):
    """The process would have died here."""


class DyingCode:
    """A store's code that dies at one write, before or after it is done."""

    WRITES = frozenset(("relate_files", "remove_files", "replace_files", "set_files"))

    def __init__(self, code: CodeGraph, at: float) -> None:
        self._code, self._at = code, at
        self.writes = 0

    def __getattr__(self, name: str) -> object:
        method = getattr(self._code, name)
        if name not in self.WRITES:
            return method

        async def write(*arguments: object) -> None:
            self.writes += 1
            if self._at == self.writes - 0.5:
                raise Stopped
            await method(*arguments)
            if self._at == self.writes:
                raise Stopped

        return write


CHANGES: dict[str, dict[str, str | bytes | None]] = {
    "a name": {"shop/prices.py": SHOP["shop/prices.py"].replace("price_of", "cost_of")},
    "a deletion": {"shop/prices.py": None},
    "a file that is binary now": {"shop/prices.py": b"\0\1\2"},
    "a package that takes a name over": {"shop/prices/__init__.py": "def price_of(item): ...\n"},
    "many at once": {
        "shop/prices.py": b"\0\1\2",
        "shop/costs.py": "def price_of(item): ...\n",
        "shop/cart.py": SHOP["shop/cart.py"].replace("shop.prices", "shop.costs"),
        "web/client.ts": None,
        "web/client/index.ts": SHOP["web/client.ts"],
        "go.mod": "module example.com/other\n",
        "srv/b.go": None,
    },
    "a manifest": {"go.mod": "module example.com/other\n"},
    "a file of a package": {"srv/b.go": b"\0\1\2"},
}
WITH_GO = {
    **SHOP,
    "go.mod": "module example.com/shop\n",
    "main.go": 'package main\n\nimport "example.com/shop/srv"\n\nfunc main() {\n\tsrv.Load()\n}\n',
    "srv/a.go": "package srv\n\nfunc Run() {\n\tLoad()\n}\n",
    "srv/b.go": "package srv\n\nfunc Load() {}\n",
    "srv/c_test.go": "package srv\n\nfunc Load() {}\n",
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_run_may_stop_at_any_write(engines: Engines, tmp_path: Path, change: str) -> None:
    root = tmp_path / "project"
    expected: Snapshot | None = None
    for at in _moments():
        for place in sorted(root.rglob("*"), reverse=True):
            place.unlink() if place.is_file() else place.rmdir()
        write(root, WITH_GO)
        store = await engines.empty("sqlite")
        await brain_of(store, root, ToyEmbedder()).ingest()
        for path, content in CHANGES[change].items():
            if content is None:
                (root / path).unlink()
            else:
                write(root, {path: content})

        reached = await _ingest_until(store, root, at)
        await brain_of(store, root, ToyEmbedder()).ingest()

        found = await snapshot(store, root)
        await engines.close()
        if expected is None:
            fresh_store = await engines.empty("sqlite")
            await brain_of(fresh_store, root, ToyEmbedder()).ingest()
            expected = await snapshot(fresh_store, root)
        assert differences(found, expected) == [], f"stopped at write {at}"
        if not reached:
            return


def _moments() -> Iterator[float]:
    """Yield before the first write, after it, before the second and so on."""
    return (number / 2 for number in range(1, 200))


async def _ingest_until(store: Store, root: Path, at: float) -> bool:
    dying = DyingCode(store.code, at)
    try:
        await Ingester(replace(store, code=dying), this_process()).ingest(root)  # type: ignore[arg-type]
    except Stopped:
        return True
    return False
