"""Measure: commands and repeated runs, bars, and results kept with their commit."""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import psutil

PROJECT = Path(__file__).resolve().parent.parent
RESULTS = "RAGFORGE_BENCH_RESULTS"
SAMPLE_SECONDS = 0.25


def require(condition: object, sentence: str) -> None:
    """End the benchmark with a sentence, unless it has measured what it says it measures."""
    if not condition:
        fail(sentence)


def fail(sentence: str) -> NoReturn:
    raise SystemExit(f"Not measured: {sentence}")


def make_parser(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser that shows a benchmark's docstring as its help."""
    return argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )


@dataclass(frozen=True, slots=True)
class Row:
    """A figure of the page, what it should not exceed, and others on the same work."""

    work: str
    figure: float
    unit: str
    bar: float | None = None
    peer: str = ""
    is_minimum: bool = False  # the figure should reach the bar

    @property
    def holds(self) -> bool | None:
        if self.bar is None:
            return None
        return self.figure >= self.bar if self.is_minimum else self.figure <= self.bar

    @property
    def verdict(self) -> str:
        return {None: "–", True: "holds", False: "does not hold"}[self.holds]

    @property
    def limit(self) -> str:
        return "–" if self.bar is None else f"{'≥' if self.is_minimum else '≤'} {self.bar:g}"

    def __str__(self) -> str:
        figure = f"{self.figure:g} {self.unit}"
        return f"{self.work:<44} {figure:>14} {self.limit:>9}  {self.verdict:<14} {self.peer}"


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of wall clock and of CPU, of many runs of the same thing."""

    p50: float
    p95: float
    cpu: float  # mean, of this process with all its threads

    def milliseconds(self) -> dict[str, float]:
        return {
            "p50_ms": round(self.p50 * 1000, 3),
            "p95_ms": round(self.p95 * 1000, 3),
            "cpu_ms": round(self.cpu * 1000, 3),
        }


async def timed(work: Callable[[int], Awaitable[object]], runs: int) -> Timing:
    """Run work(0), work(1), … after one run that warms up."""
    await work(0)
    seconds = []
    cpu = time.process_time()
    for number in range(runs):
        start = time.perf_counter()
        await work(number)
        seconds.append(time.perf_counter() - start)
    cpu = (time.process_time() - cpu) / runs
    return Timing(statistics.median(seconds), percentile(seconds, 0.95), cpu)


async def cpu_ms(
    work: Callable[[int], Awaitable[object]], runs: int, tries: int = 3
) -> dict[str, float]:
    """Return percentiles of the CPU time of runs, each the best of some tries.

    The first run warms up. On a shared machine the same work takes up to twice as long.
    """
    await work(0)
    spent = []
    for number in range(runs):
        each = []
        for _ in range(tries):
            start = time.process_time()
            await work(number)
            each.append((time.process_time() - start) * 1000)
        spent.append(min(each))
    return {"p50": round(statistics.median(spent), 2), "p95": round(percentile(spent, 0.95), 2)}


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that this share of the values does not exceed."""
    return sorted(values)[round(share * (len(values) - 1))]


def cpu_seconds() -> float:
    """Return the CPU of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command took, with all its children."""

    cpu: float  # seconds
    memory: float = 0.0  # MB
    output: str = ""

    def as_json(self) -> dict[str, float]:
        return {"cpu_s": round(self.cpu, 3), "peak_mb": round(self.memory)}


def run_command(
    command: Sequence[str | Path],
    cwd: Path,
    environ: Mapping[str, str],
    codes: Sequence[int] = (0,),
) -> Cost:
    """Run a command to its end. Ends the benchmark if it fails."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command, cwd=cwd, env=environ, stdin=subprocess.DEVNULL, stdout=out, stderr=errors
        )
        memory, pause = 0.0, 0.01
        while True:
            pid, status, used = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            memory = max(memory, held_together(process.pid))
            time.sleep(pause)
            pause = min(1.2 * pause, SAMPLE_SECONDS)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        shown = " ".join(map(str, command))
        why = f"{shown} ended with {process.returncode}: {errors.read()[-500:]}"
        require(process.returncode in codes, why)
        return Cost(used.ru_utime + used.ru_stime, memory, out.read())


def held_together(pid: int) -> float:
    """Return the MB that a process and its children hold, shared pages divided among them.

    Between two samples there may have been more: then it is what only the parent once held.
    (wait4 knows the most as well, but counts what this program held when it forked.)
    """
    total = 0
    try:
        parent = psutil.Process(pid)
        for process in (parent, *parent.children(recursive=True)):
            total += process.memory_full_info().pss
    except psutil.Error:
        pass  # one of them has just ended: the next sample counts
    return max(total, _most_held(pid)) / 2**20


def _most_held(pid: int) -> int:
    """Return the most bytes that a process has held since it started its program."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("utf-8")
    except OSError:
        return 0
    kilobytes = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    return int(kilobytes[0]) * 1024 if kilobytes else 0


def clean_environ(work: Path) -> dict[str, str]:
    """Return the variables of a user who has set nothing, with bytecode as an installed program."""
    ours = ("RAGFORGE_", "PYTHONDONTWRITEBYTECODE", "XDG_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {
        **kept,
        "HOME": str(work),
        "PYTHONPYCACHEPREFIX": str(work / "bytecode"),
        "RAGFORGE_CONFIG": "",
        "RAGFORGE_AGENT__STATE_DIR": str(work / "state"),
        "RAGFORGE_JOBS__DETACH": "false",
        "RAGFORGE_LLM__MODEL": "none",
    }


@dataclass(frozen=True, slots=True)
class Program:
    """`ragforge` in a folder, with a separate store and no settings."""

    work: Path
    cwd: Path
    codes: tuple[int, ...] = (0,)  # which exit codes are no failure
    environ: dict[str, str] = field(default_factory=dict)
    name: str = "store.db"

    @property
    def store(self) -> Path:
        return self.work / self.name

    def __call__(self, *arguments: str) -> Cost:
        command = [sys.executable, "-m", "ragforge", *arguments]
        environ = {"RAGFORGE_STORE": str(self.store)} | self.environ
        return run_command(command, self.cwd, clean_environ(self.work) | environ, self.codes)


def peak_memory_mb() -> float:
    """Return the most memory this process has ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def megabytes(folder: Path) -> float:
    """Return the size of all files in a folder."""
    sizes = (path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return round(sum(sizes) / 1e6, 1)


def save(name: str, results: Any, rows: Sequence[Row] = ()) -> Path:
    """Show the rows, and write the results to results/<name>-<commit>.json with the machine.

    The variable RAGFORGE_BENCH_RESULTS names another folder.
    """
    for row in rows:
        print(row)
    folder = Path(os.environ.get(RESULTS) or Path(__file__).parent / "results")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{describe_commit()}.json"
    saved = {"on": describe_machine(), "results": results, "rows": [asdict(row) for row in rows]}
    path.write_text(json.dumps(saved, indent=2) + "\n")
    print(f"saved to {path}", flush=True)
    return path


def describe_commit() -> str:
    """Return the commit that is measured, with a mark if files differ from it."""
    changed = bool(_git("status", "--porcelain", "--untracked-files=no", "--", "src"))
    return f"{_git('rev-parse', '--short=10', 'HEAD')}{'-changed' if changed else ''}"


def describe_machine() -> dict[str, Any]:
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "memory_gb": round(psutil.virtual_memory().total / 1e9),
        "load": round(os.getloadavg()[0], 1),
    }


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(PROJECT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
