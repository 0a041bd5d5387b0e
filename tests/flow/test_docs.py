"""The code of the documentation runs unchanged, on every engine."""

from __future__ import annotations

import ast
import inspect
import io
import json
import re
from collections.abc import Awaitable, Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from ragforge.domain.instants import now
from ragforge.domain.schema import SUMMARY
from ragforge.errors import InputError, OutsideProject
from ragforge.tools.workspace import Workspace
from tests.fakes.builders import mention, summary
from tests.fakes.chat_server import Breaks, ChatServer, Step
from tests.fakes.http_server import Asked
from tests.fakes.talking import TITLE, call, with_model
from tests.fakes.wires import OpenAiWire, Says

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\n\n```text\n(?P<shown>.*?)^```$)?", re.DOTALL | re.MULTILINE
)
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
    """Answer what is not part of a turn: titles, summaries, analyses."""
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
    """A process that works in the project, as that of a reader would."""
    (project / "auth.py").write_text(AUTH)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(project)
    return project


async def test_the_page_on_the_library_runs_from_top_to_bottom(
    environ: dict[str, str],
    in_project: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with ChatServer(OpenAiWire(), SCRIPT, aside) as server:
        for name, value in with_model(environ, server).items():
            monkeypatch.setenv(name, value)
        names = await run_blocks(ROOT / "docs" / "library.md", remember_a_summary)

    assert "given in stored" in (in_project / "auth.py").read_text(), "the edit was taken back"
    assert names["response"].content == "An hour."
    assert names["similar"].conversation.title


async def remember_a_summary(code: str, names: dict[str, Any]) -> None:
    """Make what a long conversation gets in the background, where a page is about to show it."""
    if "get_summaries_mentioning_file" in code:
        timeline = names["agent"].app.store.timeline
        told = "Passwords were compared in parts."
        about = {"conversation_summary": told, "key_findings": ("Compare them whole.",)}
        made = summary(names["conversation"].id, 0, 2, created_at=now(), **about)
        await timeline.save_summary(made)
        await timeline.link(SUMMARY, made.uuid, [], [mention("auth.py")])


@pytest.mark.both_engines
async def test_the_readmes_program_prints_what_is_shown(in_project: Path) -> None:
    await run_blocks(ROOT / "README.md", end="await main()")


@pytest.mark.parametrize("shown", ["a\n", "a\n…b\n", "…b\n", ""])
def test_a_page_that_shows_something_else_is_noticed(shown: str) -> None:
    assert_shown("a\nb\n", "a\n…b\n", "here")
    with pytest.raises(AssertionError, match="here shows"):
        assert_shown("a\nc\n", shown, "here")


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


Prepare: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[None]]


async def run_blocks(page: Path, prepare: Prepare | None = None, end: str = "") -> dict[str, Any]:
    """Run the Python of a page, one block after the other, and return the names it made.

    What a block prints, with the line at its end, is shown below it; `…` leaves something out.
    """
    text = page.read_text("utf-8")
    names: dict[str, Any] = {}
    blocks = list(BLOCK.finditer(text))
    assert blocks
    for block in blocks:
        if prepare is not None:
            await prepare(block["code"], names)
        line = text[: block.start("code")].count("\n")
        tree = ast.parse(block["code"] + end, str(page))
        ast.increment_lineno(tree, line)
        code = compile(tree, str(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        printed = io.StringIO()
        with redirect_stdout(printed):
            result = eval(code, names)
            if inspect.isawaitable(result):
                await result
        assert_shown(printed.getvalue(), block["shown"] or "", f"{page.name}:{line}")
    return names


def assert_shown(printed: str, shown: str, place: str) -> None:
    """Check that a page shows what was printed."""
    shown = shown.replace("\n…\n", "\n…")  # lines, or none
    pattern = ".*?".join(map(re.escape, shown.split("…")))
    is_so = re.fullmatch(pattern, printed, re.DOTALL) is not None
    assert is_so, f"{place} shows\n{shown}\nand prints\n{printed}"
