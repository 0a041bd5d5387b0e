"""What does one change cost in a large project, and what does its state?

    python -m benchmarks.growth [--files 50000]

A project of small files is made and ingested. Then each command runs in a fresh process, from
bytecode: a file that is named after it grew, one that `watch` sees, the same found by a walk, a
status by a glance and one that compares every file. The same is done in a project of one file:
what that costs is the program itself. Seconds are of CPU, user and system, of the process with its
children; the best of three counts.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import psutil

from benchmarks.measure import Program, Row, clean_environ, fail, make_parser, require, save

AREAS, PARTS = 50, 20
TRIES = 3
PATIENCE, WAIT_SECONDS = 5, 60
SIZE = 50_000
"""How many files the bars are for."""
BARS = {
    "first ingest": 40.0,
    "ingest, no change": 1.0,
    "ingest FILE": 0.6,
    "watch": 0.6,
    "ingest, one file": 1.0,
    "status": 0.6,
}
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


def measure_watch(program: Program, grow: Callable[[], object]) -> float:
    """Return the seconds that a change costs a process that watches; the best of three."""
    command = [sys.executable, "-m", "ragforge", "watch"]
    environ = clean_environ(program.work) | {"RAGFORGE_STORE": str(program.store)}
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=program.cwd, env=environ, stderr=pipe, bufsize=0)
    watching = psutil.Process(process.pid)

    def spend() -> float:
        """Change a file; return what the process has spent when it has told of it."""
        assert process.stderr is not None
        for _ in range(PATIENCE):
            grow()
            told = b""
            while select.select([process.stderr], [], [], WAIT_SECONDS)[0]:
                told += os.read(process.stderr.fileno(), 4096)
                require(process.poll() is None, f"`watch` ended: {told.decode()}")
                if b"files read" in told:
                    times = watching.cpu_times()
                    return float(times.user + times.system)
        fail("`watch` did not notice a change.")

    try:
        spent = [spend() for _ in range(TRIES + 1)]  # the first with all that a start costs
        return min(after - before for before, after in pairwise(spent))
    finally:
        process.terminate()
        process.communicate()


def measure(root: Path, files: int) -> dict[str, float]:
    """Return the seconds of each command in a project of this many files."""
    changed = make_project(root, files)
    work = root.parent / "home"  # the first project writes the bytecode
    work.mkdir(exist_ok=True)
    program = Program(work, root, name=f"{files}.db")

    def grow() -> None:
        with changed.open("a") as file:
            file.write(f"\n\ndef grown_{changed.stat().st_size}():\n    return 1\n")

    def ingest(wanted: int, *arguments: str) -> float:
        cost = program("ingest", *arguments, "--json")
        read = json.loads(cost.output)["read"]
        require(read == wanted, f"{read} files were read instead of {wanted}.")
        return cost.cpu

    def grow_and_ingest(*arguments: str) -> float:
        grow()
        return ingest(1, *arguments)

    def status(*arguments: str) -> float:
        cost = program("status", "--json", *arguments)
        require(json.loads(cost.output)["files"] == files, "`status` counts other files.")
        return cost.cpu

    named = str(changed.relative_to(root))
    found = {
        "first ingest": ingest(files),
        "ingest, no change": min(ingest(0) for _ in range(TRIES)),
        "ingest FILE": min(grow_and_ingest(named) for _ in range(TRIES)),
        "watch": measure_watch(program, grow),
        "ingest, one file": min(grow_and_ingest() for _ in range(TRIES)),
        "status": min(status() for _ in range(TRIES)),
        "status --check": min(status("--check") for _ in range(TRIES)),
    }
    return {name: round(seconds, 2) for name, seconds in found.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--files", type=int, default=SIZE)
    given = parser.parse_args(arguments)
    results = {}
    with tempfile.TemporaryDirectory(prefix="ragforge-growth-") as folder:
        for files in (1, given.files):
            results[files] = measure(Path(folder) / f"project{files}", files)
    rows = [
        Row(
            f"{given.files:,} files, {name}",
            seconds,
            "CPU s",
            BARS.get(name) if given.files == SIZE else None,
            f"one file {results[1][name]} CPU s",
        )
        for name, seconds in results[given.files].items()
    ]
    save("growth", results, rows)


if __name__ == "__main__":
    main()
