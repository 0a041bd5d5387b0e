"""The view of a turn: finished parts are printed for good, the rest is redrawn below them."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from ragforge import events
from ragforge.domain.receipts import Receipt
from ragforge.events import Text as Words
from ragforge.show.call_lines import (
    format_call,
    format_last_lines,
    format_plan,
    format_receipt,
    get_changed_path,
)
from ragforge.show.calls import format_count, format_headline, get_failed_output
from ragforge.show.console import fit_line, sanitise
from ragforge.show.diffs import format_diff
from ragforge.show.events import count_attempt, format_retry
from ragforge.show.markdown import dim_text, render_markdown
from ragforge.show.screen import LastLines, Redrawn, Screen, TypedLine

TALLEST = 20  # lines of an answer that is being written
DIFF_LINES = 60
FAILED_LINES = 5
PROBLEM_CHARS = 300
PRINTED_LINES = 5  # of a running command
SEEN_CHARS = 10_000
"""Diffs with the same beginning of this length are equal: a result has only the beginning."""

_FENCE = re.compile(r"( *)(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r"#{1,6}(\s|$)")


class TurnView:
    """Shows the events of one turn. Use it in `async with`, and pass it every event."""

    def __init__(
        self,
        screen: Screen,
        *,
        verbose: bool = False,
        calls_out: Console | None = None,
        typed: TypedLine | None = None,
    ) -> None:
        """With the line `typed` below, Esc interrupts."""
        self.calls: list[events.ToolFinished] = []
        self.receipt: Receipt | None = None
        self.window_share: float | None = None
        self._screen = screen
        self._calls_out = calls_out or screen.out  # where lines of tool calls go
        self._verbose = verbose
        self._blocks = Blocks()
        self._running: dict[tuple[int, str], tuple[events.ToolStarted, float]] = {}
        self._printed = LastLines(PRINTED_LINES)  # by the command that runs
        self._seen_diffs: set[str] = set()  # the user was asked about these
        self._thought: list[str] = []
        self._thinking_since: float | None = None
        self._began = time.monotonic()
        self._waiting: tuple[str, float] | None = None  # for what, and since when
        self._retry: tuple[events.Waiting, float] | None = None  # an attempt, and when it begins
        self._has_told = False  # that a model works
        self._gap = False  # whether an empty line comes before the next block
        self._interrupt_key = "Ctrl-C" if typed is None else "Esc"
        self._typed = typed
        self._below = Redrawn(screen, self._render_unfinished, typed)
        self._kept: list[events.Event] | None = None  # what happens while the view is paused

    async def __aenter__(self) -> TurnView:
        self._below.begin()
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        self._finish_words()
        for call, _ in self._running.values():
            self._print(self._format_interrupted(call))
        self._running.clear()
        self._below.end()

    def on_event(self, event: events.Event) -> None:
        """Show an event, or keep it while the view is paused."""
        if self._kept is not None:
            self._kept.append(event)
            return
        match event:
            case events.ContextBuilt(receipt=receipt):
                self.receipt = receipt
                self._print(dim_text(format_receipt(receipt)))
                self._gap = True
            case events.Waiting():
                self._wait(event)
            case events.Reasoning(text=text):
                self._waiting = self._retry = None
                self._add_thought(text)
            case Words(text=text):
                self._waiting = self._retry = None
                self._finish_thinking()
                for block in self._blocks.feed(text):
                    self._print_block(block)
            case events.ToolStarted():
                self._waiting = self._retry = None
                self._finish_words()
                self._running[event.depth, event.id] = event, time.monotonic()
                self._printed = LastLines(PRINTED_LINES)
            case events.CommandPrinted(text=text):
                self._printed.add(text)
            case events.ToolFinished():
                self._finish_call(event)
            case events.Used():
                self.window_share = event.window_share
            case events.Noticed(text=text):
                self._calls_out.print(Text(sanitise(text), style="yellow"))
            case events.Done():
                self._finish_words()

    def refresh(self) -> None:
        """Show what is not finished as it is now."""
        self._below.refresh()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Leave the screen to a question for a while; calls may continue meanwhile."""
        self._below.pause()
        self._kept = []
        began = time.monotonic()
        try:
            with nullcontext() if self._typed is None else self._typed.pause():
                yield
        finally:
            kept, self._kept = self._kept, None
            waited = time.monotonic() - began  # for the user: not a part of the calls' time
            self._running = {
                key: (call, since + waited) for key, (call, since) in self._running.items()
            }
            self._below.resume()
            for event in kept:
                self.on_event(event)

    async def wait_for_quiet(self) -> None:
        """Return when the user has stopped typing: a key is not meant for a new question."""
        if self._typed is not None:
            await self._typed.wait_for_quiet()

    def mark_seen(self, diff: str) -> None:
        """Remember a diff that the user has seen: it is not shown again."""
        self._seen_diffs.add(diff.strip()[:SEEN_CHARS])

    def _finish_call(self, call: events.ToolFinished) -> None:
        self._running.pop((call.depth, call.id), None)
        self._printed = LastLines(PRINTED_LINES)
        self.calls.append(call)
        signs = self._screen.signs
        self._gap = True
        self._calls_out.print(format_call(call, signs, self._screen.out.width - 1))
        result = call.result if isinstance(call.result, dict) else {}
        indent = 2 * call.depth + 2
        diff, items = result.get("diff"), result.get("items")
        if isinstance(diff, str) and diff.strip()[:SEEN_CHARS] not in self._seen_diffs:
            width = self._screen.out.width - 1 - indent
            path = get_changed_path(call)
            self._print_some(format_diff(diff, path, self._screen.out, width), indent)
        elif call.name == "plan" and isinstance(items, list):
            self._print_some(format_plan(items, signs), indent)
        elif call.success and (output := get_failed_output(call.result)):
            self._print_some(format_last_lines(output, FAILED_LINES), indent)

    def _wait(self, event: events.Waiting) -> None:
        if event.problem:
            if not self._screen.can_redraw:
                self._calls_out.print(Text(sanitise(format_retry(event)), style="yellow"))
            self._waiting, self._retry = None, (event, time.monotonic() + event.seconds)
            return
        self._retry = None
        what = f"waiting for {sanitise(event.model)}"
        if self._screen.signs.is_plain and not self._has_told:
            self._has_told = True  # once in a turn: there is no line that is drawn again
            self._print(dim_text(f"{event.model} works on your question. Ctrl-C interrupts."))
        if event.chars:  # a slow model reads them for minutes before its first word
            what = f"{sanitise(event.model)} works on {event.chars:,} characters"
        self._waiting = what, time.monotonic()

    def _print_some(self, lines: list[Text], indent: int) -> None:
        shown = lines[:DIFF_LINES]
        if len(lines) > len(shown):
            shown.append(Text(f"… {len(lines) - len(shown)} more lines: /expand", style="dim"))
        self._calls_out.print(Padding(Group(*shown), (0, 0, 0, indent), expand=False))

    def _add_thought(self, text: str) -> None:
        self._thought.append(text)
        if self._thinking_since is None:
            self._thinking_since = time.monotonic()

    def _finish_thinking(self) -> None:
        if self._thinking_since is None:
            return
        seconds = round(time.monotonic() - self._thinking_since)
        self._thinking_since = None
        thought = "".join(self._thought).strip()
        self._thought.clear()
        if self._verbose or seconds:
            self._print(dim_text(thought if self._verbose else f"thought for {seconds} s"))
            self._gap = True

    def _finish_words(self) -> None:
        """Print the text and thoughts so far: something else follows."""
        self._finish_thinking()
        for block in self._blocks.close():
            self._print_block(block)

    def _print_block(self, block: str) -> None:
        if self._gap:
            self._print(Text())
        self._gap = True
        self._print(render_markdown(block))

    def _print(self, shown: RenderableType) -> None:
        self._screen.out.print(shown)

    def _format_interrupted(self, call: events.ToolStarted) -> Text:
        line = Text(f"{'  ' * call.depth}{self._screen.signs.failed} ", style="red")
        line.append(f"{sanitise(call.name)} {format_headline(call.arguments)}  interrupted")
        return line

    def _render_unfinished(self) -> RenderableType:
        """Return what is not finished: text, thoughts, calls, and the time so far."""
        out = self._screen.out
        height = max(1, min(out.height - 3 - len(self._running), TALLEST))
        shown: list[RenderableType] = []
        if rest := self._blocks.tail(height).strip("\n"):
            shown += [Text()] if self._gap else []
            shown.append(render_markdown(rest, height))
        now = time.monotonic()
        frame = self._below.choose_frame()
        for call, since in self._running.values():
            what = f"{sanitise(call.name)} {format_headline(call.arguments)}"
            line = f"{'  ' * call.depth}{frame} {what}"
            shown.append(
                self._format_line(f"{fit_line(line, out.width - 10)}  {now - since:.0f} s")
            )
        shown += self._render_printed()
        if self._thinking_since is not None:
            last = fit_line("".join(self._thought)[-200:], 200) if self._verbose else ""
            seconds = now - self._thinking_since
            shown.append(self._format_line(f"{frame} thinking… {seconds:.0f} s {last}"))
        elif not self._running:
            shown.append(self._format_line(f"{frame} {self._describe_wait(now)}"))
        return Group(*shown)

    def _render_printed(self) -> list[Text]:
        """Return the end of what the running command has printed, and how much came before."""
        lines = self._printed.get()
        if hidden := self._printed.count_hidden():
            lines.insert(0, f"… {format_count(hidden, 'line', 'lines')} before")
        return [self._format_line(f"    {sanitise(line)}") for line in lines]

    def _describe_wait(self, now: float) -> str:
        """Return for whom the user waits, and since when."""
        if self._retry is not None:
            return _describe_retry(*self._retry, now)
        what, since = "writing", self._began
        if self._waiting is not None:
            what, since = self._waiting
        elif self.receipt is None:
            what = "searching memory and code"
        return f"{what}  {now - since:.0f} s  {self._interrupt_key} interrupts"

    def _format_line(self, text: str) -> Text:
        line = Text(text, style="dim", no_wrap=True, overflow="ellipsis")
        line.truncate(max(self._screen.out.width - 1, 10))
        return line


