"""A cloned repository that has Python modules with our names, or the standard library's."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from ragforge.app.features import model_choice
from ragforge.child_python import python_command

SOURCE = Path(__file__).parents[2] / "src" / "ragforge"
PLANTED = ("ragforge/__init__", "ragforge/__main__", "pip/__main__", "pip/__init__")
SHADOWING = ("json", "sitecustomize", "usercustomize", "sqlite3/__init__", "apsw", "asyncio")
COMMANDS = (
    ["status"],
    ["ask", "How is the price rounded?"],
    ["search", "price"],
    ["ingest"],
    ["sessions", "list"],
    ["memory", "work"],
    ["doctor"],
)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A project each of whose modules leaves a mark when it is imported."""
    folder = tmp_path / "clone"
    (folder / ".git").mkdir(parents=True)
    for name in (*PLANTED, *SHADOWING):
        file = folder / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"open({str(tmp_path / 'mark')!r}, 'a').write({name!r})\n")
    return folder


@pytest.fixture
def environ(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The variables of a user; what their commands leave behind is gone at the end."""
    (tmp_path / "user.yaml").touch()
    yield {
        **{name: value for name, value in os.environ.items() if "RAGFORGE" not in name},
        "HOME": str(tmp_path),
        "RAGFORGE_STORE": str(tmp_path / "store.db"),
        "RAGFORGE_CONFIG": str(tmp_path / "user.yaml"),
        "RAGFORGE_AGENT__STATE_DIR": str(tmp_path / "state"),
        "RAGFORGE_JOBS__CLOSING_SECONDS": "0",  # what is left is done by a child
    }
    until_gone(tmp_path)


def until_gone(place: Path, seconds: float = 120) -> None:
    """Wait until no process is left that works with this folder's store."""
    ends = time.monotonic() + seconds
    while any(str(place) in str(find_variables(one)) for one in psutil.process_iter()):
        assert time.monotonic() < ends, "a child of ours does not end"
        time.sleep(0.05)


def find_variables(process: psutil.Process) -> str:
    try:
        return process.environ().get("RAGFORGE_STORE", "")
    except (psutil.Error, OSError):
        return ""


def run(
    clone: Path, environ: dict[str, str], *words: str, given: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the program as its installed script does: the script's folder comes first, not this."""
    program = Path(sys.executable).with_name("ragforge")
    return subprocess.run(
        [str(program), *words],
        cwd=clone,
        env=environ,
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )


def test_no_command_and_no_process_it_starts_imports_them(
    clone: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    for words in COMMANDS:
        done = run(clone, environ, *words)
        assert done.returncode in (0, 1), done.stderr
        until_gone(tmp_path)
        assert not (tmp_path / "mark").exists(), words


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"])
def test_no_hook_and_no_process_it_starts_imports_them(
    clone: Path, environ: dict[str, str], tmp_path: Path, event: str
) -> None:
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text("{}\n")
    call = {
        "hook_event_name": event,
        "cwd": str(clone),
        "prompt": "How is the price rounded?",
        "transcript_path": str(transcript),
    }

    done = run(clone, environ, "hook", given=json.dumps(call))
    until_gone(tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "mark").exists()


def test_an_installation_runs_neither_in_the_project_nor_with_its_modules(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clone)
    told = tmp_path / "told"
    program = f"import os; open({str(told)!r}, 'w').write(os.getcwd())"

    model_choice.install(
        model_choice.Installation("openai", tuple(python_command("pip", "--version")))
    )
    model_choice.install(model_choice.Installation("openai", (sys.executable, "-c", program)))

    assert not (tmp_path / "mark").exists()
    assert not Path(told.read_text()).is_relative_to(clone)


def test_python_is_started_again_in_one_way_only() -> None:
    starts = {
        str(file.relative_to(SOURCE))
        for file in SOURCE.rglob("*.py")
        if re.search(r"sys\.executable, \"-", file.read_text())
    }

    assert starts == {
        "child_python.py",
        "tools/command/sandbox/choose.py",  # isolated: -I -S, a file of ours
    }
