"""Draw the pictures of docs/terminal.md: the terminal at work, in a real pseudo-terminal.

    python -m scripts.picture            the terminal
    python -m scripts.picture demo       a recording of `ragforge demo`, a frame for each step

A little project is made in a temporary directory and the program runs in it as a user would run
it. Everything is real but the model: what it says is written down here, and a local server says it.
"""

from __future__ import annotations

import asyncio
import io
import itertools
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import pexpect
import pyte
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

from ragforge.child_python import python_command
from tests.fakes.chat_server import ChatServer, Step
from tests.fakes.wires import Call, OpenAiWire, Says

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs"
COLUMNS, LINES = 92, 34
SECONDS = 60
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)

FILES = {
    "prices.py": '''"""Prices: what a cart costs."""

VAT = 0.19


def total(lines):
    """Return what the lines of a cart cost with tax."""
    return sum(round(line.net * (1 + VAT), 2) for line in lines)
''',
    "invoice.py": '''"""Invoices."""

from prices import total


def invoice(cart):
    return f"To pay: {total(cart.lines):.2f}"
''',
}
YESTERDAY = "An invoice was one cent off: each line is rounded before they are added up."
QUESTION = "Round the total of the cart only, as we said yesterday."
EDIT = {
    "path": "prices.py",
    "old_text": "return sum(round(line.net * (1 + VAT), 2) for line in lines)",
    "new_text": "return round(sum(line.net for line in lines) * (1 + VAT), 2)",
}
EARLIER = ("Which functions read the cart?", "Who calls total, and with what?")
DOWN = "\x1b[B"
LINE_PIXELS = 24.4  # of rich's pictures
FRAME_SECONDS = 6
MOVING = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} OUTER">
<style>
.demo-matrix {{font-family: Fira Code, Menlo, Consolas, DejaVu Sans Mono, monospace;
  font-size: {char_height}px; line-height: {line_height}px}}
{styles}
.demo-frames {{animation: demo SECONDSs step-end infinite}}
@keyframes demo {{MOVES}}
</style>
<defs>
<clipPath id="demo-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="HEIGHT"/></clipPath>
{lines}
</defs>
<rect fill="#0c0c0c" x="1" y="1" width="{width}" height="OUTER" rx="8"/>
<g transform="translate(26,22)"><circle r="7" fill="#ff5f57"/><circle cx="22" r="7" fill="#febc2e"/>
<circle cx="44" r="7" fill="#28c840"/></g>
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#demo-clip-terminal)">
<g class="demo-frames">{backgrounds}<g class="demo-matrix">{matrix}</g></g>
</g>
</svg>
"""
SCRIPT: list[Step] = [
    Says("Noted: `total` rounds every line, so the sum can be off by a cent."),
    Says(
        calls=(
            Call("search_memory", {"query": "rounded one cent off"}, "a"),
            Call("explore_code", {"name": "total"}, "b"),
        )
    ),
    Says(calls=(Call("edit_file", EDIT, "c"),)),
    Says(
        "The sum is rounded **once** now, so no cent is lost on the way:\n\n"
        "- `prices.py:8` is the only place that rounds\n"
        "- `invoice.py:7` shows it with two digits and needs no change\n"
    ),
]


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = _project(Path(folder) / "shop")
        title = Says('{"title": "An invoice one cent off"}')
        async with ChatServer(OpenAiWire(), SCRIPT, aside=title) as server:
            variables = {
                **os.environ,
                "HOME": folder,
                "RAGFORGE_STORE": f"{folder}/store.db",
                "RAGFORGE_AGENT__STATE_DIR": f"{folder}/state",
                "RAGFORGE_AGENT__CONTEXT__PLAN_BY": "rules",
                "RAGFORGE_LLM__MODEL": "openai:gpt-4o-mini",
                "RAGFORGE_LLM__BASE_URL": server.base_url,
                "RAGFORGE_JOBS__DETACH": "false",
                "TERM": "xterm-256color",
                "COLORTERM": "truecolor",
            }
            await asyncio.to_thread(_draw_all, project, variables)


def _project(project: Path) -> Path:
    project.mkdir()
    subprocess.run(["git", "init", "-q", project], check=True)
    for name, text in FILES.items():
        (project / name).write_text(text)
    return project


def _draw_all(project: Path, variables: dict[str, str]) -> None:
    program = [sys.executable, "-m", "ragforge"]
    alone = {**variables, "RAGFORGE_LLM__MODEL": "none"}
    for words, environ in (
        (["ingest"], variables),
        (["ask", YESTERDAY], variables),
        *((["ask", question], alone) for question in EARLIER),
        (["memory", "work"], variables),
    ):
        subprocess.run(
            [*program, *words], cwd=project, env=environ, check=True, capture_output=True
        )
    screen = pyte.Screen(COLUMNS, LINES)
    with _terminal(program, project, variables, screen) as see:
        see("❯").send(f"{QUESTION}\r")
        see("Allow?").send(DOWN)
        see("❯ 1 y")
        _draw("permission", screen)
        see("Allow?").send("\r")
        see("needs no change")
        see("tokens")
        _draw("terminal", screen)
        see("❯").send("/")
        see("/help")
        _draw("completion", screen)
    screen.reset()
    with _terminal([*program, "-r"], project, alone, screen) as see:
        see("Esc leaves").send(DOWN)
        see("Esc leaves")
        _draw("picker", screen)
    screen.reset()
    with _terminal(program, project, alone, screen) as see:
        see("❯").send("What does a cart cost with tax?\r")
        see("See also")
        _draw("found", screen)


@contextmanager
def _terminal(
    program: list[str], project: Path, variables: dict[str, str], screen: pyte.Screen
) -> Iterator[Callable[[str], pexpect.spawn]]:
    stream = pyte.ByteStream(screen)
    child = pexpect.spawn(
        program[0], program[1:], cwd=str(project), env=variables, dimensions=(LINES, COLUMNS)
    )
    screen.write_process_input = child.send  # it is asked where its cursor is

    def see(text: str) -> pexpect.spawn:
        """Wait until a text is on the screen, and a moment more."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            try:
                stream.feed(_keep_faint(child.read_nonblocking(65_536, timeout=0.5)))
            except pexpect.TIMEOUT:
                if any(text in line for line in screen.display):
                    return child
        raise SystemExit("\n".join(["It did not come:", text, *screen.display]))

    try:
        yield see
    finally:
        child.close(force=True)


