"""`ragforge ingest`, `status`, `forget`, `search` in code: what is asked for and how it looks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragforge.brain.search.code import CodeHit
from ragforge.domain.code import Scope
from ragforge.show import hits
from tests.unit.cli.conftest import Ragforge

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
    return CodeHit(Scope(**{**given, **fields}), 0.876, ("name", "words"))  # type: ignore[arg-type]


def test_a_hit_is_shown_with_its_place_name_score_and_telling_lines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    hits.show_code([hit()], "renew the lease")

    first, *lines = capsys.readouterr().out.splitlines()
    assert first == "src/leases.py:1-9  Lease  0.88  name, words"
    assert '  """Renew the lease."""' in "\n".join(lines)
    assert len(lines) <= hits.SNIPPET_LINES


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


def test_nothing_found_is_said_beside_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    hits.show_code([], "anything")

    shown = capsys.readouterr()
    assert shown.out == ""
    assert "ragforge status" in shown.err


def test_hostile_names_do_not_reach_the_terminal_raw(capsys: pytest.CaptureFixture[str]) -> None:
    hits.show_code([hit(file="a\x1b[31m.py", source="x\x1b]0;title\x07")], "x")

    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize("command", ["ingest", "status", "watch"])
def test_a_path_that_is_no_directory_is_named(ragforge: Ragforge, command: str) -> None:
    shown = ragforge(command, "no/such/place")

    assert shown.code == 1
    assert "no/such/place is not a directory" in shown.err


def test_ingest_of_a_file_reads_that_file_alone(ragforge: Ragforge, project: Path) -> None:
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


@pytest.mark.parametrize("command", ["ingest", "status", "watch", "forget", "search"])
def test_every_command_has_examples(ragforge: Ragforge, command: str) -> None:
    assert f"ragforge {command}" in ragforge(command, "--help").out.partition("Examples")[2]
