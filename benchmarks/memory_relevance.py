"""Does a message have to do with what was said before? Questions about it against others.

    python -m benchmarks.memory_relevance [--desk REPOSITORY] [--fit] [--data FOLDER]

Two memories in one store: LoCoMo's four long conversations in one project, and one of turns
about code, which are the questions of the code-search set with the files that answer them. To the
first belong LoCoMo's own questions; to neither what was written for `questions/off_topic.json`.
`--desk` adds a programmers' history (see `benchmarks.desk`): its questions and its real prompts
belong to it; to it do not belong questions about other repositories and prompts for silence.
Reported: which share of each kind of message gets past turns, how much of LoCoMo's evidence is
among the first 60 hits before and after what is not relevant is left out, and what share of the
messages that are estimated at a tenth belongs to the memory. `--fit` prints the weights of a
logistic regression for `ragforge.search.relevance`; the reliability is that of the messages that
took no part in it.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks import memory_recall
from benchmarks.calibration import Judged, fit, measure_reliability
from benchmarks.desk import questions as desk_questions
from benchmarks.desk.__main__ import CACHE, CUT_OFFS, PROMPTS, make_end, prepare
from benchmarks.desk.replay import plan
from benchmarks.desk.silence import read_prompts
from benchmarks.measure import make_parser, require, save
from benchmarks.memory_recall import Talk, fill, load
from benchmarks.opening import open_file
from benchmarks.peers import Repository, add_places, repositories
from benchmarks.relevance import written
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.domain.conversations import Conversation, MemoryFilter, Message
from ragforge.domain.hits import MIN_RELEVANCE, WordMatches
from ragforge.domain.schema import CONVERSATION
from ragforge.memory.embed import embed_missing
from ragforge.memory.search import combined
from ragforge.memory.search.combined import search_conversation_history
from ragforge.memory.search.turns import MemorySearch
from ragforge.ports.store import Store
from ragforge.search.memory_relevance import (
    asks_about_past,
    count_words,
    estimate_memory_relevance,
    gather_memory_evidence,
)
from ragforge.search.question.message_kinds import needs_nothing
from ragforge.search.question.wording import Wording
from ragforge.search.relevance import Evidence

HITS = 60
PEOPLE, CODE = "/people", "/code"
OTHER_QUESTIONS = 150
SHARES = {
    "its own questions": 0.25,
    "code questions": 0.05,
    "people's questions of code": 0.05,
    "off choose of code": 0.02,
    "off choose": 0.02,
    "desk dev": 0.22,
    "desk prompts that name something": 0.13,
    "desk: other repositories": 0.22,
    "desk: off choose": 0.09,
    "desk: dev general knowledge": 0.08,
    "desk: dev other projects": 0.16,
}
"""How much each kind of message counts in the fit, however many there are."""
HELD = {"desk held", "desk: held general knowledge", "desk: held other projects"}
"""Kinds for the reliability curve, in addition to the messages of a check."""
ABOUT = {"its own questions", "desk dev", "desk held", "desk prompts that name something"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A message that was asked of a memory, and what spoke for it there."""

    kind: str
    text: str
    evidence: Evidence
    relevance: float
    recall: float  # the share of its evidence among the hits

    @property
    def passes(self) -> bool:
        kept = self.relevance >= MIN_RELEVANCE or asks_about_past(self.text)
        return kept and not needs_nothing(self.text)


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
    seen: list[tuple[float, Evidence]] = []

    def keep(wording: Wording, found: WordMatches, nearest: float | None) -> float:
        likely = estimate_memory_relevance(wording, found, nearest)
        seen.append((likely, gather_memory_evidence(*count_words(wording, found), nearest)))
        return likely

    with patch.object(combined, "estimate_memory_relevance", keep):
        hits = await search_conversation_history(
            finder, text, MemoryFilter(project_ids=[project]), max_results=HITS, levels=(0,)
        )
    there = evidence.intersection(hit.turn.uuid for hit in hits if hit.type == "turn")
    likely, spoke = seen[0]
    return Asked(kind, text, spoke, likely, recall=len(there) / max(len(evidence), 1))


