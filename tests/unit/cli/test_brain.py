"""`ragforge ingest`, `status`, `forget`, `search` in code: what is asked for and how it looks."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ragforge import load_settings
from ragforge.app.features.code import IngestionStep, open_code
from ragforge.brain.search.code import CodeHit
from ragforge.cli.progress import ProgressLines, format_detail
from ragforge.domain.code import Scope
from ragforge.ports.web import WebPage
from ragforge.show import hits
from tests.fakes.repositories import git, make_repository
from tests.unit.cli.conftest import Ragforge

MONDAY = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
SOURCE = '''class Lease:
    """A promise with an end."""

    def renew(self) -> None:
        """Renew the lease."""
        self.until = now() + LEASE

    def drop(self) -> None:
        self.until = None
'''


def hit(**fields: object) -> CodeHit:
    given = {
        "name": "Lease",
        "qualified_name": "Lease",
        "type": "class",
        "file": "src/leases.py",
        "start_line": 1,
        "end_line": 9,
        "source": SOURCE,
        "hash": "h",
        "language": "python",
    }
    return CodeHit(Scope(**{**given, **fields}), 0.9, ("name", "words"), 0.876)  # type: ignore[arg-type]


@pytest.mark.parametrize("command", [("pages",), ("search", "x", "--in", "memory")])
def test_a_remote_with_another_address_is_reported_once(
    ragforge: Ragforge, project: Path, command: tuple[str, ...]
) -> None:
    (project / ".git").rmdir()
    make_repository(project, {"a.py": "x = 1\n"})
    git(project, "remote", "add", "origin", "https://example.org/shop")
    assert "remote" not in ragforge(*command).err
    git(project, "remote", "set-url", "origin", "https://example.net/shop")

    told = f"The remote of {project} changed from example.org/shop to example.net/shop."
    assert told in ragforge(*command).err
    assert told not in ragforge(*command).err


def test_a_hit_is_shown_with_its_place_name_score_and_telling_lines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    hits.show_code([hit()], "renew the lease")

    first, *lines = capsys.readouterr().out.splitlines()
    assert first == "src/leases.py:1-9  Lease  0.88  name, words"
    assert '  """Renew the lease."""' in "\n".join(lines)
    assert len(lines) <= hits.SNIPPET_LINES


def test_a_hit_in_a_web_page_is_shown_with_its_address_and_date(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = replace(hit(file="https://x.org/a", language="markdown"), fetched_at=MONDAY)
    hits.show_code([page], "renew")

    first, *_ = capsys.readouterr().out.splitlines()
    assert first == "https://x.org/a:1-9  Lease  fetched 2026-11-16  0.88  name, words"
    assert hits.code_to_json(page)["fetched_at"] == "2026-11-16T12:00:00.000+00:00"


def test_web_pages_are_listed_and_forgotten_by_address(ragforge: Ragforge, project: Path) -> None:
    url = "https://docs.example.org/guide?v=2"

    async def keep() -> bool:
        async with open_code(load_settings(project).settings, project) as code:
            return await code.keep_page(WebPage(url, "Guide", "# Guide", "markdown", MONDAY))

    empty = ragforge("pages")
    assert "No web page was read for this project." in empty.err + empty.out
    assert asyncio.run(keep())
    shown = ragforge("pages")
    assert [line.split() for line in shown.out.splitlines()] == [
        ["FETCHED", "BYTES", "ADDRESS"],
        ["2026-11-16", "7", url],
    ]
    [listed] = json.loads(ragforge("pages", "--json").out)["pages"]
    assert (listed["url"], listed["size"]) == (url, 7)

    assert "The page is forgotten." in ragforge("forget", url).err
    assert json.loads(ragforge("pages", "--json").out) == {"pages": []}
    again = ragforge("forget", url)
    assert again.code == 1
    assert f"No page {url} is stored here. `ragforge pages` lists them." in again.err


def test_a_hit_has_stable_keys_for_scripts() -> None:
    assert hits.code_to_json(hit()) == {
        "file": "src/leases.py",
        "start_line": 1,
        "end_line": 9,
        "name": "Lease",
        "type": "class",
        "language": "python",
        "score": 0.876,
        "signals": ["name", "words"],
        "signature": "",
        "source": SOURCE,
    }


def test_nothing_found_is_reported_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    hits.show_code([], "anything")

    shown = capsys.readouterr()
    assert shown.out == ""
    assert "ragforge status" in shown.err


def test_hostile_names_do_not_reach_the_terminal_raw(capsys: pytest.CaptureFixture[str]) -> None:
    hits.show_code([hit(file="a\x1b[31m.py", source="x\x1b]0;title\x07")], "x")

    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize("command", ["ingest", "status", "watch"])
def test_a_path_that_is_not_a_directory_is_named(ragforge: Ragforge, command: str) -> None:
    shown = ragforge(command, "no/such/place")

    assert shown.code == 1
    assert "no/such/place is not a directory" in shown.err


def test_ingest_of_a_file_reads_only_that_file(ragforge: Ragforge, project: Path) -> None:
    (project / ".git").mkdir(exist_ok=True)
    for name in ("one.py", "other.py"):
        (project / name).write_text("x = 1\n")
    assert ragforge("ingest").code == 0
    for name in ("one.py", "other.py"):
        (project / name).write_text("y = 22\n")

    assert json.loads(ragforge("ingest", "one.py", "--json").out)["read"] == 1
    assert json.loads(ragforge("ingest", "--json").out)["read"] == 1
    assert "is not a file" in ragforge("ingest", "one.py", "missing.py").err


def test_a_path_outside_of_the_project_is_refused(ragforge: Ragforge) -> None:
    shown = ragforge("search", "x", "--path", "../elsewhere")

    assert shown.code == 1
    assert "is not in the project" in shown.err


@pytest.mark.parametrize("command", ["ingest", "status", "watch", "pages", "forget", "search"])
def test_every_command_has_examples(ragforge: Ragforge, command: str) -> None:
    assert f"ragforge {command}" in ragforge(command, "--help").out.partition("Examples")[2]


def test_progress_shows_how_fast_files_are_read() -> None:
    assert format_detail(IngestionStep("reading", 10, 20, 300), 41.7) == "42/s, 300 scopes"
    assert format_detail(IngestionStep("waiting"), None) == ""


def test_a_log_gets_a_line_about_a_long_reading_every_ten_seconds() -> None:
    lines = ProgressLines(100.0)
    steps = [(101, 0), (106, 200), (111, 400), (115, 600), (121, 800)]
    shown = [
        lines.describe(IngestionStep("reading", done, 4_000, 7 * done), now) for now, done in steps
    ]

    assert shown == [
        None,
        None,
        "reading files: 400 of 4,000, 40/s, 2,800 scopes, 90 s left",
        None,
        "reading files: 800 of 4,000, 40/s, 5,600 scopes, 80 s left",
    ]
    assert lines.describe(IngestionStep("waiting"), 140.0) == "waiting for another process"
    assert lines.describe(IngestionStep("relating", 10, 20), 160.0) == "relating: 10 of 20"


def test_a_short_reading_says_nothing_in_a_log(ragforge: Ragforge, project: Path) -> None:
    (project / ".git").mkdir(exist_ok=True)

    assert "reading files" not in ragforge("ingest").err
