"""What do the search tools cost compared with ripgrep itself? On Django, in the same run.

    python -m benchmarks.tools [--django FOLDER] [--runs 15] [--many 1000]

`grep_files` is called in a process that stays, its first call apart; ripgrep is started by
itself for the same search, with JSON as output. The two take turns, and the best of many runs
counts: the machine is shared. CPU is of this process and its children. At the end each tool
is called once among 200,000 files.
"""

from __future__ import annotations

import asyncio
import resource
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import Row, cpu_seconds, make_parser, require, save
from benchmarks.peers import add_places
from ragforge.tools.grep_files import GrepArguments, grep_files
from ragforge.tools.list_files import GlobArguments, ListArguments, glob_files, list_files
from ragforge.tools.ripgrep import find_ripgrep
from ragforge.tools.search_files import SearchArguments, search_files
from ragforge.tools.workspace import Workspace

GREP_BAR = 1.5
"""Times the wall clock of ripgrep."""
ABSENT = "no_such_name_anywhere"
PATTERNS = (
    ("**/*", "def get_queryset"),
    ("**/*", r"class \w+Field\b"),
    ("**/*", "ImproperlyConfigured"),
    ("**/*", "self"),
    ("**/*.py", r"raise \w+Error\("),
    ("**/*.py", ABSENT),
    ("django/db/**/*.py", "select_related"),
)
QUERIES = (
    "authentification",
    "recieve",
    "querset",
    "auth",
    "self",
    "midleware class",
    "conection refused",
    "improperly configurd",
    ABSENT,
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of one run."""

    wall: float
    cpu: float


async def measured(work: Awaitable[object]) -> Cost:
    wall, cpu = time.perf_counter(), cpu_seconds()
    await work
    return Cost(time.perf_counter() - wall, cpu_seconds() - cpu)


def best(costs: list[Cost]) -> dict[str, float]:
    """Return the minimum of each, in milliseconds."""
    return {
        "wall_ms": round(min(cost.wall for cost in costs) * 1000, 1),
        "cpu_ms": round(min(cost.cpu for cost in costs) * 1000, 1),
    }


async def grep(workspace: Workspace, pattern: str, regex: str) -> bool:
    """Search, and tell whether anything was found."""
    found = await grep_files(workspace, GrepArguments(pattern=pattern, regex=regex))
    return found.total_matches > 0


async def ripgrep(program: str, root: Path, pattern: str, regex: str) -> None:
    command = [program, "--no-config", "--json", "-g", pattern, "-e", regex]
    subprocess.run(  # noqa: ASYNC221
        command, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )


async def search(workspace: Workspace, query: str) -> None:
    await search_files(workspace, SearchArguments(pattern="**/*", query=query))


async def measure_grep(root: Path, program: str, runs: int) -> dict[str, Any]:
    results: dict[str, Any] = {}
    warm = Workspace.at(root)
    for pattern, regex in PATTERNS:
        ours, theirs, cold = [], [], []
        found = await grep(warm, pattern, regex)
        require(found != (regex == ABSENT), f"grep_files answers {regex} wrongly.")
        for _ in range(runs):
            ours.append(await measured(grep(warm, pattern, regex)))
            theirs.append(await measured(ripgrep(program, root, pattern, regex)))
            cold.append(await measured(grep(Workspace.at(root), pattern, regex)))
        ratio = min(cost.wall for cost in ours) / min(cost.wall for cost in theirs)
        by_cpu = sum(cost.cpu for cost in ours) / sum(cost.cpu for cost in theirs)
        results[f"{regex}  in {pattern}"] = {
            "grep_files": best(ours),
            "ripgrep": best(theirs),
            "the first call": best(cold),
            "ratio": round(ratio, 2),
            "ratio of CPU": round(by_cpu, 2),
        }
        told = f"{best(ours)['wall_ms']:7.1f} ms, ripgrep {best(theirs)['wall_ms']:7.1f} ms"
        print(f"{regex:<22} {pattern:<18} {told}, ratio {ratio:.2f}, of CPU {by_cpu:.2f}")
    return results


async def measure_search(root: Path, runs: int) -> dict[str, Any]:
    results: dict[str, Any] = {}
    warm = Workspace.at(root)
    for query in QUERIES:
        await search(warm, query)
        cost = best([await measured(search(warm, query)) for _ in range(runs)])
        results[query] = cost
        print(f"{query:<26} {cost['wall_ms']:7.1f} ms, {cost['cpu_ms']:7.1f} CPU ms")
    return results


MANY_FOLDERS = 200


async def measure_many(folder: Path, files: int) -> dict[str, Any]:
    """Measure each tool once among 200 times as many files, of which one has something in it."""
    for number in range(MANY_FOLDERS):
        place = folder / f"{number % 10}" / f"{number:03}"
        place.mkdir(parents=True)
        for name in range(files):
            (place / f"file_{name}.txt").touch()
    (folder / "9/199/file_0.txt").write_text("the needle\n")
    workspace = Workspace.at(folder)
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "grep_files, the first call": lambda: grep(workspace, "**/*", "needle"),
        "grep_files": lambda: grep(workspace, "**/*", "needle"),
        "grep_files in a tenth": lambda: grep(workspace, "9/**", "needle"),
        "search_files": lambda: search(workspace, "nedle"),
        "search_files, a name they all have": lambda: search(workspace, "file_0"),
        "glob_files": lambda: glob_files(workspace, GlobArguments(pattern="**/*.txt")),
        "list_files": lambda: list_files(workspace, ListArguments(depth=20)),
    }
    results: dict[str, Any] = {}
    for name, call in calls.items():
        cost = best([await measured(call())])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        results[name] = {**cost, "peak_mb": peak}
        print(f"{200 * files:,} files: {name:<36} {cost['cpu_ms']:7.1f} CPU ms, {peak} MB so far")
    return results


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    add_places(parser)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--many", type=int, default=1_000, help="files in each of 200 folders")
    given = parser.parse_args(arguments)
    root = given.django
    program = find_ripgrep()
    require(program is not None, "ripgrep is not installed.")
    require(root.is_dir(), f"{root} is missing: a checkout of Django.")
    greps = asyncio.run(measure_grep(root, program, given.runs))
    searches = asyncio.run(measure_search(root, max(3, given.runs // 3)))
    with tempfile.TemporaryDirectory() as folder:
        many = asyncio.run(measure_many(Path(folder), given.many))
    ratios = [result["ratio"] for result in greps.values()]
    results = {"grep_files": greps, "search_files": searches, "many_files": many}
    walls = [f"{result['ripgrep']['wall_ms']:.0f}" for result in greps.values()]
    peer = f"ripgrep {' '.join(walls)} ms"
    save("tools", results, [Row("`grep_files`, worst of 7", max(ratios), "× rg", GREP_BAR, peer)])


if __name__ == "__main__":
    main()