async def ask_desk(repository: Path, repos: Sequence[Repository]) -> list[Asked]:
    """Ask a programmers' history: all of it, and for real prompts what was there before them."""
    desk, history = prepare(repository, CACHE)
    cuts = plan(desk.repository, history.list_askable(), CUT_OFFS, PROMPTS)
    other = [question.text for repo in repos for question in repo.questions]
    step = max(len(other) // OTHER_QUESTIONS, 1)
    silent = [
        (f"desk: {one.half} {one.kind}", one.prompt)
        for one in read_prompts()
        if one.kind in ("general knowledge", "other projects")
    ]
    asked: list[Asked] = []
    async with desk.open(desk.find_store(make_end(desk, history))) as app:
        rows = [
            *((f"desk {q.half}", q.question) for q in desk_questions.read_questions(history.turns)),
            *(("desk: other repositories", text) for text in other[::step]),
            *((f"desk: off {row['split']}", row["text"]) for row in written("off_topic")),
            *silent,
        ]
        for kind, text in rows:
            asked.append(await ask(app.recall, kind, app.project.id, text, frozenset()))
    for cut in cuts:
        async with desk.open(desk.find_store(cut)) as app:
            for turn in cut.prompts:
                label = history.label(turn, cut.moment, frozenset())
                kind = f"desk prompts that name {'something' if label.names else 'nothing'}"
                asked.append(await ask(app.recall, kind, app.project.id, turn.prompt, frozenset()))
    return asked


def judge(asked: Sequence[Asked]) -> list[Judged]:
    """Return the messages of the fit; each kind counts its share, however many there are."""
    some = [one for one in asked if one.kind in SHARES and not needs_nothing(one.text)]
    counts = Counter(one.kind for one in some)
    return [
        Judged(
            one.evidence[:3], one.relevance, one.kind in ABOUT, SHARES[one.kind] / counts[one.kind]
        )
        for one in some
    ]


def judge_unseen(asked: Sequence[Asked]) -> list[Judged]:
    """Return the messages that took no part in the fit; those that belong count as much."""
    some = [
        one
        for one in asked
        if (one.kind in HELD or "check" in one.kind) and not needs_nothing(one.text)
    ]
    about = sum(one.kind in ABOUT for one in some)
    worth = {True: 1 / max(about, 1), False: 1 / max(len(some) - about, 1)}
    return [
        Judged(one.evidence, one.relevance, is_about, worth[is_about])
        for one in some
        for is_about in (one.kind in ABOUT,)
    ]


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
    async with open_file(folder / "store.db") as store:
        with patch.object(memory_recall, "project_of", lambda _: PEOPLE):
            await fill(store, talks, embedder)
        await fill_with_code(store, repos, embedder)
        finder = MemorySearch(store, embedder)
        asked = [await ask(finder, *message) for message in messages(talks, repos)]
    if chosen.desk is not None:
        asked += await ask_desk(chosen.desk, repos)
    require(any(one.recall for one in asked), "No question finds what was said.")
    results = report(asked)
    results["reliability"] = curve = measure_reliability(judge_unseen(asked))
    for estimate, share, count in curve:
        print(f"estimated {estimate:.2f}: {share:.2f} of {count}")
    if chosen.fit:
        judged = judge(asked)
        by_words = [one._replace(evidence=one.evidence[1:]) for one in judged]
        results["weights"] = {"with vectors": fit(judged), "words alone": fit(by_words)}
        print(results["weights"])
    save("memory-relevance", results)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    add_places(parser)
    parser.add_argument("--desk", type=Path, metavar="REPOSITORY")
    parser.add_argument("--fit", action="store_true", help="print new weights")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(chosen, Path(folder)))


if __name__ == "__main__":
    main()
