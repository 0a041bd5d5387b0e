"""Fixtures: an empty store on each engine, opened the way an application opens it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, settings

from ragforge.adapters.stores.sqlite import database
from ragforge.jobs import worker
from ragforge.ports.store import Store
from tests.fakes.engines import Engines

Reopen: TypeAlias = Callable[[], Awaitable[Store]]
Effort: TypeAlias = Callable[[int, int], int]

ENGINES = ["sqlite", pytest.param("neo4j", marks=pytest.mark.neo4j)]
_LOUD = {
    "no Neo4j: ": "NEO4J TESTS",
    "no real model: ": "TESTS WITH A REAL MODEL",
    "no MCP client: ": "TESTS WITH AN MCP CLIENT",
    "no browser: ": "TESTS IN A BROWSER",
    "no axe: ": "TESTS OF ACCESSIBILITY",
}
"""How reasons to skip begin that the last lines of a run repeat, and what was skipped."""


# No test writes to the data of the user who runs it.
_DATA = tempfile.TemporaryDirectory(prefix="ragforge-tests-")
os.environ["XDG_DATA_HOME"] = _DATA.name

# No test outlives the machine it runs on: commits need not wait for the disk. Those in `faults` do.
database.SYNCHRONOUS = "OFF"
# No test waits a second for a due job either: this is read when the application is imported.
worker.POLL_SECONDS = 0.1

# No test depends on how fast the machine is.
PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", max_examples=30, derandomize=True, database=None, **PATIENT)
settings.register_profile("thorough", max_examples=200, **PATIENT)


def pytest_addoption(parser: pytest.Parser) -> None:
    """One switch between `make test` and `make test-all`."""
    parser.addoption(
        "--thorough",
        action="store_true",
        help="also run long tests, every flow on both engines, and more generated examples",
    )


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return one worker more than there are cores: the one with the Neo4j tests mostly waits."""
    return (os.cpu_count() or 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("thorough" if config.getoption("--thorough") else "quick")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that uses an engine on SQLite, and on Neo4j where that is promised to be the same.

    A contract holds on both engines. Those flows and faults that a server could break also run on
    Neo4j.
    """
    own = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")]
    if "engine" in metafunc.fixturenames and "engine" not in own:
        is_flow = not {"flow", "faults"}.isdisjoint(metafunc.definition.path.parts)
        is_marked = metafunc.definition.get_closest_marker("both_engines") is not None
        on_both = not is_flow or is_marked or metafunc.config.getoption("--thorough")
        metafunc.parametrize("engine", ENGINES if on_both else ENGINES[:1], indirect=True)


@pytest.fixture
def effort(pytestconfig: pytest.Config) -> Effort:
    """How often something is tried: few times, or with --thorough many times."""
    is_thorough = bool(pytestconfig.getoption("--thorough"))
    return lambda few, many: many if is_thorough else few


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> str:
    """The name of the engine that the test runs on."""
    return str(request.param)


@pytest.fixture
async def engines(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Engines]:
    """Every engine, for tests that need more than one of them."""
    opened = Engines(tmp_path, lambda: str(request.getfixturevalue("neo4j_url")))
    yield opened
    await opened.close()


@pytest.fixture
async def store(engine: str, engines: Engines) -> Store:
    """An opened, empty store."""
    return await engines.empty(engine)


@pytest.fixture
def reopen(engine: str, engines: Engines, store: Store) -> Reopen:
    """Open another store on the same data, as another process would."""

    async def open_again() -> Store:
        return await engines.open(engine)

    return open_again


@pytest.fixture(scope="session")
def neo4j_url() -> Iterator[str]:
    """The address of a Neo4j server for tests, which they may empty.

    It is that of RAGFORGE_TEST_NEO4J where it is set, else of a server started here.
    """
    if given := os.environ.get("RAGFORGE_TEST_NEO4J"):
        yield given
        return
    from scripts.neo4j_server import Neo4jServer, Neo4jUnavailable

    try:
        server = Neo4jServer().__enter__()
    except Neo4jUnavailable as error:
        pytest.skip(f"no Neo4j: {error}")
    try:
        yield server.url
    finally:
        server.__exit__(None, None, None)


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave long tests out unless they are asked for, and keep the Neo4j tests together.

    They empty the server they use. A second server would cost more than it saves: most time goes
    into planning each query once.
    """
    if not config.getoption("--thorough"):
        config.hook.pytest_deselected(items=[item for item in items if is_long(item)])
        items[:] = [item for item in items if not is_long(item)]
    for item in items:
        if item.get_closest_marker("neo4j"):
            item.add_marker(pytest.mark.xdist_group("neo4j"))


def is_long(item: pytest.Item) -> bool:
    return item.get_closest_marker("long") is not None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report clearly what was not checked."""
    skips = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    for start, tests in _LOUD.items():
        if reason := next((skip for skip in skips if start in skip), None):
            cause = reason.partition(start)[2].rstrip("')")
            terminalreporter.write_line(f"{tests} SKIPPED: {cause}", red=True, bold=True)
