"""Fixtures: an empty store on each engine, opened the way an application opens it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, settings

from ragforge.ports.store import Store
from tests.fakes.engines import Engines

Reopen: TypeAlias = Callable[[], Awaitable[Store]]

ENGINES = ["sqlite", pytest.param("neo4j", marks=pytest.mark.neo4j)]
_LOUD = {
    "no Neo4j: ": "NEO4J TESTS",
    "no real model: ": "TESTS WITH A REAL MODEL",
    "no MCP client: ": "TESTS WITH AN MCP CLIENT",
    "no browser: ": "TESTS IN A BROWSER",
    "no axe: ": "TESTS OF ACCESSIBILITY",
}
"""How reasons to skip begin that the last lines of a run repeat, and what was skipped."""


# No test writes to the data of whoever runs it.
_DATA = tempfile.TemporaryDirectory(prefix="ragforge-tests-")
os.environ["XDG_DATA_HOME"] = _DATA.name

# No test depends on how fast the machine is.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture(params=ENGINES)
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the Neo4j tests together: they share one server, and empty it."""
    for item in items:
        if item.get_closest_marker("neo4j"):
            item.add_marker(pytest.mark.xdist_group("neo4j"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly what was not checked."""
    skips = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    for start, tests in _LOUD.items():
        if reason := next((skip for skip in skips if start in skip), None):
            cause = reason.partition(start)[2].rstrip("')")
            terminalreporter.write_line(f"{tests} SKIPPED: {cause}", red=True, bold=True)
