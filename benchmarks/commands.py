"""What does a command cost from the start of its process to its end?

    python -m benchmarks.commands [--django FOLDER] [--rounds 5] [--servers]

Commands run in fresh processes, from bytecode, with nothing configured but the store: in a project
of a few files, and in Django. Those of one round run one after the other, with a Python that does
nothing and ripgrep; the best of all rounds counts. Seconds are of CPU, user and system, with
children. Of the terminal, it is the CPU of its process when its prompt is seen; with `--servers`
also with ten MCP servers configured, three of them dead.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil

from benchmarks.ingest import copy_project
from benchmarks.mcp import MINIMAL
from benchmarks.measure import (
    Program,
    Row,
    clean_environ,
    make_parser,
    require,
    run_command,
    save,
)
from benchmarks.peers import add_places
from ragforge.tools.ripgrep import find_ripgrep
from tests.fakes.projects import SHOP, write
from tests.fakes.terminal import ENTER, Terminal

BARS = {
    "--version": 0.08,
    "--help": 0.08,
    "status, tiny": 0.25,
    "search, tiny": 0.35,
    "search, Django": 0.55,
    "ask, tiny": 0.5,
    "ask, Django": 0.8,
    "terminal to prompt": 0.45,
}
QUESTIONS = {
    "tiny": "Where is the price of an item looked up?",
    "Django": "Where is the session cookie set and signed?",
}
DEAD = {
    "missing": {"command": "/no/such/program"},
    "ending": {"command": "sh", "args": ["-c", "exit 1"]},
    "silent": {"command": "sleep", "args": ["1000"]},
}
LIVE = {f"live{n}": {"command": sys.executable, "args": ["-c", MINIMAL]} for n in range(7)}


def measure_commands(work: Path, django: Path | None, rounds: int) -> dict[str, float]:
    """Return the CPU seconds of each command, the best of some rounds."""
    projects = {"tiny": make_project(work / "tiny", None)}
    if django is not None:
        projects["Django"] = make_project(work / "django", django)
    first = projects["tiny"]
    environ = clean_environ(first.work)
    ripgrep = find_ripgrep()
    calls: dict[str, Callable[[], tuple[float, str]]] = {
        "Python that does nothing": lambda: call_peer([sys.executable, "-c", "print('no')"]),
        "--version": lambda: call(first, "--version"),
        "--help": lambda: call(first, "--help"),
        "status, tiny": lambda: call(first, "status", "--json"),
    }

    def call(program: Program, *arguments: str) -> tuple[float, str]:
        cost = program(*arguments)
        return cost.cpu, cost.output

    def call_peer(command: list[str]) -> tuple[float, str]:
        cost = run_command(command, projects["Django" if django else "tiny"].cwd, environ)
        return cost.cpu, cost.output

    if ripgrep is not None:
        calls["ripgrep --version"] = lambda: call_peer([ripgrep, "--version"])
        calls["ripgrep, a word in all files"] = lambda: call_peer([ripgrep, "-lwi", "item"])
    for name, program in projects.items():
        question = QUESTIONS[name]
        search, ask = ("search", question, "--json"), ("ask", question, "--output", "json")
        calls[f"search, {name}"] = lambda program=program, given=search: call(program, *given)
        calls[f"ask, {name}"] = lambda program=program, given=ask: call(program, *given)
    seconds: dict[str, list[float]] = defaultdict(list)
    for number in range(rounds + 1):
        for name, run in calls.items():
            cpu, output = run()
            check_output(name, output)
            if number:  # the first round writes bytecode and warms the caches of files
                seconds[name].append(cpu)
    return {name: round(min(some), 3) for name, some in seconds.items()}


def make_project(work: Path, source: Path | None) -> Program:
    """Return a program in an ingested copy of a project, or in one of a few files."""
    work.mkdir()
    made = source or work / "made"
    if source is None:
        write(made, SHOP)
    copy_project(made, work / "project")
    program = Program(work, work / "project")
    program("ingest")
    return program


def check_output(name: str, output: str) -> None:
    """End the benchmark if a command did not say what it should."""
    if name == "--help":
        require("Usage" in output, "`--help` shows no usage.")
    elif name.startswith("status"):
        require(json.loads(output)["files"], "`status` reports no files.")
    elif name.startswith("search"):
        require(json.loads(output)["hits"], f"`search` finds nothing ({name}).")
    elif name.startswith("ask"):
        items = json.loads(output)["receipt"]["items"]
        require(any(one["section"] == "code" for one in items), f"`ask` has no code ({name}).")
    else:
        require(output.strip(), f"`{name}` prints nothing.")


async def measure_start(home: Path, servers: Mapping[str, Any], model: str = "none") -> float:
    """Return the CPU seconds from the start of the terminal's process to its prompt."""
    (home / "user.yaml").write_text(json.dumps({"mcp": {"servers": servers}}))
    environ = clean_environ(home) | {
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "OPENAI_API_KEY": "sk-none",
        "RAGFORGE_STORE": str(home / "store.db"),
        "RAGFORGE_CONFIG": str(home / "user.yaml"),
        "RAGFORGE_JOBS__CLOSING_SECONDS": "0",
        "RAGFORGE_LLM__MODEL": model,
        "RAGFORGE_LLM__BASE_URL": "http://127.0.0.1:9/v1",
    }
    async with Terminal(["-m", "ragforge"], environ, home / "project") as terminal:
        await terminal.prompt()
        used = psutil.Process(terminal.process.pid).cpu_times()
        terminal.type(f"/quit{ENTER}")
        await terminal.ended()
    return float(used.user + used.system)


async def measure_terminal(work: Path, rounds: int, with_servers: bool) -> dict[str, float]:
    """Return the CPU seconds of starting the terminal, the best of some rounds."""
    (work / "project" / ".git").mkdir(parents=True)
    await measure_start(work, {})  # it makes the store
    found = {"terminal to prompt": [await measure_start(work, {}) for _ in range(rounds)]}
    if with_servers:
        found |= {"terminal with a model, no MCP servers": [], "ten MCP servers, three dead": []}
        for _ in range(rounds):  # without a model no connection to servers is made
            for name, servers in zip(list(found)[1:], ({}, {**LIVE, **DEAD}), strict=True):
                found[name].append(await measure_start(work, servers, "openai:none"))
    return {name: round(min(some), 3) for name, some in found.items()}


def make_rows(found: Mapping[str, float]) -> list[Row]:
    """Return the rows of the page."""
    bare, ripgrep = found["Python that does nothing"], found.get("ripgrep, a word in all files")
    peers = {
        "--version": f"bare Python {bare}, ripgrep {found.get('ripgrep --version')}",
        "search, Django": f"ripgrep, a word {ripgrep}",
    }
    return [
        Row(name, seconds, "CPU s", BARS.get(name), peers.get(name, ""))
        for name, seconds in found.items()
        if "ripgrep" not in name
    ]


def main(arguments: list[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--servers", action="store_true", help="also with ten MCP servers")
    add_places(parser)
    chosen: argparse.Namespace = parser.parse_args(arguments)
    django = chosen.django if chosen.django.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="ragforge-commands-") as folder:
        found = measure_commands(Path(folder), django, chosen.rounds)
        terminal = measure_terminal(Path(folder) / "home", chosen.rounds, chosen.servers)
        found |= asyncio.run(terminal)
    save("commands", found, make_rows(found))


if __name__ == "__main__":
    main()
