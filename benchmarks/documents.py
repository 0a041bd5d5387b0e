"""Are documents found? Questions about the documentation of five repositories.

    python -m benchmarks.documents [--stores FOLDER] [--repos FOLDER]

Each repository is ingested as a whole, with its code, and every question of
questions/documents.json is asked through `Brain.search_documents`. Reported: how often a right file
is the first, how often among the first five, the mean reciprocal rank of the files, and which
share of the questions, and of the off-topic messages, gets documents at all.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import make_parser, require, save
from benchmarks.opening import open_project
from benchmarks.peers import add_places
from benchmarks.relevance import written
from ragforge.app import App

HITS = 30


async def answered(app: App, row: dict[str, Any]) -> tuple[float, bool]:
    """Return one over the rank of the first right file, and whether the question gets any."""
    hits = await app.brain.search_documents(row["text"], limit=HITS)
    files = list(dict.fromkeys(hit.scope.file for hit in hits))
    rank = next((n for n, file in enumerate(files, 1) if file in row["files"]), None)
    relevant = await app.brain.find_relevant_documents(row["text"])
    if rank != 1:
        print(f"  {rank}: {row['text']} → {files[:3]}")
    return 1 / rank if rank else 0.0, bool(relevant.hits)


async def run(chosen: argparse.Namespace, stores: Path) -> dict[str, Any]:
    by_repository: dict[str, list[dict[str, Any]]] = defaultdict(list)
    names = set(filter(None, chosen.only.split(",")))
    for row in written("documents"):
        if names and row["repository"] not in names:
            continue
        by_repository[row["repository"]].append(row)
    ranks: dict[str, list[float]] = {}
    passing: list[bool] = []
    off: dict[str, dict[str, list[str]]] = {}
    for name, rows in by_repository.items():
        store = stores / f"{name}-documents.db"
        root = chosen.django if name == "django" else chosen.repos / name
        async with open_project(root, store) as app:
            found = [await answered(app, row) for row in rows]
            ranks[name] = [rank for rank, _ in found]
            passing += [passes for _, passes in found]
            off[name] = {"choose": [], "check": []}
            for row in written("off_topic"):
                if (await app.brain.find_relevant_documents(row["text"])).hits:
                    off[name][row["split"]].append(row["text"])
    require(any(map(any, ranks.values())), "No question finds its document.")
    every = [rank for some in ranks.values() for rank in some]
    results = {
        "questions": len(every),
        "first": round(statistics.mean(rank == 1 for rank in every), 3),
        "among five": round(statistics.mean(rank >= 0.2 for rank in every), 3),
        "reciprocal rank": round(statistics.mean(every), 3),
        "by repository": {n: round(statistics.mean(some), 3) for n, some in ranks.items()},
        "questions that get documents": round(statistics.mean(passing), 3),
        "off topic that get documents": {
            name: {split: len(some) for split, some in both.items()} for name, both in off.items()
        },
    }
    for name, value in results.items():
        print(f"{name}: {value}")
    return results


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--stores", type=Path, help="keep the stores here, for another run")
    parser.add_argument("--only", default="", help="names of repositories, with commas")
    add_places(parser)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as work:
        results = asyncio.run(run(chosen, chosen.stores or Path(work)))
    save("documents", results)


if __name__ == "__main__":
    main()
