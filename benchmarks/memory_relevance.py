"""Does a message have to do with what was said before? Questions about it against others.

    python -m benchmarks.memory_relevance [--fit] [--data FOLDER]

Two memories in one store: LoCoMo's four long conversations in one project, and one of turns
about code, which are the questions of the code-search set with the files that answer them. To the
first belong LoCoMo's own questions; to neither what was written for `questions/off_topic.json`.
Reported: which share of each kind of message gets past turns, and how much of LoCoMo's evidence
is among the first 60 hits, before and after what is not relevant is left out. `--fit` prints the
weights of a logistic regression for `ragforge.search.memory_relevance`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks import memory_recall
from benchmarks.measure import save
from benchmarks.memory_recall import Talk, fill, load
from benchmarks.peers import DATA, PROJECT, Repository, repositories
from benchmarks.relevance import written
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.conversations import Conversation, MemoryFilter, Message
from ragforge.domain.hits import WordMatches
from ragforge.domain.schema import CONVERSATION
from ragforge.memory.embed import embed_missing
from ragforge.memory.search import combined
from ragforge.memory.search.combined import search_conversation_history
from ragforge.memory.search.turns import MemorySearch
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.store import Store
from ragforge.search.memory_relevance import (
    MIN_RELEVANCE,
    asks_about_past,
    estimate_memory_relevance,
    measure_word_share,
)
from ragforge.search.small_talk import is_small_talk
from ragforge.search.tokenise import WORDS

HITS = 60
PEOPLE, CODE = "/people", "/code"
SHARES = {
    "its own questions": 1.0,
    "code questions": 0.35,
    "people's questions of code": 0.35,
    "off choose of code": 0.3,
    "off choose": 0.1,
}
"""How much each kind of message counts in the fit, however many there are."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A message that was asked of a memory, and what spoke for it there."""

    kind: str
    text: str
    held: float
    nearest: float
    relevance: float
    recall: float  # the share of its evidence among the hits

    @property
    def passes(self) -> bool:
        kept = self.relevance >= MIN_RELEVANCE or asks_about_past(self.text)
        return kept and not is_small_talk(self.text)


async def fill_with_code(
    store: Store, repos: Sequence[Repository], embedder: BundledEmbedder
) -> None:
    for repo in repos:
        await store.records.put(CONVERSATION, Conversation(CODE, CODE, uuid=repo.name))
        for question in repo.questions:
            files = ", ".join(target.path for target in question.targets)
            said = [Message("user", question.text), Message("assistant", f"Look at {files}.")]
            await store.timeline.append(repo.name, said)
    await embed_missing(store, embedder)


def messages(
    talks: Sequence[Talk], repos: Sequence[Repository]
) -> Iterator[tuple[str, str, str, frozenset[str]]]:
    """Yield what is asked: the kind, the project, the text, the turns that answer it."""
    for talk in talks:
        for question in talk.questions:
            evidence = frozenset(f"{talk.name}:{one}" for one in question.evidence)
            yield "its own questions", PEOPLE, question.text, evidence
            yield "people's questions of code", CODE, question.text, frozenset()
    for repo in repos:
        for asked in repo.questions:
            yield "code questions", PEOPLE, asked.text, frozenset()
    for row in written("off_topic"):
        yield f"off {row['split']}", PEOPLE, row["text"], frozenset()
        yield f"off {row['split']} of code", CODE, row["text"], frozenset()


async def ask(
    finder: MemorySearch, kind: str, project: str, text: str, evidence: frozenset[str]
) -> Asked:
    seen: list[tuple[float, float, float]] = []

    def keep(words: Sequence[str], found: WordMatches, nearest: float | None) -> float:
        likely = estimate_memory_relevance(words, found, nearest)
        seen.append((measure_word_share(words, found), nearest or 0.0, likely))
        return likely

    with patch.object(combined, "estimate_memory_relevance", keep):
        hits = await search_conversation_history(
            finder, text, MemoryFilter(project_ids=[project]), max_results=HITS, levels=(0,)
        )
    there = evidence.intersection(hit.turn.uuid for hit in hits if hit.type == "turn")
    return Asked(kind, text, *seen[0], recall=len(there) / max(len(evidence), 1))


def fit(asked: Sequence[Asked], by_meaning: bool) -> list[float]:
    """Return the bias and the weights of words and meaning: a logistic regression."""
    chosen = [one for one in asked if one.kind in SHARES and not is_small_talk(one.text)]
    counts = {kind: sum(one.kind == kind for one in chosen) for kind in SHARES}
    table = np.array([[1.0, one.held, one.nearest][: 2 + by_meaning] for one in chosen])
    about = np.array([float(one.kind == "its own questions") for one in chosen])
    shares = np.array([SHARES[one.kind] / counts[one.kind] for one in chosen])
    shares /= shares.sum()
    keep = 1e-3 * np.diag([0.0, *np.ones(table.shape[1] - 1)])
    weights = np.zeros(table.shape[1])
    for _ in range(50):
        likely = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (shares * (likely - about)) + keep @ weights
        bend = (table * (shares * likely * (1 - likely))[:, None]).T @ table + keep
        weights -= np.linalg.solve(bend, slope)
    fitted: list[float] = weights.round(2).tolist()
    return fitted


def report(asked: Sequence[Asked]) -> dict[str, Any]:
    kinds: dict[str, list[bool]] = defaultdict(list)
    for one in asked:
        kinds[one.kind].append(one.passes)
    own = [one for one in asked if one.kind == "its own questions"]
    results: dict[str, Any] = {
        "get past turns": {kind: round(statistics.mean(some), 4) for kind, some in kinds.items()},
        "recall before": round(statistics.mean(one.recall for one in own), 4),
        "recall after": round(statistics.mean(one.recall * one.passes for one in own), 4),
        "any evidence before": round(statistics.mean(one.recall > 0 for one in own), 4),
        "any evidence after": round(statistics.mean(one.recall * one.passes > 0 for one in own), 4),
    }
    for name, value in results.items():
        print(f"{name}: {value}")
    return results


async def run(chosen: argparse.Namespace, folder: Path) -> None:
    talks, repos = load(chosen.data / "memory" / "locomo-dev.json"), repositories(chosen.data)
    embedder = BundledEmbedder()
    store = await open_sqlite(folder / "store.db", WORDS, REDACTOR)
    try:
        with patch.object(memory_recall, "project_of", lambda _: PEOPLE):
            await fill(store, talks, embedder)
        await fill_with_code(store, repos, embedder)
        finder = MemorySearch(store, embedder)
        asked = [await ask(finder, *message) for message in messages(talks, repos)]
    finally:
        await store.close()
    results = report(asked)
    if chosen.fit:
        results["weights"] = {"with vectors": fit(asked, True), "words alone": fit(asked, False)}
        print(results["weights"])
    print(f"saved to {save('memory-relevance', results)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    default = Path(os.environ.get(DATA, PROJECT.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=default, help=f"or {DATA}")
    parser.add_argument("--fit", action="store_true", help="print new weights")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(chosen, Path(folder)))


if __name__ == "__main__":
    main()
