"""What does one change cost in a large project, and what does its state?

    python -m benchmarks.growth [--files 50000]

A project of small files is made and ingested. Then each command runs in a fresh process, from
bytecode: a file that is named after it grew, one that `watch` sees, the same found by a walk, a
status by a glance and one that compares every file. The same is done in a project of one file:
what that costs is the program itself. Seconds are of CPU, user and system, of the process with its
children; the best of three counts.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from benchmarks.measure import save

AREAS, PARTS = 50, 20
TRIES = 3
IDLE_LOOKS = 6
BARRED = ("ingest FILE", "watch", "status")
BAR = 0.6
MODULE = '''"""Module {0}."""

from area{1}.part0.module_{1} import work_{1}


def work_{0}(value: int) -> int:
    """Return the value of step {0}."""
    return work_{1}(value) + {0}
'''


def make_project(root: Path, files: int) -> Path:
    """Write a project of this many files in 1,000 directories; return one of its files."""
    (root / ".git").mkdir(parents=True)
    for number in range(files):
        folder = root / f"area{number % AREAS}" / f"part{number // AREAS % PARTS}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"module_{number}.py").write_text(MODULE.format(number, number % AREAS))
    return root / "area0/part0/module_0.py"


def start(root: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a command in the project."""
    environ = {**os.environ, "PYTHONPYCACHEPREFIX": str(root.parent / "bytecode")}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    store = str(root.with_suffix(".db"))
    command = [sys.executable, "-m", "ragforge", "--store", store, *arguments]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=root, env=environ, stdout=quiet, stderr=quiet)


def run(root: Path, *arguments: str) -> float:
    """Run a command in the project; return its seconds of CPU."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if start(root, *arguments).wait():
        raise SystemExit(f"{arguments} failed in {root}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_watch(root: Path, grow: Callable[[], object]) -> float:
    """Return the seconds that a change costs a process that watches; the best of three."""
    process = start(root, "watch")
    try:
        watching = psutil.Process(process.pid)
        found = []
        before = _wait_until_idle(watching)
        for _ in range(TRIES):
            grow()
            after = _wait_until_idle(watching, above=before)
            found.append(after - before)
            before = after
        return min(found)
    finally:
        process.terminate()
        process.wait()


def _wait_until_idle(process: psutil.Process, above: float = 0.0) -> float:
    """Wait until a process has used more CPU than this, then next to none; return its seconds."""
    last, quiet = -1.0, 0
    while quiet < IDLE_LOOKS:
        time.sleep(0.5)
        times = process.cpu_times()
        spent = times.user + times.system
        quiet = quiet + 1 if spent > above + 0.05 and spent - last < 0.02 else 0
        last = spent
    return last


def measure(root: Path, files: int) -> dict[str, float]:
    """Return the seconds of each command in a project of this many files."""
    changed = make_project(root, files)
    found = {"first ingest": run(root, "ingest")}

    def grow() -> None:
        with changed.open("a") as file:
            file.write(f"\n\ndef grown_{changed.stat().st_size}():\n    return 1\n")

    def grow_and_run(*arguments: str) -> float:
        grow()
        return run(root, *arguments)

    named = str(changed.relative_to(root))
    found["ingest FILE"] = min(grow_and_run("ingest", named) for _ in range(TRIES))
    found["watch"] = measure_watch(root, grow)
    found["ingest"] = min(grow_and_run("ingest") for _ in range(TRIES))
    found["status"] = min(run(root, "status") for _ in range(TRIES))
    found["status --check"] = min(run(root, "status", "--check") for _ in range(TRIES))
    return {name: round(seconds, 2) for name, seconds in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=50_000)
    given = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory(prefix="ragforge-growth-") as folder:
        for files in (1, given.files):
            results[files] = measure(Path(folder) / f"project{files}", files)
            for name, seconds in results[files].items():
                mark = "" if name not in BARRED or seconds <= BAR else "  over"
                print(f"{files:>7,} files  {name:<16} {seconds:6.2f} CPU s{mark}", flush=True)
    save("growth", results)


if __name__ == "__main__":
    main()
