"""What does `ragforge hook` cost an agent, and is it in time when the machine is busy?

    python -m benchmarks.hook [--long 1000] [--short 20000] [--runs 40]
    python -m benchmarks.hook --busy 8 [--prompts 200]
    python -m benchmarks.hook --neo4j

The hook is started as agents start it: a separate process, a JSON object on its standard input,
with the transcript of a live session of 2 MB. CPU is that of the process and of all that it
starts, user and system. A prompt may take 0.15 s, the start of a session 0.10 s; with a Neo4j
server 0.35 s.

With --busy prompts are sent while other processes keep every core busy. How many were answered
before the deadline is read from the log of outcomes, and each answer is compared with what came out
on standard output. Stores are made once, in --folder, and used again.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.hook_stores import LONG_TURNS, SHORT_TURNS, Worker, fill
from benchmarks.measure import Row, clean_environ, make_parser, megabytes, percentile, require, save
from ragforge.app.hook.outcomes import HookOutcome, read_outcomes
from ragforge.child_python import python_command

BARS = {"prompt": 0.15, "start": 0.10}
SERVER_BAR = 0.35
MIN_IN_TIME = 0.95
TRANSCRIPT_BYTES = 2_000_000
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER


@dataclass(frozen=True, slots=True)
class Place:
    """A project with a store, and the live session of an agent in it."""

    name: str
    worker: Worker
    environ: dict[str, str]
    transcript: Path
    sessions: int  # how many sessions there are to ask about

    @property
    def state(self) -> Path:
        return Path(self.environ["RAGFORGE_AGENT__STATE_DIR"])


@dataclass(frozen=True, slots=True)
class Ran:
    """One call of the hook."""

    cpu: float
    wall: float
    chars: int  # of the context that came out
    is_clean: bool  # it ended with 0 and said nothing on stderr


def make_place(folder: Path, name: str, long: int, short: int, store: str = "") -> Place:
    """Return a place whose store holds this many turns; it is created if it does not exist."""
    home = folder / f"{name}-{long}-{short}"
    root = home / "project"
    (root / ".git").mkdir(parents=True, exist_ok=True)
    environ = clean_environ(home) | {
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "RAGFORGE_AUTHOR": "Ann <ann@example.org>",
        "RAGFORGE_STORE": store or str(home / "store.db"),
    }
    worker = Worker(root)
    made = home / "made"
    if store or not made.exists():
        for old in home.glob("store.db*"):
            old.unlink()
        asyncio.run(fill(environ, worker, long, short))
        made.touch()
    transcript = home / "live.jsonl"
    if not transcript.exists():
        worker.write_transcript(transcript, 3, TRANSCRIPT_BYTES)
    sessions = max(long // 20, short // 100, 1)
    return Place(name, worker, environ, transcript, sessions)


def make_call(place: Place, kind: str, number: int) -> dict[str, str]:
    """Return a call as Claude Code makes it; each is of another session."""
    call = {
        "session_id": f"session-{os.getpid()}-{time.time_ns()}",
        "transcript_path": str(place.transcript),
        "cwd": str(place.worker.root),
    }
    if kind == "start":
        return {**call, "hook_event_name": "SessionStart", "source": "startup"}
    prompt = place.worker.make_prompt(number % place.sessions)
    return {**call, "hook_event_name": "UserPromptSubmit", "prompt": prompt}


def run_hook(place: Place, call: dict[str, str]) -> Ran:
    """Run the hook as an agent does; CPU includes the processes that it left behind."""
    before = _children_cpu()
    begun = time.perf_counter()
    done = subprocess.run(
        python_command("ragforge", "hook", "--agent", "claude-code"),
        input=json.dumps(call).encode(),
        capture_output=True,
        env=place.environ,
        cwd=place.worker.root,
        check=False,
    )
    wall = time.perf_counter() - begun
    text = ""
    with suppress(ValueError, KeyError):
        text = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    _reap_orphans()
    is_clean = done.returncode == 0 and not done.stderr
    return Ran(_children_cpu() - before, wall, len(text), is_clean)


def adopt_orphans() -> None:
    """Become the parent of what a hook leaves behind, so that its CPU is counted (on Linux)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def _reap_orphans() -> None:
    """Wait for what a hook left behind, but not for processes of this benchmark."""
    while True:
        left = [pid for pid in _list_children() if pid not in _OWN]
        if not left:
            return
        for pid in left:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