def _keep_faint(written: bytes) -> bytes:
    """Return what was written with faint letters in grey: the screen knows no faint ones."""
    return written.replace(b"\x1b[2m", b"\x1b[90m")


def _draw(name: str, screen: pyte.Screen) -> None:
    """Write the screen as a picture."""
    file = PICTURES / f"{name}.svg"
    file.write_text(_render(screen))
    print(file)


def _render(screen: pyte.Screen) -> str:
    """Return the screen as SVG."""
    console = _print_lines(_read_lines(screen))
    drawn = console.export_svg(title="ragforge", theme=MONOKAI)
    return _FONTS.sub("", drawn)  # a picture loads nothing from elsewhere


def _read_lines(screen: pyte.Screen) -> list[Text]:
    """Return the lines of a screen as they are coloured, without empty ones at the end."""
    lines = []
    for row in range(screen.lines):
        line = Text()
        cells = [screen.buffer[row][column] for column in range(COLUMNS)]
        for style, same in groupby(cells, _style):
            line.append("".join(cell.data for cell in same), style)
        line.rstrip()
        lines.append(line)
    while lines and not lines[-1].plain:
        lines.pop()
    return lines


def _print_lines(lines: Iterable[Text]) -> Console:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    for line in lines:
        console.print(line)
    return console


def draw_demo() -> None:
    """Record `ragforge demo` and write it as a moving picture."""
    screen = pyte.Screen(COLUMNS, 400)
    stream = pyte.ByteStream(screen)
    command = python_command("ragforge", "demo", "--yes")
    written, code = pexpect.run(
        shlex.join(command),
        env={"PATH": os.environ["PATH"], "TERM": "xterm-256color", "COLORTERM": "truecolor"},
        dimensions=(400, COLUMNS),
        timeout=SECONDS * 5,
        withexitstatus=True,
    )
    if code:
        raise SystemExit(written.decode())
    stream.feed(_keep_faint(written))
    file = PICTURES / "demo.svg"
    file.write_text(_animate(_split_steps(_read_lines(screen))))
    print(file)


def _split_steps(lines: list[Text]) -> list[list[Text]]:
    """Return the lines of each step; the welcome is a part of the first."""
    starts = [at for at, line in enumerate(lines) if line.plain.startswith("$ ragforge")]
    edges = [_find_start(lines, at) for at in starts]
    edges[0] = 1
    return [lines[a:b] for a, b in itertools.pairwise((*edges, len(lines) - 1))]


def _find_start(lines: list[Text], at: int) -> int:
    """Return where the text above a command begins."""
    while lines[at - 1].plain:
        at -= 1
    return at


def _animate(frames: list[list[Text]]) -> str:
    """Return frames as one SVG that shows them one after another."""
    height = max(map(len, frames))
    filled = (line for frame in frames for line in (*frame, *[Text()] * (height - len(frame))))
    console = _print_lines(filled)
    step = 100 / len(frames)
    shift = height * LINE_PIXELS
    moves = "".join(
        f"{at * step:.2f}%{{{{transform:translateY({-at * shift:.1f}px)}}}}"
        for at in range(len(frames))
    )
    values = {
        "MOVES": moves,
        "SECONDS": str(FRAME_SECONDS * len(frames)),
        "HEIGHT": f"{shift:.1f}",
        "OUTER": f"{shift + 58:.1f}",
    }
    template = re.sub(r"[A-Z]{5,}", lambda name: values[name[0]], MOVING)
    drawn = console.export_svg(theme=MONOKAI, code_format=template, unique_id="demo")
    return re.sub(r" +$", "", drawn, flags=re.MULTILINE)


def _style(cell: pyte.screens.Char) -> Style:
    return Style(
        color=_colour(cell.fg),
        bgcolor=_colour(cell.bg),
        bold=cell.bold,
        italic=cell.italics,
        underline=cell.underscore,
        reverse=cell.reverse,
    )


def _colour(name: str) -> str | None:
    if name == "default":
        return None
    named = {"brown": "yellow", "brightblack": "bright_black"}
    if len(name) == 6 and all(sign in "0123456789abcdef" for sign in name):
        return f"#{name}"
    return named.get(name, name.replace("bright", "bright_"))


if __name__ == "__main__":
    if sys.argv[1:] == ["demo"]:
        draw_demo()
    else:
        asyncio.run(main())
