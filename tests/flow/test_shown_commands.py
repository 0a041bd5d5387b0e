"""The commands that README and docs show with an output: run, and compared with what is shown.

`tests/unit/test_docs.py` parses every command of the documentation.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from ragforge.child_python import python_command
from tests.fakes.transcripts import claude_code, codex
from tests.fakes.transcripts.cart import CODE, write_cart
from tests.fakes.zygote import run_module
from tests.flow.test_docs import assert_shown, run_blocks

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOT_RUN = {
    "README.md: ragforge ask": "asks about this repository, which takes a minute to index",
    "docs/connect.md: echo": "the hook answers from a memory that the page does not make",
    "docs/connect.md: ragforge connect --status": "shows a home in which nothing is connected yet",
    "docs/connect.md: ragforge connect claude-code": "starts another agent",
    "docs/connect.md: ragforge connect codex": "shows the end of what is printed",
    "docs/import.md: ragforge import; rm": "the page shows two states of one machine",
    "docs/usage.md: ragforge usage": "shows a week of requests that cost money",
}
"""Blocks that are parsed but not run, by page and first words, with the reason."""

LOGIN = '''"""The login."""


def make_cookie(host, session):
    """Return the cookie of a session."""
    return f"session={session}; Domain={host}"
'''
PRICES = '''"""Prices: what a cart costs."""

VAT = 0.19


def total(lines):
    """Return what the lines of a cart cost with tax."""
    return sum(round(line.net * (1 + VAT), 2) for line in lines)
'''


@dataclass(frozen=True)
class Block:
    """Commands of a page, each with what is shown below it."""

    page: str
    line: int
    commands: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        return f"{self.page}: {'; '.join(command for command, _ in self.commands)}"

    @property
    def is_run(self) -> bool:
        return self.reason is None

    @property
    def reason(self) -> str | None:
        return next((why for name, why in NOT_RUN.items() if self.name.startswith(name)), None)


def list_blocks() -> Iterator[Block]:
    """Yield the blocks that show commands of RagForge with an output."""
    for page in PAGES:
        text = page.read_text("utf-8")
        for block in re.finditer(r"^```\w*\n(\$ .*?)^```$", text, re.DOTALL | re.MULTILINE):
            parts = re.split(r"^\$ (.*)\n", block[1], flags=re.MULTILINE)[1:]
            commands = tuple(zip(parts[::2], parts[1::2], strict=True))
            if "ragforge" in block[1]:
                line = text[: block.start()].count("\n") + 1
                yield Block(page.relative_to(ROOT).as_posix(), line, commands)


def normalise(text: str) -> str:
    """Replace what differs between two machines: ids, times, scores and the width of columns."""
    text = re.sub(r"\d{4}-\d\d-\d\d( \d\d:\d\d)?", "DATE", text)
    text = re.sub(r"\b[0-9a-f]{8}\b", "ID", text)
    text = re.sub(r"\b[01]\.\d\d\b", "SCORE", text)
    return re.sub(r"[ \n]+", " ", text).strip()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A home with a shop."""
    home = tmp_path / "home"
    shop = home / "shop"
    (shop / ".git").mkdir(parents=True)
    (shop / "login.py").write_text(LOGIN)
    (shop / "prices.py").write_text(PRICES)
    (shop / "cart.py").write_text(CODE)
    return home


def write_login(home: Path) -> None:
    """Write what two agents said about the login."""
    shop = home / "shop"
    claude = claude_code.Claude(cwd=str(shop))
    claude.say("The login loops on m.shop.example. Why?")
    claude.answer(claude_code.call("t1", "Bash", command="curl -I m.shop.example"))
    claude.give_result("t1", "302")
    line = LOGIN.splitlines()[-1]
    edit = {"old_string": line.replace("; Domain={host}", ""), "new_string": line}
    claude.answer(claude_code.call("t2", "Edit", file_path=str(shop / "login.py"), **edit))
    old, new = edit.values()
    change = claude_code.edit_result(str(shop / "login.py"), LOGIN.replace(new, old), old, new)
    at = {"oldStart": 6, "oldLines": 1, "newStart": 6, "newLines": 1}
    patch = [{**at, "lines": [f"-{old}", f"+{new}"]}]
    claude.give_result("t2", "Done.", toolUseResult={**change, "structuredPatch": patch})
    claude.answer(
        "The login cookie was set for the phone's host alone, so the desktop host asked again. "
        "It belongs to the parent domain now."
    )
    claude.write(home)
    other = codex.Codex(cwd=str(shop))
    other.put("turn_context", turn_id="turn-1", cwd=str(shop), model="gpt-x")
    other.say("Does the cookie survive a restart of the browser?")
    other.answer("No: it has no Max-Age. That is on purpose, says docs/security.md.")
    other.write(home)


def run_block(block: Block, home: Path) -> None:
    """Run the commands of a block one after the other; questions are answered with yes."""
    for command, shown in block.commands:
        words = shlex.split(command)[1:]
        if words[0] == "connect" and "--yes" not in words:
            words.append("--yes")
        done = run_command(words, home)
        assert done.returncode == 0, done.stdout
        printed = normalise(done.stdout + (done.stderr or ""))
        assert_shown(printed, normalise(shown), f"{block.page}:{block.line} {command}")


def run_command(words: Sequence[str], home: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in the shop; `connect` writes to both outputs, whose order then counts."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    environ = {**kept, "HOME": str(home), "NO_COLOR": "1", "COLUMNS": "100", "TZ": "UTC"}
    environ |= {"RAGFORGE_JOBS__DETACH": "false", "RAGFORGE_LLM__MODEL": "none"}
    if words[0] != "connect":
        return run_module("ragforge", *words, cwd=home / "shop", env=environ)
    return subprocess.run(
        python_command("ragforge", *words),
        cwd=home / "shop",
        env={**environ, "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )


BLOCKS = list(list_blocks())


@pytest.mark.parametrize(
    "block", [one for one in BLOCKS if one.is_run], ids=lambda one: f"{one.page}:{one.line}"
)
def test_a_command_prints_what_the_page_shows(block: Block, place: Path) -> None:
    if block.page.startswith("docs/agents/"):
        write_cart(Path(block.page).stem, place, place / "shop")
    else:
        write_login(place)
    run_block(block, place)


def test_every_reason_not_to_run_a_block_is_needed() -> None:
    names = [block.name for block in BLOCKS]
    assert [one for one in NOT_RUN if not any(name.startswith(one) for name in names)] == []


def test_the_pages_that_a_stranger_reads_first_are_run() -> None:
    run = {block.page for block in BLOCKS if block.is_run}
    assert {"README.md", "docs/getting-started.md"} <= run


async def test_the_program_of_the_first_page_prints_what_is_shown(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(project)
    await run_blocks(ROOT / "docs" / "getting-started.md")
