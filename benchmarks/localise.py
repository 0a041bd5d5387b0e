"""Are the places found that an issue makes one change? file@1, file@5, func@10, without a model.

    python -m benchmarks.localise --prepare [--only sphinx,django] [--every django=3]
    python -m benchmarks.localise [--only …] [--every …] [--no-semble] [--semble PYTHON]
                                  [--issues FILE] [--mirrors FOLDER] [--work FOLDER]

The issues are those of SWE-bench Lite about six repositories (`benchmarks.issues`); those about
others are not read. Each issue's text is asked as it is, of the code at the commit that its fix was
made on. file@k: a file that the fix changed is among the first k files. func@10: a function that
holds a changed line is among the first ten hits; issues whose fix changes no function do not
count. A hit is a function's if it lies within it (a chunk of semble's: if it overlaps it).
`--prepare` makes a store for each issue in the work folder, which takes hours for all; a run asks
those that are there. The mirrors are clones of the repositories: `sphinx-doc+sphinx/repo`.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.code_search import (
    BM25,
    FULL,
    Place,
    Search,
    note_on,
    one_a_file,
    raw_bm25,
    through,
)
from benchmarks.issues import DEVELOPMENT, Checkout, Function, Issue, read_issues
from benchmarks.measure import make_parser, require, save
from benchmarks.opening import open_code
from benchmarks.peers import PROJECT, Semble, add_places, find_semble
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.adapters.stores.sqlite import code_graph
from ragforge.search.words.tokenise import MAX_QUERY_WORDS

HITS = 10
ENOUGH_FOR_FILES = 100
"""How many hits are asked for so that five files are among them."""


@dataclass(frozen=True, slots=True)
class Score:
    """How one way to search did on one issue."""

    issue: str
    repository: str
    file_rank: int | None
    function_rank: int | None
    functions: int  # how many there are to find
    functions_found: int  # among the first ten hits
    cpu: float  # seconds


def score(
    issue: Issue,
    hits: Sequence[Place],
    more: Sequence[Place],
    cpu: float,
    matches: Callable[[Place, Function], bool],
) -> Score:
    files = [place.path for place in one_a_file(more)]
    found = [[matches(hit, one) for one in issue.functions] for hit in hits[:HITS]]
    return Score(
        issue.id,
        issue.repository,
        next((rank for rank, path in enumerate(files, 1) if path in issue.files), None),
        next((rank for rank, some in enumerate(found, 1) if any(some)), None),
        len(issue.functions),
        sum(map(any, zip(*found, strict=True))),
        cpu,
    )


def lies_within(hit: Place, function: Function) -> bool:
    """Tell whether a scope is a function, or a part of it."""
    inside = function.start_line <= hit.start_line and hit.end_line <= function.end_line
    return hit.path == function.path and inside


def overlaps(hit: Place, function: Function) -> bool:
    """Tell whether a chunk holds a part of a function."""
    apart = hit.end_line < function.start_line or function.end_line < hit.start_line
    return hit.path == function.path and not apart


async def prepare(issues: Sequence[Issue], checkout: Checkout, stores: Path) -> None:
    """Make the stores that are missing: one is brought up to date and copied for each issue."""
    stores.mkdir(parents=True, exist_ok=True)
    growing = stores / f"{checkout.tree.name}.growing.db"
    embedder = BundledEmbedder()
    for issue in issues:
        kept = stores / f"{issue.id}.db"
        if kept.exists():
            continue
        start = time.process_time()
        checkout.switch_to(issue.commit)
        async with open_code(growing, checkout.tree, embedder, ingest=False) as brain:
            report, _ = await brain.ingest()
        shutil.copyfile(growing, kept.with_suffix(".part"))
        kept.with_suffix(".part").rename(kept)
        spent = time.process_time() - start
        print(f"{issue.id}: {len(report.changed)} files, {spent:.1f} CPU s", flush=True)


async def ask(issue: Issue, search: Search) -> Score:
    await search("warm up: the first one loads what it needs", HITS)
    start = time.process_time()
    hits = await search(issue.text, HITS)
    cpu = time.process_time() - start
    require(hits, f"{issue.id} has no hits: its store is of other code.")
    return score(issue, hits, await search(issue.text, ENOUGH_FOR_FILES), cpu, lies_within)


async def measure(
    issue: Issue, checkout: Checkout, stores: Path, embedder: BundledEmbedder
) -> dict[str, Score]:
    file = stores / f"{issue.id}.db"
    async with open_code(file, checkout.tree, embedder, ingest=False) as brain:
        ranked = await ask(issue, through(brain))
        with patch.object(code_graph, "MANY_WORDS", MAX_QUERY_WORDS):  # all of them, no choice
            return {FULL: ranked, BM25: await ask(issue, raw_bm25(brain))}


def ask_semble(issue: Issue, checkout: Checkout, semble: Semble) -> Score:
    checkout.switch_to(issue.commit)
    found = semble.answers(checkout.tree, [issue.text], [HITS, HITS * 5])
    hits, more = ([Place(*place) for place in places] for places in found["hits"][0])
    return score(issue, hits, more, found["query_cpu"][0], overlaps)


def share(values: Iterable[bool]) -> float:
    counted = list(values)
    return round(sum(counted) / len(counted), 3) if counted else 0.0


def summarise(scores: Sequence[Score]) -> dict[str, Any]:
    with_functions = [one for one in scores if one.functions]
    return {
        "issues": len(scores),
        "file@1": share(one.file_rank == 1 for one in scores),
        "file@5": share(one.file_rank is not None and one.file_rank <= 5 for one in scores),
        "issues_with_functions": len(with_functions),
        "func@10": share(one.function_rank is not None for one in with_functions),
        "all_func@10": share(one.functions_found == one.functions for one in with_functions),
        "cpu_p50_ms": round(statistics.median(one.cpu for one in scores) * 1000, 1),
        "cpu_mean_ms": round(statistics.fmean(one.cpu for one in scores) * 1000, 1),
    }


def show(results: Mapping[str, Mapping[str, dict[str, Any]]]) -> None:
    """Print a line for each way and repository."""
    columns = ("issues", "file@1", "file@5", "func@10", "all_func@10", "cpu_p50_ms")
    print(f"\n{'':<42}" + "".join(f"{column:>13}" for column in columns))
    for way, parts in results.items():
        for part, values in parts.items():
            cells = "".join(f"{values[column]:>13}" for column in columns)
            print(f"{way + ', ' + part:<42}{cells}")


async def run(chosen: argparse.Namespace) -> None:
    wanted = set(filter(None, chosen.only.split(",")))
    names = [name for name in DEVELOPMENT if not wanted or name in wanted]
    checkouts = {
        name: Checkout(
            chosen.mirrors / DEVELOPMENT[name].replace("/", "+") / "repo",
            chosen.work.resolve() / "trees" / name,
        )
        for name in names
    }
    every = {name: int(n) for name, _, n in (one.partition("=") for one in chosen.every)}
    issues = read_issues(chosen.issues, checkouts, every)
    stores = chosen.work / "stores"
    if chosen.prepare:
        for name, some in issues.items():
            await prepare(some, checkouts[name], stores)
        return
    embedder = BundledEmbedder()
    peer: Semble | str = "semble: not asked for"
    if not chosen.no_semble:
        peer = find_semble(chosen.semble, chosen.work / "semble", PROJECT)
    scores: dict[str, list[Score]] = defaultdict(list)
    for name, some in issues.items():
        for issue in some:
            if not (stores / f"{issue.id}.db").exists():
                continue
            found = await measure(issue, checkouts[name], stores, embedder)
            if isinstance(peer, Semble):
                found[peer.label] = ask_semble(issue, checkouts[name], peer)
            for way, one in found.items():
                scores[way].append(one)
    require(scores, f"{stores} has no store of these issues: make them with --prepare.")
    results = {way: split(some) for way, some in scores.items()}
    show(results)
    note = peer if isinstance(peer, str) else note_on(peer)
    print(note)
    save("localise", {"ways": results, "notes": [note]})


def split(scores: Sequence[Score]) -> dict[str, dict[str, Any]]:
    """Return a summary for each repository, and of all issues."""
    parts = {
        name: summarise([one for one in scores if one.repository == name])
        for name in dict.fromkeys(one.repository for one in scores)
    }
    return parts | {"all": summarise(scores)}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    folder = PROJECT.parent / ".bench" / "localise"
    parser.add_argument("--only", default="", help="names of repositories, with commas")
    parser.add_argument("--every", nargs="*", default=[], metavar="NAME=N", help="every n-th issue")
    parser.add_argument("--prepare", action="store_true", help="only make the stores")
    parser.add_argument("--no-semble", action="store_true")
    parser.add_argument("--issues", type=Path, default=folder / "swe_bench_lite.jsonl")
    parser.add_argument("--mirrors", type=Path, default=PROJECT.parent / ".mirror")
    parser.add_argument("--work", type=Path, default=folder)
    add_places(parser)
    asyncio.run(run(parser.parse_args(arguments)))


if __name__ == "__main__":
    main()
