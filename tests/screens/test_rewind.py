"""/diff, /rewind and /commit in the terminal."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.fakes.terminal import CTRL_C, ENTER, ESCAPE
from tests.fakes.wires import Call, Says
from tests.screens.conftest import LOGIN, Open, model

pytestmark = pytest.mark.long

MENDED = LOGIN.replace("check(user)", "check(user.name)")
EDIT = Call(
    "edit_file",
    {"path": "src/login.py", "old_text": "check(user)", "new_text": "check(user.name)"},
)


@pytest.fixture
def project(project: Path) -> Path:
    (project / ".git").rmdir()
    for words in (
        ["init", "-q"],
        ["config", "user.name", "Ann"],
        ["config", "user.email", "ann@example.org"],
        ["config", "commit.gpgsign", "false"],
        ["add", "."],
        ["commit", "-qm", "Begin"],
    ):
        subprocess.run(["git", *words], cwd=project, check=True)
    return project


async def test_what_the_session_changed_is_shown_committed_and_rewound(
    ragforge: Open, project: Path
) -> None:
    file = project / "src" / "login.py"
    script = (Says(calls=(EDIT,)), Says("It is mended."), Says("Compare the name of the user"))
    dark = {"COLORFGBG": "15;0"}
    accepting = ("--mode", "accept-edits")
    async with model(*script) as server, ragforge(*accepting, server=server, **dark) as terminal:
        await terminal.prompt("accept edits ❯")
        terminal.type(f"/diff{ENTER}")
        await terminal.see("This session is empty")
        terminal.type(f"Mend the login{ENTER}")
        await terminal.see("It is mended.")
        await terminal.prompt("accept edits ❯")
        terminal.type(f"/diff{ENTER}")
        await terminal.see("src/login.py  +1 −1")
        await terminal.see("    2 +     return check(user.name)", 2)  # when it was made, and now
        shown = "\n".join(terminal.lines)
        assert "    1   def login(user):\n    2 -     return check(user)\n" in shown
        assert terminal.style_of("2 +     return").bg == "005f00"
        assert terminal.style_of("2 -     return").bg == "5f0000"
        assert terminal.style_of("def login").fg != "default"  # the colours of Python
        await terminal.prompt("accept edits ❯")

        terminal.type(f"/commit{ENTER}")
        await terminal.see("│ Compare the name of the user")
        await terminal.prompt(r"Commit these files with this message\? \[y/n\]")
        terminal.type(CTRL_C)
        await terminal.see("Nothing was committed.")
        terminal.type(f"/commit Mend the login{ENTER}")
        await terminal.prompt(r"Commit these files with this message\? \[y/n\]")
        terminal.type(f"y{ENTER}")
        await terminal.see("1 file changed")
        await terminal.prompt("accept edits ❯")

        terminal.type(f"/rewind{ENTER}")
        await terminal.on_screen("   0  Mend the login  (1 file edited since)")
        terminal.type(ESCAPE)
        await terminal.see("Nothing was rewound.")
        await terminal.prompt("accept edits ❯")
        terminal.type(f"/rewind{ENTER}")
        await terminal.on_screen("1 of 1  Enter returns to before it, Esc leaves")
        terminal.type(ENTER)
        await terminal.prompt(r"Talk and files \(b\), only talk \(t\), .*\?")
        terminal.type(f"b{ENTER}")
        await terminal.see("src/login.py is as it was before turn 0.")
        await terminal.see("The later turns are kept: ragforge -r ")
        await terminal.on_screen("accept edits ❯ Mend the login")
    assert file.read_text() == LOGIN
    log = ["git", "log", "--format=%s", "--name-only", "-1"]
    said = subprocess.run(log, cwd=project, check=True, capture_output=True, text=True).stdout
    assert said.split() == ["Mend", "the", "login", "src/login.py"]


async def test_a_file_that_someone_else_changed_is_not_rewound(
    ragforge: Open, project: Path
) -> None:
    file = project / "src" / "login.py"
    script = (Says(calls=(EDIT,)), Says("It is mended."))
    accepting = ("--mode", "accept-edits")
    async with model(*script) as server, ragforge(*accepting, server=server) as terminal:
        await terminal.prompt("accept edits ❯")
        terminal.type(f"Mend the login{ENTER}")
        await terminal.see("It is mended.")
        await terminal.prompt("accept edits ❯")
        file.write_text("theirs\n")
        terminal.type(f"/rewind 0{ENTER}")
        await terminal.see("Another program has changed 'src/login.py' since RagForge edited it")
        await terminal.prompt("accept edits ❯")
        terminal.type(f"/diff{ENTER}")
        await terminal.see("(also changed by another program or user)")
    assert file.read_text() == "theirs\n"
