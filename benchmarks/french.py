"""Does a French question find English code as an English one does? NDCG@10 of both.

    python -m benchmarks.french [--repos FOLDER] [--data FOLDER]

40 questions of the code-search benchmark about three repositories, each with its French
(`questions/french.json`), asked of everything together and of only the vectors.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.code_search import TOP, ndcg, open_brain, raw_vectors, through
from benchmarks.measure import save
from benchmarks.peers import Repository, Target, add_places, check_out, repositories
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS

QUESTIONS = Path(__file__).parent / "questions" / "french.json"
WORDINGS = {"French": "query", "English": "english"}


async def ask(repo: Repository, root: Path, file: Path, rows: list[Any]) -> dict[str, list[float]]:
    """Return the scores of all questions about a repository, by way and language."""
    store = await open_sqlite(file, WORDS, REDACTOR)
    try:
        brain = open_brain(store, root / repo.name / repo.root, BundledEmbedder())
        await brain.ingest()
        ways = {"all together": through(brain), "vectors alone": raw_vectors(brain)}
        scores: dict[str, list[float]] = defaultdict(list)
        for row in rows:
            targets = [Target(path) for path in (*row["relevant"], *row["secondary"])]
            for language, key in WORDINGS.items():
                for way, search in ways.items():
                    hits = await search(row[key], TOP)
                    scores[f"{way}, {language}"].append(ndcg(hits, targets))
        return scores
    finally:
        await store.close()


async def run(chosen: argparse.Namespace, work: Path) -> None:
    rows = json.loads(QUESTIONS.read_text("utf-8"))
    asked = {row["repository"] for row in rows}
    repos = [repo for repo in repositories(chosen.data) if repo.name in asked]
    check_out(chosen.repos, repos)
    scores: dict[str, list[float]] = defaultdict(list)
    for repo in repos:
        about = [row for row in rows if row["repository"] == repo.name]
        found = await ask(repo, chosen.repos, work / f"{repo.name}.db", about)
        for way, some in found.items():
            scores[way] += some
    results = {way: round(statistics.fmean(some), 4) for way, some in sorted(scores.items())}
    for way, score in results.items():
        print(f"{way:<24} {score:.3f}")
    print(f"saved to {save('french', {'questions': len(rows), 'ndcg@10': results})}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    add_places(parser)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        asyncio.run(run(chosen, Path(work)))


if __name__ == "__main__":
    main()
