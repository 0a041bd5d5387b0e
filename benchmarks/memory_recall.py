"""Is the right turn found? Recall@10 and @25 over long conversations with questions.

    python -m benchmarks.memory_recall [--data FOLDER] [--leave-one-out]

The conversations are LoCoMo's (snap-research, CC BY-NC 4.0: for measuring only). Each is a
project, each of its sessions a conversation of that project, and each utterance the user
message of a turn, `Speaker: text`, at the session's date: so a document is an utterance. All are
in one store; a question searches its own project. Gold is the `evidence` of a question; a
question's recall is the share of it among the first k turns, and figures are means over questions.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import math
import re
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias, cast

from benchmarks.measure import Row, make_parser, require, save
from benchmarks.opening import open_file
from benchmarks.peers import add_places
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.adapters.stores.holders import this_process
from ragforge.domain import bm25
from ragforge.domain.conversations import Conversation, MemoryFilter, Message
from ragforge.domain.hits import Match, SummaryHit, TurnHit, WordMatches
from ragforge.domain.schema import CONVERSATION, SUMMARY, TURN
from ragforge.domain.summaries import SummaryFilter
from ragforge.domain.vectors import MeaningWeights
from ragforge.domain.work import finish
from ragforge.memory.embed import embed_missing, embed_query, to_turn_model
from ragforge.memory.search.combined import search_conversation_history
from ragforge.memory.search.turns import MemorySearch
from ragforge.memory.summaries.condense import SUMMARY_JOB, Condenser, ExtractiveSummariser
from ragforge.memory.summaries.due import Thresholds
from ragforge.ports.search_index import SearchIndex
from ragforge.ports.store import Store
from ragforge.search import turn_rank
from ragforge.search.words.tokenise import WORDS

DEPTHS = (10, 25)
LEVEL_CHARS = 1_000
"""Sessions are short: at the default threshold they would get no summaries."""
CATEGORIES = {1: "several facts", 2: "time", 3: "world knowledge", 4: "one fact", 5: "not said"}
FULL = "ragforge"


@dataclass(frozen=True, slots=True)
class Utterance:
    id: str
    session: int
    text: str  # `Speaker: what was said`


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    category: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Talk:
    """One long conversation, its sessions' dates, and questions about it."""

    name: str
    utterances: tuple[Utterance, ...]
    dates: Mapping[int, datetime]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """How one way to search did on one question."""

    talk: str
    category: str
    recall: tuple[float, ...]  # one for each depth
    cpu: float  # seconds


Search: TypeAlias = Callable[[Talk, str], Awaitable[Sequence[str]]]


def load(file: Path) -> list[Talk]:
    """Read the conversations. Exits if they are not there."""
    if not file.exists():
        sys.exit(f"{file} is not there: LoCoMo's conversations, github.com/snap-research/locomo.")
    return [_talk(sample) for sample in json.loads(file.read_text("utf-8"))]


def _talk(sample: Mapping[str, Any]) -> Talk:
    said = sample["conversation"]
    numbers = sorted(int(m[1]) for key in said if (m := re.fullmatch(r"session_(\d+)", key)))
    utterances = tuple(
        Utterance(one["dia_id"], number, f"{one['speaker']}: {one['text']}")
        for number in numbers
        for one in said[f"session_{number}"]
    )
    known = {one.id for one in utterances}
    questions = [
        Question(
            qa["question"],
            CATEGORIES[qa["category"]],
            # Some name several in one string.
            frozenset(re.findall(r"D\d+:\d+", " ".join(qa["evidence"]))) & known,
        )
        for qa in sample["qa"]
    ]
    return Talk(
        sample["sample_id"],
        utterances,
        {number: _date(said[f"session_{number}_date_time"]) for number in numbers},
        tuple(question for question in questions if question.evidence),
    )


def _date(text: str) -> datetime:
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