_OWN: set[int] = set()
"""Processes that this benchmark keeps: the busy ones, and a server."""


def _list_children() -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in Path("/proc/self/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(place: Place, kind: str, runs: int, bar: float) -> dict[str, Any]:
    """Return what calls of one kind cost; the first ones, which fill caches, are not counted."""
    for number in range(2):
        run_hook(place, make_call(place, kind, number))
    ran = [run_hook(place, make_call(place, kind, number)) for number in range(runs)]
    cpu = [one.cpu for one in ran]
    outcomes = read_outcomes(place.state, runs)
    found: dict[str, Any] = {
        "results": dict(Counter(one.result for one in outcomes)),
        "failures": sorted({one.why for one in outcomes if one.result == "failed"}),
        "cpu_s": {"p50": round(statistics.median(cpu), 3), "p95": round(percentile(cpu, 0.95), 3)},
        "wall_s": {
            "p50": round(statistics.median(one.wall for one in ran), 3),
            "p95": round(percentile([one.wall for one in ran], 0.95), 3),
        },
        "bar_cpu_s": bar,
        "answered": sum(one.chars > 0 for one in ran),
        "not_clean": sum(not one.is_clean for one in ran),
        "runs": runs,
    }
    answered, sound = found["answered"], runs - found["not_clean"]
    require(sound > 0.9 * runs, f"{runs - sound} of {runs} hooks failed: {found['failures']}")
    require(answered > 0.5 * runs, f"Of {runs} hooks ({place.name}, {kind}) {answered} answered.")
    spent, walls = found["cpu_s"], found["wall_s"]
    peer = f"p95 {spent['p95']}, wall {walls['p50']} s, {answered} of {runs} answered"
    found["row"] = Row(f"hook, {kind}, {place.name}", spent["p50"], "CPU s", bar, peer)
    print(found["row"], flush=True)
    return found


@contextmanager
def keep_busy(count: int) -> Iterator[None]:
    """Run processes that do nothing but take CPU."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    _OWN.update(one.pid for one in busy)
    try:
        yield
    finally:
        for one in busy:
            one.kill()
            one.wait()
            _OWN.discard(one.pid)


def measure_busy(place: Place, busy: int, prompts: int) -> dict[str, Any]:
    """Send prompts next to busy processes; return how many were answered in time, and truly."""
    run_hook(place, make_call(place, "prompt", 0))
    ran: list[Ran] = []
    outcomes: list[HookOutcome] = []
    missing = 0
    with keep_busy(busy):
        for number in range(prompts):
            begun = time.time()
            ran.append(run_hook(place, make_call(place, "prompt", number)))
            counted = [one for one in read_outcomes(place.state, 3) if one.when >= begun]
            missing += len(counted) != 1
            outcomes += counted[-1:]
            if number % 10 == 9:
                print(f"  {number + 1} of {prompts} prompts", end="\r", flush=True)
    require(outcomes, "No prompt has an outcome in the log.")
    in_time = [one for one in outcomes if one.result in ("given", "empty")]
    differing = sum(one.chars != outcome.chars for one, outcome in zip(ran, outcomes, strict=False))
    wall = sorted(one.wall for one in ran)
    found = {
        "busy": busy,
        "prompts": prompts,
        "in_time": round(len(in_time) / prompts, 4),
        "wanted": MIN_IN_TIME,
        "results": dict(Counter(one.result for one in outcomes)),
        "late_with_part": sum(one.result == "late" and one.chars > 0 for one in outcomes),
        "not_counted": missing,
        "differing_from_stdout": differing if not missing else None,
        "not_clean": sum(not one.is_clean for one in ran),
        "wall_s": {
            "p50": round(statistics.median(wall), 2),
            "p95": round(percentile(wall, 0.95), 2),
        },
    }
    print(f"{place.name}, {busy} busy: {json.dumps(found)}", flush=True)
    return found


def measure_server(folder: Path, runs: int, turns: int) -> dict[str, Any] | None:
    """Measure hooks on a Neo4j server; None, with a sentence, if there is none."""
    from scripts.neo4j_server import Neo4jServer, Neo4jUnavailable

    with tempfile.TemporaryDirectory() as home:
        try:
            with Neo4jServer(Path(home)) as server:
                _OWN.update(_list_children())
                place = make_place(folder, "neo4j", turns, 0, server.url)
                found = {
                    kind: measure(place, kind, runs, SERVER_BAR) for kind in ("prompt", "start")
                }
                for kind, costs in found.items():
                    if costs["answered"]:
                        costs["round_trips"] = asyncio.run(count_round_trips(place, kind))
                        print(f"neo4j, {kind}: {costs['round_trips']} round trips", flush=True)
                return {"turns": turns, **found}
        except Neo4jUnavailable as error:
            print(f"The part on Neo4j was skipped: {error}")
            return None


async def count_round_trips(place: Place, kind: str) -> int:
    """Return how many queries a call sends to the server, found in this process."""
    from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase, Transaction

    sent = 0

    def count(work: Callable[..., Any]) -> Callable[..., Any]:
        async def counted(*given: Any, **more: Any) -> Any:
            nonlocal sent
            sent += 1
            return await work(*given, **more)

        return counted

    from unittest.mock import patch

    from ragforge.app.hook import context
    from ragforge.app.hook.call import read_call
    from ragforge.app.hook.hook_settings import load_hook_settings

    call = read_call(json.dumps(make_call(place, kind, 1)).encode(), "claude-code")
    with (
        patch.dict(os.environ, place.environ),
        patch.object(Transaction, "rows", count(Transaction.rows)),
        patch.object(Neo4jDatabase, "in_batches", count(Neo4jDatabase.in_batches)),
    ):
        settings = load_hook_settings(place.worker.root, os.environ)
        await context.find_context(call, settings)
    return sent


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--folder", type=Path, default=Path(".cache/hook"), help="of the stores")
    parser.add_argument("--long", type=int, default=LONG_TURNS, help="turns as agents have them")
    parser.add_argument("--short", type=int, default=SHORT_TURNS)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--busy", type=int, default=0, help="how many processes take CPU")
    parser.add_argument("--prompts", type=int, default=200, help="with --busy")
    parser.add_argument("--neo4j", action="store_true", help="only the part on a server")
    given = parser.parse_args(arguments)
    adopt_orphans()
    results: dict[str, Any] = {}
    folder = given.folder.resolve()
    if given.neo4j:
        results["neo4j"] = measure_server(folder, given.runs, given.long)
    else:
        places = [
            make_place(folder, "long turns", given.long, 0),
            make_place(folder, "short turns", 0, given.short),
        ]
        for place in places:
            file = megabytes(place.worker.root.parent)
            costs = {kind: measure(place, kind, given.runs, bar) for kind, bar in BARS.items()}
            results[place.name] = {"files_mb": file, **costs}
        if given.busy:
            results["busy"] = measure_busy(places[0], given.busy, given.prompts)
    rows = [row for costs in results.values() if costs for row in take_rows(costs)]
    name = "hook-neo4j" if given.neo4j else f"hook-busy-{given.busy}" if given.busy else "hook"
    save(name, results, rows)


def take_rows(costs: dict[str, Any]) -> list[Row]:
    """Return the rows of the page, and take them out of the results."""
    return [one.pop("row") for one in costs.values() if isinstance(one, dict) and "row" in one]


if __name__ == "__main__":
    main()
