"""What does `ragforge mcp` cost an agent, compared with the smallest server with the official SDK?

    python -m benchmarks.mcp [--turns 2000] [--runs 7] [--servers 20]

Start is from the process to the answer of `tools/list`; the first call opens the store; the warm
ones are `recall`. CPU and memory are those of the server as the system counts them, so that other
work on the machine does not matter. Then many servers are asked at once on one store.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

from benchmarks.measure import Row, clean_environ, make_parser, require, save
from benchmarks.memory_scale import Talker
from ragforge.app.opening import open_app
from ragforge.config.layers import load_settings

OWN = (sys.executable, "-m", "ragforge", "mcp")
MINIMAL = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("minimal")
@server.tool()
def recall(query: str) -> str:
    return query
server.run()
"""
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
SESSIONS = 20
WARM = 20


class Server:
    """A server, asked line by line."""

    def __init__(self, command: Sequence[str], cwd: Path, environ: dict[str, str]) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, cwd=cwd, env=environ, text=True
        )
        self._system = psutil.Process(self.process.pid)
        self._id = 0

    def send(self, method: str, **params: Any) -> None:
        self._id += 1
        message = {"id": self._id, "method": method, "params": {**params, "_meta": META}}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        while True:
            message: dict[str, Any] = json.loads(self.process.stdout.readline())
            if message.get("id") == self._id:
                return message

    def recall(self, query: str) -> dict[str, Any]:
        self.send("tools/call", name="recall", arguments={"query": query})
        return self.receive()

    def measure_cpu(self) -> float:
        times = self._system.cpu_times()
        return times.user + times.system

    def measure_megabytes(self) -> float:
        return self._system.memory_info().rss / 1e6

    def close(self) -> None:
        self.process.communicate()


async def fill(environ: dict[str, str], root: Path, turns: int) -> None:
    """Store conversations of one project."""
    settings = load_settings(root, environ=environ).settings
    talker = Talker()
    async with open_app(settings, root, work=False) as app:
        sessions = min(SESSIONS, turns)
        for number in range(sessions):
            session = await app.sessions.create(f"Session {number}")
            said = [one for _ in range(turns // sessions) for one in talker.turn(number)]
            await app.store.timeline.append(session.uuid, said)


def measure_one(command: Sequence[str], root: Path, environ: dict[str, str]) -> dict[str, float]:
    """Return what one server costs from start to warm calls."""
    server = Server(command, root, environ)
    server.send("tools/list")
    require(server.receive()["result"]["tools"], "A server lists no tools.")
    found = {"start_cpu_s": server.measure_cpu(), "start_mb": server.measure_megabytes()}
    before = server.measure_cpu()
    reply = server.recall("reading a file in pieces")
    require(reply["result"]["content"][0]["text"], "`recall` answers nothing.")
    found["first_call_cpu_s"] = server.measure_cpu() - before
    found["open_mb"] = server.measure_megabytes()
    before = server.measure_cpu()
    for number in range(WARM):
        server.recall(f"how is number {number} parsed")
    found["warm_call_cpu_ms"] = (server.measure_cpu() - before) / WARM * 1000
    server.close()
    return found


def measure_many(count: int, root: Path, environ: dict[str, str]) -> dict[str, float]:
    """Ask many servers on one store at once; half of their calls write."""
    servers = [Server(OWN, root, environ) for _ in range(count)]
    for server in servers:
        server.send("tools/call", name="remember", arguments={"text": f"Note {id(server)}"})
    kept = [server.receive()["result"].get("isError", False) for server in servers]
    for server in servers:
        server.send("tools/call", name="recall", arguments={"query": "reading a file"})
    found = [server.receive()["result"].get("isError", False) for server in servers]
    require(not any(found), f"{sum(found)} of {count} servers could not recall.")
    total = {
        "servers": count,
        "failed_calls": sum(kept) + sum(found),
        "cpu_s_each": sum(server.measure_cpu() for server in servers) / count,
        "mb_each": sum(server.measure_megabytes() for server in servers) / count,
    }
    for server in servers:
        server.close()
    return total


def summarise(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(statistics.median(run[name] for run in runs), 3) for name in runs[0]}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--servers", type=int, default=20)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="ragforge-mcp-") as folder:
        root = Path(folder) / "project"
        (root / ".git").mkdir(parents=True)
        environ = clean_environ(Path(folder)) | {"RAGFORGE_STORE": f"{folder}/store.db"}
        asyncio.run(fill(environ, root, given.turns))
        own = summarise([measure_one(OWN, root, environ) for _ in range(given.runs)])
        minimal = (sys.executable, "-c", MINIMAL)
        sdk = summarise([measure_one(minimal, root, environ) for _ in range(given.runs)])
        many = measure_many(given.servers, root, environ)
    found = {"turns": given.turns, "ragforge": own, "official_sdk": sdk, "many": many}
    print(json.dumps(found, indent=2))
    rows = [
        Row("`mcp`: start", own["start_cpu_s"], "CPU s", peer=f"SDK {sdk['start_cpu_s']}"),
        Row("`mcp`: a warm `recall`", own["warm_call_cpu_ms"], "CPU ms"),
        Row("`mcp`: memory", round(own["open_mb"]), "MB", peer=f"SDK {sdk['open_mb']:.0f}"),
    ]
    save("mcp", found, rows)


if __name__ == "__main__":
    main()