async def fill(store: Store, talks: Sequence[Talk], embedder: BundledEmbedder) -> None:
    """Store everything that was said, as it would have been while it was said."""
    for talk in talks:
        sessions = itertools.groupby(talk.utterances, lambda one: one.session)
        for number, said in sessions:
            place, uuid = project_of(talk), f"{talk.name}:{number}"
            await store.records.put(CONVERSATION, Conversation(place, place, uuid=uuid))
            moment = talk.dates[number]
            for minute, one in enumerate(said):
                message = Message(
                    "user",
                    one.text,
                    uuid=f"{talk.name}:{one.id}",
                    timestamp=moment + timedelta(minutes=minute),
                )
                await store.timeline.append(uuid, [message])
    await embed_missing(store, embedder)


def project_of(talk: Talk) -> str:
    return f"/locomo/{talk.name}"


def through(finder: MemorySearch, semantic: bool = True) -> Search:
    """Return the product's search."""

    async def search(talk: Talk, query: str) -> list[str]:
        where = MemoryFilter(project_ids=[project_of(talk)])
        found = await search_conversation_history(
            finder, query, where, semantic=semantic, max_results=max(DEPTHS), levels=(0,)
        )
        return [hit.turn.uuid for hit in found if hit.type == "turn"]

    return search


async def condense(store: Store, talks: Sequence[Talk], embedder: BundledEmbedder) -> int:
    """Give every session its summaries, without a model; return how many there are."""
    thresholds = Thresholds(level_1=LEVEL_CHARS, level_2=LEVEL_CHARS)
    condenser = Condenser(store, ExtractiveSummariser(), thresholds, embedder)
    holder, minute = this_process(), timedelta(minutes=1)
    for talk in talks:
        for number in talk.dates:
            await condenser.enqueue_due(f"{talk.name}:{number}")
    while job := await store.jobs.claim(holder, minute, [SUMMARY_JOB]):
        await condenser.work(job.payload)
        await store.jobs.settle(finish(job), holder)
    return len(await store.records.find(SUMMARY, SummaryFilter()))


def with_levels(finder: MemorySearch, store: Store, opened: bool) -> Search:
    """Return the product's search over turns and summaries.

    A summary takes the place of a turn; `opened`, it is replaced by the turns that it covers.
    """
    covered: dict[str, list[str]] = {}

    async def turns_of(hit: SummaryHit) -> list[str]:
        known = covered.get(hit.summary.uuid)
        if known is None:
            first, last = hit.turn_range
            said = await store.timeline.messages(hit.conversation_id, first, last)
            known = covered[hit.summary.uuid] = [message.uuid for message in said]
        return known

    async def search(talk: Talk, query: str) -> list[str]:
        where = MemoryFilter(project_ids=[project_of(talk)])
        found = await search_conversation_history(finder, query, where, max_results=max(DEPTHS))
        places: list[str] = []
        for hit in found:
            if isinstance(hit, TurnHit):
                places.append(hit.turn.uuid)
            else:
                places.append("+".join(await turns_of(hit)) if opened else hit.summary.uuid)
        return places

    return search


def by_vectors(finder: MemorySearch) -> Search:
    async def search(talk: Talk, query: str) -> list[str]:
        where = MemoryFilter(project_ids=[project_of(talk)])
        vector = await embed_query(finder.embedder, query)
        if vector is None:
            return []
        found = (
            await finder.store.index.search(
                TURN, "", to_turn_model(vector), where, max(DEPTHS), read=0
            )
        ).by_vector
        return [match.id for match in found]

    return search


class WithoutNeighbours:
    """An index whose turns have no neighbours: how much do they help?"""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    async def match_turns(self, *arguments: Any) -> tuple[WordMatches, list[Match]]:
        found, near = await self._index.match_turns(*arguments)
        apart = (match._replace(conversation_id=match.id) for match in found.matches)
        return replace(found, matches=tuple(apart)), near


