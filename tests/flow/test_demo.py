"""`ragforge demo` at work: what it shows is real, and nothing of it is left."""

from __future__ import annotations

import html
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

import pexpect
import pytest

from ragforge.child_python import python_command
from ragforge.cli.demo_project import read_demo, write_project

ROOT = Path(__file__).parents[2]
TEXT = re.compile(r"<text[^>]*>([^<]*)</text>")
OTHERWISE = "the recording shows something else: python -m scripts.picture demo"
SECONDS = 300
INTERRUPTIBLE = (
    "import os, signal, sys; "
    "signal.signal(signal.SIGINT, signal.SIG_DFL); "  # the parent process may ignore it
    "os.execv(sys.argv[1], sys.argv[1:])"
)
SAID = {
    "import": ("Claude Code", "Codex CLI", "Gemini CLI"),
    "search": ("claude-code", "We keep keys for 48"),
    "context": ("cache it in Redis", "wrong for up to five seconds"),
    "ask": ("till/fees.py", "fee_of", "as the bank does"),
    "sessions": ("edited  fee_of  till/fees.py", "Ann Lind: Round fees half to even"),
    "explore": ("till/webhooks.py", "receive"),
    "today": ("Keep a running total for each shop", "Not committed: till/ledger.py"),
    "usage": ("claude-code", "codex", "gemini", "Total"),
}
"""Something that each step must show."""


@dataclass(frozen=True)
class Machine:
    """A user with a home, and a folder for temporary files."""

    home: Path
    temporary: Path
    environ: Mapping[str, str]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            python_command("ragforge", "demo", *words),
            cwd=self.home,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", INTERRUPTIBLE, *python_command("ragforge", "demo", *words)],
            cwd=self.home,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            text=True,
        )

    def list_left(self) -> list[Path]:
        """Return the files of the home, and what is left of demos."""
        return [*self.home.rglob("*"), *self.temporary.glob("ragforge-demo-*")]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    home.mkdir()
    temporary.mkdir()
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    place = {"HOME": str(home), "TMPDIR": str(temporary), "COLUMNS": "92"}
    return Machine(home, temporary, {**kept, **place, "RAGFORGE_STORE": str(home / "mine.db")})


def read_picture() -> str:
    """Return the text of the recording, without spaces and without what differs between runs."""
    drawn = (ROOT / "docs" / "demo.svg").read_text("utf-8")
    texts = (html.unescape(text).replace("\xa0", " ") for text in TEXT.findall(drawn))
    return squeeze(" ".join(texts))


def squeeze(text: str) -> str:
    """Return what is the same in each run, as wide as its terminal may be."""
    text = re.sub(r"\d{4}-\d\d-\d\d( \d\d:\d\d)?|\b[0-9a-f]{7,12}\b|\b[01]\.\d\d\b", "", text)
    return re.sub(r"\s+", "", text).lower()


def test_every_step_shows_its_command_and_its_output_and_nothing_is_left(machine: Machine) -> None:
    done = machine.run("--yes")

    assert done.returncode == 0, done.stderr
    parts = re.split(r"^\$ ragforge (\S+)", done.stdout, flags=re.MULTILINE)
    shown = dict(zip(parts[1::2], map(squeeze, parts[2::2]), strict=True))
    assert list(shown) == list(SAID)
    missing = [
        (name, text)
        for name, texts in SAID.items()
        for text in texts
        if squeeze(text) not in shown[name]
    ]
    assert missing == []
    assert machine.list_left() == []

    drawn = read_picture()
    lines = [line for line in done.stdout.splitlines() if not line.startswith("…")]
    assert [line for line in lines if squeeze(line) not in drawn] == [], OTHERWISE


@pytest.mark.long
def test_a_kept_demo_can_be_used_and_is_told_where_it_is(machine: Machine) -> None:
    done = machine.run("--yes", "--keep")

    [line] = re.findall(r"^  (cd .*)$", done.stderr, re.MULTILINE)
    again = subprocess.run(
        f"{line} && {' '.join(python_command('ragforge', 'sessions', 'list'))}",
        shell=True,
        env={"PATH": machine.environ["PATH"], "HOME": str(machine.home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.stdout.count("claude-code") == 4, again.stderr
    assert list(machine.home.iterdir()) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_demo_removes_itself(
    machine: Machine, number: signal.Signals, code: int
) -> None:
    running = machine.start("--yes")
    assert running.stdout is not None
    while not running.stdout.readline().startswith("$ ragforge import"):
        assert running.poll() is None
    running.send_signal(number)
    running.communicate(timeout=SECONDS)

    assert running.returncode == code
    assert machine.list_left() == []


@pytest.mark.long
def test_in_a_terminal_each_step_waits_for_enter(machine: Machine) -> None:
    command, *words = python_command("ragforge", "demo")
    screen = pexpect.spawn(
        command, words, cwd=str(machine.home), env=dict(machine.environ), timeout=SECONDS
    )
    screen.expect_exact("Enter continues")
    assert b"$ ragforge search" not in screen.before
    for _ in range(len(read_demo("steps")["step"]) - 1):
        screen.sendline("")
        screen.expect_exact("$ ragforge")
    screen.expect_exact("browser")
    screen.sendline("n")
    screen.expect(pexpect.EOF)
    screen.close()

    assert screen.exitstatus == 0
    assert machine.list_left() == []


@pytest.mark.long
def test_the_page_shows_the_sessions_of_the_demo_until_it_is_stopped(machine: Machine) -> None:
    running = machine.start("--yes", "--web")
    assert running.stdout is not None
    for line in running.stdout:
        if line.startswith("http://"):
            break
    try:
        browser = build_opener(HTTPCookieProcessor())
        with browser.open(line.strip(), timeout=SECONDS) as page:
            text = page.read().decode()
    finally:
        os.killpg(running.pid, signal.SIGINT)
        running.communicate(timeout=SECONDS)

    assert "till" in text
    assert running.returncode == 0
    assert machine.list_left() == []


def test_without_git_the_project_is_written_too(tmp_path: Path) -> None:
    project = write_project(tmp_path, {"PATH": str(tmp_path)})

    assert "KEY_HOURS = 48" in (project / "till" / "charges.py").read_text("utf-8")
    assert not (project / ".git").exists()
