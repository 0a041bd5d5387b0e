"""`ragforge help`: the pages of the documentation, from the same files."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ragforge.cli.commands import help as command
from ragforge.cli.commands.help import list_topics, read_page
from ragforge.cli.main import run

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that is 20 lines high, and no pager that waits."""
    for name, value in (("FORCE_COLOR", "1"), ("LINES", "20"), ("COLUMNS", "80")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PAGER", f"{sys.executable} -c 'print(\"in the pager\")'")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_the_list_names_every_topic_with_what_it_is_about(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["help"]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == [*list_topics()]
    assert all(len(line.split()) > 1 for line in lines)


def test_every_topic_is_a_page_of_the_documentation(capsys: pytest.CaptureFixture[str]) -> None:
    for topic in list_topics():
        assert run(["help", topic]) == 0
        assert capsys.readouterr().out == (DOCS / f"{topic}.md").read_text("utf-8")


def test_json_has_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    run(["help", "hooks", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert (said["topic"], said["text"]) == ("hooks", read_page("hooks"))

    run(["help", "--json"])
    listed = json.loads(capsys.readouterr().out)
    assert {one["topic"]: one["about"] for one in listed} == list_topics()


def test_an_unknown_topic_names_what_is_like_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help", "sandbix"]) == 2
    assert "There is no topic 'sandbix'. Did you mean sandbox?" in capsys.readouterr().err
    assert run(["help", "qqqq"]) == 2
    assert "`ragforge help` lists them" in capsys.readouterr().err


def test_a_command_without_a_page_prints_its_own_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help", "explore"]) == 0
    assert "Usage: ragforge explore" in capsys.readouterr().out


@pytest.mark.usefixtures("terminal")
def test_a_page_in_a_terminal_has_no_markup_and_names_the_topics_it_links(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINES", "1000")
    run(["help", "usage"])
    shown = re.sub(r"\x1b\[[\d;]*m", "", capfd.readouterr().out)

    assert "\x1b" not in shown
    assert "](" not in shown
    assert "See also: ragforge help web | terminal" in shown


@pytest.mark.usefixtures("terminal")
def test_a_page_that_is_longer_than_the_screen_opens_in_the_pager(
    capfd: pytest.CaptureFixture[str],
) -> None:
    run(["help", "usage"])
    assert capfd.readouterr().out == "in the pager\n"


def test_an_installed_package_reads_the_pages_that_it_contains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "ragforge" / "help" / "hooks.md"
    page.parent.mkdir(parents=True)
    page.write_text("# Packaged\n")
    monkeypatch.setattr(command.ragforge, "__file__", str(tmp_path / "ragforge" / "__init__.py"))

    assert read_page("hooks") == "# Packaged\n"


def test_the_build_adds_every_topic_to_the_wheel_and_none_to_an_editable_installation() -> None:
    script = (
        "import json, types, sys\n"
        "class Interface: pass\n"
        "for name in ('hatchling', 'hatchling.builders', 'hatchling.builders.hooks',\n"
        "             'hatchling.builders.hooks.plugin',\n"
        "             'hatchling.builders.hooks.plugin.interface'):\n"
        "    sys.modules[name] = types.ModuleType(name)\n"
        "sys.modules[name].BuildHookInterface = Interface\n"
        "from scripts.package_pages import PackagePages\n"
        "hook = PackagePages(); hook.root = '.'\n"
        "for version in ('standard', 'editable'):\n"
        "    data = {'force_include': {}}; hook.initialize(version, data)\n"
        "    print(json.dumps(data['force_include']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=DOCS.parent, capture_output=True, text=True, check=True
    )
    packaged, editable = map(json.loads, done.stdout.splitlines())
    assert packaged == {f"docs/{name}.md": f"ragforge/help/{name}.md" for name in list_topics()}
    assert editable == {}