class Bm25:
    """Plain BM25 (k1 1.2, b 0.75) over the same words, for comparison."""

    def __init__(self, talk: Talk, before: int) -> None:
        """Each document holds its utterance and this many before it."""
        texts = [one.text for one in talk.utterances]
        self._ids = [f"{talk.name}:{one.id}" for one in talk.utterances]
        self._documents = [
            Counter(WORDS.document("\n".join(texts[max(n - before, 0) : n + 1])).split())
            for n in range(len(texts))
        ]
        self._holders = Counter(word for document in self._documents for word in document)
        self._usual = statistics.fmean(document.total() for document in self._documents)

    def __call__(self, query: str) -> list[str]:
        words = WORDS.query(query)
        scores = [sum(self._score(word, doc) for word in words) for doc in self._documents]
        order = sorted(range(len(scores)), key=lambda n: -scores[n])
        return [self._ids[n] for n in order[: max(DEPTHS)]]

    def _score(self, word: str, document: Counter[str]) -> float:
        if not (times := document[word]):
            return 0.0
        count, every = self._holders[word], len(self._documents)
        worth = math.log(1 + (every - count + 0.5) / (count + 0.5))
        long = 0.25 + 0.75 * document.total() / self._usual
        return worth * times * 2.2 / (times + 1.2 * long)


def plain_bm25(before: int) -> Search:
    made: dict[str, Bm25] = {}

    async def search(talk: Talk, query: str) -> list[str]:
        if talk.name not in made:
            made[talk.name] = Bm25(talk, before)
        return made[talk.name](query)

    return search


def ways(finder: MemorySearch) -> dict[str, Search]:
    index = cast(SearchIndex, WithoutNeighbours(finder.store.index))
    without = replace(finder, store=replace(finder.store, index=index))
    return {
        FULL: through(finder),
        "words alone, with neighbours": through(finder, semantic=False),
        "without neighbours": through(without),
        "words alone, without neighbours": through(without, semantic=False),
        "vectors alone": by_vectors(finder),
        "plain BM25": plain_bm25(0),
        "plain BM25 with the turn before": plain_bm25(1),
    }


async def ask(talks: Sequence[Talk], search: Search) -> list[Score]:
    """Ask every question, warm."""
    await search(talks[0], "warm up")
    scores = []
    for talk in talks:
        for question in talk.questions:
            start = time.process_time()
            found = await search(talk, question.text)
            cpu = time.process_time() - start
            gold = {f"{talk.name}:{one}" for one in question.evidence}
            shares = tuple(
                len(gold.intersection("+".join(found[:depth]).split("+"))) / len(gold)
                for depth in DEPTHS
            )
            scores.append(Score(talk.name, question.category, shares, cpu))
    return scores


def mean(scores: Sequence[Score]) -> dict[str, float]:
    return {
        f"recall@{depth}": round(statistics.fmean(score.recall[n] for score in scores), 4)
        for n, depth in enumerate(DEPTHS)
    }


def summary(scores: Sequence[Score]) -> dict[str, Any]:
    def split(key: Callable[[Score], str]) -> dict[str, dict[str, float]]:
        parts = defaultdict(list)
        for score in scores:
            parts[key(score)].append(score)
        return {name: {"questions": len(some), **mean(some)} for name, some in parts.items()}

    return {
        "questions": len(scores),
        **mean(scores),
        "query_cpu_p50_ms": round(statistics.median(s.cpu for s in scores) * 1000, 2),
        "categories": split(lambda score: score.category),
        "conversations": split(lambda score: score.talk),
    }


class Weighted(BundledEmbedder):
    """The bundled model with another weight relative to words."""

    def __init__(self, weight: float) -> None:
        super().__init__()
        self.weights = MeaningWeights(memory=weight)


@contextmanager
def set_to(lent: float, long: float) -> Iterator[None]:
    """Give the numbers that were chosen on such questions other values for a while."""
    before = turn_rank.LENT, bm25.B
    turn_rank.LENT, bm25.B = lent, long
    try:
        yield
    finally:
        turn_rank.LENT, bm25.B = before


