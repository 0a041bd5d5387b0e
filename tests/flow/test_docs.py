"""The code of the pages runs as it stands, on every engine."""

from __future__ import annotations

import ast
import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest

from ragforge.errors import InputError, OutsideProject
from ragforge.tools.workspace import Workspace
from tests.fakes.chat_server import Breaks, ChatServer, Step
from tests.fakes.http_server import Asked
from tests.fakes.talking import TITLE, call, with_model
from tests.fakes.wires import OpenAiWire, Says

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
AUTH = (
    "def login(user):\n    return user\n\n\ndef check(given, stored):\n    return given in stored\n"
)

SCRIPT: list[Step] = [
    Says("In auth.py."),
    Says(calls=(call("grep_files", pattern="**/*.py", regex="def (login|check)"),)),
    Says("login and check.", reasoning="The search found two."),
    Says(calls=(call("read_file", path="auth.py"),)),
    Says("check does."),
    Says(
        calls=(
            call(
                "edit_file", path="auth.py", old_text="given in stored", new_text="given == stored"
            ),
        )
    ),
    Says("Done."),
    Says("1. Compare them with ==."),
    Says("The plan is carried out."),
    Breaks(Says("A session is kept for an hour, as"), after=4),
    Says("An hour."),
    Says(calls=(call("deployed", service="shop"),)),
    Says("Version 2.7.1."),
]


def aside(asked: Asked) -> Says:
    """Answer what is no part of a turn: titles, summaries, analyses."""
    if "conversation_summary" in asked.text:
        return Says('{"conversation_summary": "It was about passwords."}')
    if "Review this function." in asked.text:
        return Says('{"risk": "It says yes too often.", "reasons": []}')
    if "main_topic" in asked.text:
        insight = {"main_topic": "passwords", "key_findings": ["Compare them whole."]}
        ids = re.findall(r"## id (\d+)", asked.text)
        entries = [{"id": int(number), "output": insight} for number in dict.fromkeys(ids)]
        return Says(json.dumps({"entries": entries} if ids else insight))
    return TITLE


@pytest.fixture
def in_project(environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A process that works in the project, as a reader's would."""
    (project / "auth.py").write_text(AUTH)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(project)
    return project


async def test_the_page_on_the_library_runs_from_top_to_bottom(
    environ: dict[str, str],
    in_project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with ChatServer(OpenAiWire(), SCRIPT, aside) as server:
        for name, value in with_model(environ, server).items():
            monkeypatch.setenv(name, value)
        names = await run_blocks(ROOT / "docs" / "library.md")

    told = capsys.readouterr().out
    for words in (
        "In auth.py.",
        "grep_files {'pattern'",
        "[read_file {'path': 'auth.py'}]",
        "+    return given == stored",
        "1. Compare them with ==.",
        "An hour.",
        "Version 2.7.1.",
        "It was about passwords.",
        "Compare them whole.",
        "auth.py:5-6 check",
        "We deploy on Mondays",
        "It says yes too often. 0 calls of tools",
        "No conversation",
    ):
        assert words in told, words
    assert "given in stored" in (in_project / "auth.py").read_text(), "the edit was taken back"
    assert names["response"].content == "An hour."
    assert names["similar"].conversation.title


@pytest.mark.both_engines
async def test_the_readmes_program_runs(
    in_project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = await run_blocks(ROOT / "README.md")
    await names["main"]()

    assert "In src/auth.py." in capsys.readouterr().out


async def test_the_tool_that_the_page_on_tools_makes_can_be_called(
    in_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragforge.tools.tool.load_prompt", lambda package, name: "Count lines.")
    names = await run_blocks(ROOT / "docs" / "add-a-tool.md")
    tool = names["make_count_tool"](Workspace.at(in_project))

    assert tool.spec.name == "count_lines"
    assert await tool.run({"path": "auth.py"}) == {"file": "auth.py", "lines": 6}
    with pytest.raises(OutsideProject):
        await tool.run({"path": "../elsewhere"})
    with pytest.raises(InputError, match="cannot be read"):
        await tool.run({"path": "nothing.py"})


async def run_blocks(page: Path) -> dict[str, Any]:
    """Run the Python of a page, one block after the other, and return the names it made."""
    text = page.read_text("utf-8")
    names: dict[str, Any] = {}
    blocks = list(BLOCK.finditer(text))
    assert blocks
    for block in blocks:
        line = text[: block.start(1)].count("\n")
        tree = ast.parse(block[1], str(page))
        ast.increment_lineno(tree, line)
        code = compile(tree, str(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        result = eval(code, names)
        if inspect.isawaitable(result):
            await result
    return names
