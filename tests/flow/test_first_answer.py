"""The first questions in a large project: they are answered before all of it has been read."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ragforge.app import open_app
from ragforge.app.features import jobs
from ragforge.app.features.code import Code, open_code
from ragforge.app.features.jobs import FEW_FILES
from ragforge.brain.graph import project_graph
from ragforge.brain.ingestion import ingestion_run, progress
from ragforge.brain.ingestion.progress import IngestionStep
from ragforge.brain.parse.read_source import ReadFile, read_file
from ragforge.config import Settings, load_settings
from ragforge.mcp.tools import search_code
from ragforge.tools.search_code import make_code_tool
from tests.fakes.projects import SHOP, differences, snapshot, write
from tests.fakes.zygote import run_module

SECRET = "AKIAIOSFODNN7EXAMPLQ"
LARGE = SHOP | {
    "shop/payment.py": (
        "class Payment:\n"
        '    """Charges the credit card of a customer."""\n\n'
        "    def charge(self, card, amount):\n"
        f'        return send(card, amount, key="{SECRET}")\n'
    ),
    "docs/refunds.md": (
        "# Refunds\n\nWhat support may do.\n\n"
        "## Approval\n\nThe treasurer approves a refund above 500 euros.\n\n"
        f"## Account\n\nThe bank's key is {SECRET}.\n"
    ),
    "deploy/cluster.yaml": "replicas: 3\nregion: paris\nrollout: staged\n",
    **{f"parts/part{n}.py": f"def part{n}():\n    return {n}\n" for n in range(FEW_FILES)},
}
TOTAL = len(LARGE)
QUESTION = "where is a credit card charged"


class Interrupted(Exception):
    """Reading stopped after the first files."""


def interrupt(step: IngestionStep) -> None:
    if step.phase == "reading":
        raise Interrupted


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    write(root, LARGE)
    return root


@pytest.fixture
def environ(environ: dict[str, str]) -> dict[str, str]:
    # The lock is held, so that no process is started that would stay behind.
    return environ | {"RAGFORGE_JOBS__DETACH": "true"}


@pytest.fixture
def engine() -> str:
    return "sqlite"


@pytest.fixture
def settings(root: Path, environ: dict[str, str]) -> Settings:
    return load_settings(root, environ=environ).settings


@asynccontextmanager
async def being_read(settings: Settings, root: Path) -> AsyncIterator[Code]:
    """Let the project be held by a process that has read none of it yet."""
    async with open_code(settings, root) as code:
        await code.brain.begin()
        name = progress.name_ingestion_lock(code.brain.project_id)
        async with progress.hold_lock(code.brain.store.locks, name, code.brain.ingester.holder):
            yield code


async def ragforge(
    environ: dict[str, str], root: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(run_module, "ragforge", *arguments, cwd=root, env=environ)


async def test_a_search_finds_what_was_not_read_yet_and_says_so(
    settings: Settings, environ: dict[str, str], root: Path
) -> None:
    async with being_read(settings, root):
        shown = await ragforge(environ, root, "search", QUESTION)
        found = json.loads((await ragforge(environ, root, "search", "--json", QUESTION)).stdout)

    assert shown.returncode == 0
    assert shown.stdout.startswith("shop/payment.py:")
    assert f"Still reading: 0 of {TOTAL} files" in shown.stderr
    assert found["reading"] == {"done": 0, "total": TOTAL}
    assert found["hits"][0]["file"] == "shop/payment.py"
    assert SECRET not in json.dumps(found)


async def test_documents_and_configuration_are_found_before_they_are_read(
    settings: Settings, environ: dict[str, str], root: Path
) -> None:
    async with being_read(settings, root) as code:
        shown = await ragforge(environ, root, "search", "--in", "docs", "who approves a refund")
        found = await code.search_docs_and_config("where is the cluster deployed, which region")
        named = await code.brain.find_relevant_documents("Which refund does a treasurer approve?")
        keys = await code.search_documents("the key of the bank account")
        elsewhere = await code.search_documents("who approves a refund", under="parts")

    assert shown.stdout.startswith("docs/refunds.md:")
    assert "Approval" in shown.stdout
    assert "Still reading" in shown.stderr
    assert [hit.file for hit in found][:1] == ["deploy/cluster.yaml"]
    assert named.hits[0].scope.file == "docs/refunds.md"
    assert keys[0].scope.name == "Account"
    assert SECRET not in repr(keys)
    assert elsewhere == []


async def test_a_question_is_answered_while_the_project_is_read(
    settings: Settings, environ: dict[str, str], root: Path
) -> None:
    async with being_read(settings, root):
        answer = await ragforge(environ, root, "ask", "Where is the credit card charged?")
        nothing = await ragforge(environ, root, "ask", "--new", "Where is zzyzx frobnicated?")
        thanks = await ragforge(environ, root, "ask", "--new", "Thanks, that is great!")

    assert answer.returncode == 0
    assert "shop/payment.py:" in answer.stdout
    assert f"Still reading: 0 of {TOTAL} files" in answer.stderr
    assert nothing.returncode == 3
    assert 'says "zzyzx" or "frobnicated"' in nothing.stdout
    assert "Still reading" in nothing.stdout
    assert "Still reading" not in nothing.stderr  # once is enough
    assert thanks.returncode == 0
    assert thanks.stdout.startswith("There is nothing to look up in that.")
    assert "Still reading" not in thanks.stderr


async def test_a_project_that_was_read_has_no_label(environ: dict[str, str], root: Path) -> None:
    assert (await ragforge(environ, root, "ingest")).returncode == 0

    found = json.loads((await ragforge(environ, root, "search", "--json", QUESTION)).stdout)

    assert found["reading"] is None
    assert found["hits"][0]["file"] == "shop/payment.py"


async def test_agents_are_told_how_far_the_reading_is(settings: Settings, root: Path) -> None:
    async with being_read(settings, root) as code, open_app(settings, root, work=False) as app:
        asked = await search_code(app, {"query": QUESTION}, _Client())  # type: ignore[arg-type]
        tool = (await make_code_tool(code.brain).run({"query": QUESTION})) or {}
        context = await app.build_context("Where is the credit card charged?")

    for found in (asked, tool):
        assert f"Still reading: 0 of {TOTAL} files" in found["reading"]
        assert found["code"][0]["file"] == "shop/payment.py"
    assert "Still reading" in context.receipt.notices
    assert "shop/payment.py" in context.text


async def test_questions_choose_what_is_read_next(settings: Settings, root: Path) -> None:
    async with being_read(settings, root) as code:
        await code.brain.search(QUESTION)
        handed_over = code.brain.ingester.find_wanted(code.brain.project_id)
        assert handed_over is not None

    assert handed_over.take()[0] == "shop/payment.py"
    assert handed_over.take() == []


async def test_a_large_project_is_read_by_a_separate_process(
    settings: Settings, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Path] = []
    monkeypatch.setattr(
        jobs, "start_detached_reading", lambda settings, place: started.append(place)
    )
    async with open_code(settings, root) as code:
        reading = await code.automatic_reading.begin()
        await code.automatic_reading.begin()

        assert str(reading) == f"still reading: 0 of {TOTAL} files"
        assert started == [root]


async def test_a_small_project_is_read_before_the_first_answer(
    settings: Settings, tmp_path: Path
) -> None:
    small = tmp_path / "small"
    (small / ".git").mkdir(parents=True)
    write(small, SHOP)
    async with open_code(settings, small) as code:
        assert (await code.search("the price of an item"))[0].scope.file == "shop/prices.py"
        assert await code.find_reading() is None
        assert await code.is_ingested()


async def test_an_interrupted_reading_resumes_where_it_was(settings: Settings, root: Path) -> None:
    async with open_code(settings, root) as code:
        with pytest.raises(Interrupted):
            await code.ingest(interrupt)
        reading = await code.find_reading()
        assert reading is not None
        assert 0 < reading.done < reading.total

        report, _ = await code.ingest()
        assert report.read == reading.left
        assert await code.find_reading() is None


@pytest.mark.parametrize("phase", ["reading", "relating"])
async def test_what_was_parsed_before_an_interruption_is_not_parsed_again(
    settings: Settings, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    again: list[str] = []

    def parse(place: str, project_id: str, path: str, time: int) -> ReadFile:
        again.append(path)
        return read_file(place, project_id, path, time)

    def interrupt_late(step: IngestionStep) -> None:
        if step.phase == phase and step.done >= step.total - 1:
            raise Interrupted

    monkeypatch.setattr(project_graph, "read_file", parse)
    monkeypatch.setattr(ingestion_run, "RELATED_TOGETHER", TOTAL - 1)
    async with open_code(settings, root) as code:
        with pytest.raises(Interrupted):
            await code.ingest(interrupt_late)
        report, _ = await code.ingest()
        resumed = await snapshot(code.brain.store, root)

    assert (report.read, again) == (0, [])
    assert report.related > 0
    assert not list(Path(settings.agent.state_dir, "reading").glob("*.outlines"))
    fresh = load_settings(root, {"store.url": str(tmp_path / "fresh.db")}).settings
    async with open_code(fresh, root) as code:
        await code.ingest()
        assert differences(resumed, await snapshot(code.brain.store, root)) == []


async def test_a_project_that_is_forgotten_leaves_no_names_in_the_state_folder(
    settings: Settings, root: Path
) -> None:
    folder = Path(settings.agent.state_dir, "reading")
    async with open_code(settings, root) as code:
        with pytest.raises(Interrupted):
            await code.ingest(interrupt)
        assert list(folder.glob("*.outlines"))

        await code.forget(root)

    assert not list(folder.glob("*.outlines"))


class _Client:
    """A client that shows no progress."""

    class channel:  # as the attribute is called
        @staticmethod
        def report(doing: str) -> None:
            pass