async def leave_one_out(talks: Sequence[Talk], finder: MemorySearch) -> dict[str, Any]:
    """Choose the numbers on all conversations but one, and measure them on that one."""
    tried: dict[tuple[float, float, float], list[Score]] = {}
    for chosen in itertools.product((0.6, 0.7, 0.75, 0.8), (0.4, 0.5, 0.75), (0.2, 0.3, 0.4)):
        lent, long, weight = chosen
        with set_to(lent, long):
            weighted = replace(finder, embedder=Weighted(weight))
            tried[chosen] = await ask(talks, through(weighted))
    held_out: list[Score] = []
    picked = {}
    for talk in talks:

        def elsewhere(chosen: tuple[float, float, float], name: str = talk.name) -> float:
            return statistics.fmean(s.recall[0] for s in tried[chosen] if s.talk != name)

        best = max(tried, key=elsewhere)
        picked[talk.name] = dict(zip(("lent", "long", "weight"), best, strict=True))
        held_out += [score for score in tried[best] if score.talk == talk.name]
    each = {" ".join(map(str, chosen)): mean(scores) for chosen, scores in tried.items()}
    return {**mean(held_out), "picked": picked, "tried (lent long weight)": each}


def show(results: Mapping[str, dict[str, Any]]) -> None:
    print(f"{'':<34}" + "".join(f"{f'recall@{depth}':>11}" for depth in DEPTHS) + "   CPU p50")
    for name, result in results.items():
        cells = "".join(f"{result[f'recall@{depth}']:>11.3f}" for depth in DEPTHS)
        print(f"{name:<34}{cells} {result['query_cpu_p50_ms']:>6.1f} ms")
    for part in ("categories", "conversations"):
        print(f"\n{part}, recall@10")
        for key, row in results[FULL][part].items():
            cells = "".join(f"{r[part][key]['recall@10']:>7.3f}" for r in results.values())
            print(f"  {key:<18} {row['questions']:>4} {cells}")


async def run(chosen: argparse.Namespace, folder: Path) -> None:
    talks = load(chosen.data / "memory" / "locomo-dev.json")
    embedder = BundledEmbedder()
    async with open_file(folder / "store.db") as store:
        await fill(store, talks, embedder)
        finder = MemorySearch(store, embedder)
        results = {name: summary(await ask(talks, search)) for name, search in ways(finder).items()}
        show(results)
        require(results[FULL]["recall@10"] > 0.2, "Hardly any question finds its turn.")
        saved: dict[str, Any] = {"ways": results}
        saved["summaries"] = await condense(store, talks, embedder)
        for name, opened in (("summaries beside turns", False), ("summaries opened", True)):
            scores = await ask(talks, with_levels(finder, store, opened))
            saved["ways"][name] = summary(scores)
            print(name, {f"recall@{d}": saved["ways"][name][f"recall@{d}"] for d in DEPTHS})
        if chosen.leave_one_out:
            saved["leave one out"] = await leave_one_out(talks, finder)
            print(json.dumps(saved["leave one out"], indent=1))
    recall = {name: way["recall@10"] for name, way in saved["ways"].items()}
    plain = recall["plain BM25 with the turn before"]
    peers = ", ".join(f"{name} {recall[name]:.3f}" for name in ("plain BM25", "vectors alone"))
    work = f"recall of turns, {saved['ways'][FULL]['questions']} questions, recall@10"
    peers += f", BM25 with the turn before {plain:.3f}"
    save("memory-recall", saved, [Row(work, recall[FULL], "", plain, peers, is_minimum=True)])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    add_places(parser)
    parser.add_argument("--leave-one-out", action="store_true", help="choose the numbers again")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(chosen, Path(folder)))


if __name__ == "__main__":
    main()