def _describe_retry(event: events.Waiting, begins: float, now: float) -> str:
    """Return which attempt comes when, and why the last one failed."""
    when = f", in {begins - now:.0f} s" if begins > now else ""
    problem = fit_line(event.problem, PROBLEM_CHARS).rstrip(".")
    model = sanitise(event.model)
    who = "" if problem.startswith(model) else f"{model}: "  # room for the reason in 80 columns
    return f"{who}attempt {count_attempt(event)}{when}: {problem}"


class Blocks:
    """Receives text as it comes and returns complete blocks, all of it and in order.

    A block ends with a blank line, unless what follows is indented and so belongs to it; a
    fence and a heading are separate blocks. Every line is processed once.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []  # of the block that is not finished
        self._begun = ""  # the line that is not finished
        self._fence: tuple[int, str] | None = None  # its indent, and what closes it
        self._blank = False  # whether the last line was

    def tail(self, lines: int) -> str:
        """Return the last lines of what is not finished yet, in its fence if it has one."""
        kept = self._lines[-lines:]
        if self._fence is not None and len(kept) < len(self._lines):
            kept = [self._lines[0], *kept]
        return "\n".join([*kept, self._begun])

    def feed(self, text: str) -> list[str]:
        """Take the next piece; return the blocks that are finished with it."""
        *lines, self._begun = (self._begun + text).split("\n")
        finished: list[str] = []
        for line in lines:
            finished += self._take(line.removesuffix("\r"))
        return finished

    def close(self) -> list[str]:
        """Return what is left: nothing follows."""
        finished = self._take(self._begun) if self._begun else []
        self._begun = ""
        self._fence = None
        return finished + self._end()

    def _take(self, line: str) -> list[str]:
        if self._fence is not None:
            return self._take_fenced(line)
        if not line.strip():
            self._blank = True
            self._lines += [line] if self._lines else []
            return []
        finished: list[str] = []
        fence = _find_fence(line)
        begins = self._blank or fence is not None or _HEADING.match(line)
        if begins and not line[0].isspace():
            finished = self._end()
        self._blank = False
        self._lines.append(line)
        self._fence = fence
        return finished + (self._end() if _HEADING.match(line) else [])

    def _take_fenced(self, line: str) -> list[str]:
        assert self._fence is not None
        self._lines.append(line)
        indent, mark = self._fence
        text = line.strip()
        if len(text) < len(mark) or text.strip(mark[0]):
            return []
        self._fence = None
        return self._end() if indent == 0 else []

    def _end(self) -> list[str]:
        block = "\n".join(self._lines).rstrip()
        self._lines = []
        self._blank = False
        return [block] if block else []


def _find_fence(line: str) -> tuple[int, str] | None:
    """Return the indent and the mark of a fence that a line opens."""
    found = _FENCE.fullmatch(line)
    if found is None or (found[2][0] == "`" and "`" in found[3]):
        return None
    return len(found[1]), found[2]
