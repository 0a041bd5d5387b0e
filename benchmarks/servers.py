"""What do configured MCP servers cost the start of the terminal?

    python -m benchmarks.servers [--runs 9]

Ten servers, three of them dead: a program that is not there, one that ends at once, one that never
answers. The others are the reference server `memory`. CPU is that of RagForge's own process when
its prompt is on the screen, with the servers and without, in turns, so that other work on the
machine concerns both alike.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import tempfile
from pathlib import Path
from typing import Any

import psutil

from benchmarks.measure import save
from scripts.mcp_clients import install_clients
from tests.fakes.terminal import ENTER, Terminal

DEAD = {
    "missing": {"command": "/no/such/program"},
    "ending": {"command": "sh", "args": ["-c", "exit 1"]},
    "silent": {"command": "sleep", "args": ["1000"]},
}
LIVE = 7


def make_environ(home: Path, servers: dict[str, Any]) -> dict[str, str]:
    """Return the variables of a user who has configured servers."""
    (home / "user.yaml").write_text(json.dumps({"mcp": {"servers": servers}}))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAGFORGE_")}
    return {
        **kept,
        "HOME": str(home),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "OPENAI_API_KEY": "sk-none",
        "RAGFORGE_STORE": str(home / "store.db"),
        "RAGFORGE_CONFIG": str(home / "user.yaml"),
        "RAGFORGE_AGENT__STATE_DIR": str(home / "state"),
        "RAGFORGE_JOBS__DETACH": "false",
        "RAGFORGE_JOBS__CLOSING_SECONDS": "0",
        "RAGFORGE_LLM__MODEL": "openai:none",  # without a model no connection to servers is made
        "RAGFORGE_LLM__BASE_URL": "http://127.0.0.1:9/v1",
    }


async def measure_start(home: Path, servers: dict[str, Any]) -> float:
    """Return the CPU seconds from the start of the process to its prompt."""
    environ = make_environ(home, servers)
    async with Terminal(["-m", "ragforge"], environ, home / "project") as terminal:
        await terminal.prompt()
        used = psutil.Process(terminal.process.pid).cpu_times()
        terminal.type(f"/quit{ENTER}")
        await terminal.ended()
    return float(used.user + used.system)


async def measure(runs: int) -> dict[str, Any]:
    program = install_clients() / "node_modules" / ".bin" / "mcp-server-memory"
    live = {f"memory{at}": {"command": str(program)} for at in range(LIVE)}
    seconds: dict[str, list[float]] = {"without": [], "with": []}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "project" / ".git").mkdir(parents=True)
        await measure_start(home, {})  # it makes the store
        for _ in range(runs):
            seconds["without"].append(await measure_start(home, {}))
            seconds["with"].append(await measure_start(home, {**live, **DEAD}))
    found = {
        name: {
            "cpu_s_median": round(statistics.median(values), 3),
            "cpu_s_least": round(min(values), 3),
        }
        for name, values in seconds.items()
    }
    return {"runs": runs, "servers": LIVE + len(DEAD), "dead": len(DEAD), **found}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=9)
    results = asyncio.run(measure(parser.parse_args().runs))
    print(json.dumps(results, indent=2))
    print(save("servers", results))
