"""Measure: repeated runs, percentiles, peak memory, and results kept with their commit."""

from __future__ import annotations

import json
import platform
import resource
import statistics
import subprocess
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


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
    seconds.sort()
    return Timing(statistics.median(seconds), seconds[int(0.95 * (runs - 1))], cpu)


def peak_memory_mb() -> float:
    """Return the most memory this process has ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def megabytes(folder: Path) -> float:
    """Return the size of all files in a folder."""
    sizes = (path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return round(sum(sizes) / 1e6, 1)


def save(name: str, results: Any) -> Path:
    """Write results to results/<name>-<commit>.json, with what they were measured on."""
    RESULTS.mkdir(exist_ok=True)
    commit = _git("rev-parse", "--short=10", "HEAD")
    changed = bool(_git("status", "--porcelain", "--untracked-files=no"))
    path = RESULTS / f"{name}-{commit}{'-changed' if changed else ''}.json"
    machine = {
        "machine": platform.machine(),
        "python": platform.python_version(),
        "system": platform.system(),
    }
    path.write_text(json.dumps({"on": machine, "results": results}, indent=2) + "\n")
    return path


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()
