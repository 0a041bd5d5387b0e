"""The view of a turn: events become lines, in order and whole."""

from __future__ import annotations

import asyncio
import io

import pytest
from rich.console import Console

from ragforge.agent.events import (
    CommandPrinted,
    Reasoning,
    Text,
    ToolFinished,
    ToolStarted,
    Used,
    Waiting,
)
from ragforge.domain.chat import Usage
from ragforge.show.screen import Screen, Signs
from ragforge.show.turn_view import TurnView


@pytest.fixture
def out() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def screen(out: io.StringIO) -> Screen:
    """A screen that is not a terminal: nothing is drawn twice."""
    return Screen(Console(file=out, width=60, color_system=None), Signs())


def finished(name: str, depth: int = 0, **result: object) -> ToolFinished:
    return ToolFinished("1", name, {"path": "a.py"}, result, True, None, 5, depth)


async def test_words_and_calls_come_in_their_order(screen: Screen, out: io.StringIO) -> None:
    async with TurnView(screen) as view:
        for word in ("Let me ", "look.", "\n\nNow"):
            view.on_event(Text(word))
        view.on_event(ToolStarted("1", "edit_file", {"path": "a.py"}))
        view.on_event(finished("edit_file", diff="-a\n+b\n"))
        view.on_event(Used(Usage(3, 4, 1), 0.5))
        view.on_event(Text("Done"))
    assert out.getvalue() == (
        "Let me look.\n\nNow\n✓ edit_file a.py  +1 −1 · 5 ms\n  -a\n  +b\n\nDone\n"
    )
    assert [call.name for call in view.calls] == ["edit_file"]
    assert view.window_share == 0.5


async def test_what_a_silent_model_works_on_is_shown(screen: Screen) -> None:
    async with TurnView(screen) as view:
        view.on_event(Waiting("ollama:qwen", chars=9_800))
        with screen.out.capture() as shown:
            screen.out.print(view._render_unfinished())
        assert "ollama:qwen works on 9,800 characters  0 s" in shown.get()
        view.on_event(Waiting("ollama:qwen", 2, "It is busy.", 3, attempts=5))
        with screen.out.capture() as shown:
            screen.out.print(view._render_unfinished())
        assert "ollama:qwen: attempt 2 of 5, in 3 s: It is busy" in shown.get()


async def test_nothing_is_printed_into_a_question(screen: Screen, out: io.StringIO) -> None:
    async with TurnView(screen) as view:
        with view.pause():
            view.on_event(finished("list_files", depth=1, entries=["a"]))
            assert out.getvalue() == ""
        assert out.getvalue() == "  ✓ list_files a.py  1 entry · 5 ms\n"


async def test_a_diff_that_was_seen_is_not_shown_again(screen: Screen, out: io.StringIO) -> None:
    async with TurnView(screen) as view:
        view.mark_seen("-a\n+b")
        view.on_event(finished("edit_file", diff="-a\n+b\n"))
    assert out.getvalue() == "✓ edit_file a.py  +1 −1 · 5 ms\n"


async def test_an_interrupted_turn_leaves_what_there_was(screen: Screen, out: io.StringIO) -> None:
    view = TurnView(screen, verbose=True)

    async def turn() -> None:
        async with view:
            view.on_event(Reasoning("Hm."))
            view.on_event(Text("Half a sen"))
            view.on_event(ToolStarted("1", "run_command", {"command": "make"}))
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await turn()
    assert out.getvalue() == "Hm.\n\nHalf a sen\n✗ run_command make  interrupted\n"


async def test_a_long_diff_is_cut_and_says_so(screen: Screen, out: io.StringIO) -> None:
    diff = "".join(f"+line {number}\n" for number in range(100))
    async with TurnView(screen) as view:
        view.on_event(finished("write_file", diff=diff))
    assert "… 40 more lines: /expand" in out.getvalue()


async def test_the_last_lines_of_a_running_command_are_shown_until_it_ends(
    out: io.StringIO,
) -> None:
    console = Console(file=out, width=60, height=30, force_terminal=True, color_system=None)
    view = TurnView(Screen(console, Signs()))
    async with view:
        view.on_event(ToolStarted("1", "run_command", {"command": "make"}))
        view.on_event(
            CommandPrinted("".join(f"step {number}\n" for number in range(8)) + "\x1b[1mli")
        )
        view.on_event(CommandPrinted("nk"))
        with view.pause():
            pass  # it is redrawn after a pause
        drawn = out.getvalue()
        view.on_event(ToolFinished("1", "run_command", {}, {"exit_code": 0}, True, None, 5))
    for line in ("run_command make", "… 4 lines before", "    step 4", "    link"):
        assert line in drawn
    assert "step 3" not in drawn
    assert "✓ run_command" in out.getvalue()
