"""How well is code found? NDCG@10 over 26 repositories in 19 languages.

    python -m benchmarks.code_search [--ablation] [--only gin,redux] [--no-semble]
                                     [--repos FOLDER] [--data FOLDER] [--semble PYTHON]

Each repository goes into a fresh store, with the bundled embedder; then every question is
asked. A hit counts for a target whose path ends like its own (or the other way round) and
whose lines, where there are any, overlap. Figures are means over repositories of the mean
over a repository's questions, once for the hits as returned and once for one hit a file.
For comparison, with the same questions and the same scoring: only BM25 over our scopes, and semble.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, cast

from benchmarks.measure import Row, make_parser, require, save
from benchmarks.opening import open_code
from benchmarks.peers import (
    Question,
    Repository,
    Semble,
    Target,
    add_places,
    choose_repositories,
    find_semble,
)
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.brain.project import Brain
from ragforge.brain.search.code import BY_MEANING, BY_WORDS
from ragforge.domain.code import CodeFilter, Scope
from ragforge.domain.hits import Match
from ragforge.domain.schema import SCOPE
from ragforge.ports.code_graph import CodeGraph
from ragforge.ports.store import Records
from ragforge.search.turn_rank import mix_scores

TOP = 10
ENOUGH_FOR_FILES = 100
"""How many hits are asked for so that ten files are among them."""
VECTOR_WEIGHT = 0.3
MIN_SANE = 0.2
"""Random hits have less."""
FULL = "ragforge"
BM25 = "raw BM25"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a hit is."""

    path: str
    start_line: int
    end_line: int

    def answers(self, target: Target) -> bool:
        if not (_ends_with(self.path, target.path) or _ends_with(target.path, self.path)):
            return False
        if target.lines is None:
            return True
        return self.start_line <= target.lines[1] and target.lines[0] <= self.end_line


def _ends_with(path: str, end: str) -> bool:
    return path == end or path.endswith(f"/{end}")


Search: TypeAlias = Callable[[str, int], Awaitable[Sequence[Place]]]


@dataclass(frozen=True, slots=True)
class Score:
    """How one way to search did on one question."""

    repository: str
    language: str
    category: str
    hits: float  # NDCG@10 of the hits as returned
    files: float  # NDCG@10 of the first hit of each file
    cpu: float  # seconds


def ndcg(places: Sequence[Place], targets: Sequence[Target]) -> float:
    """Return the gain of the first hit of each target, as a share of the best possible."""
    gain = 0.0
    for target in targets:
        ranks = (n for n, place in enumerate(places[:TOP], 1) if place.answers(target))
        rank = next(ranks, None)
        gain += 1 / math.log2(1 + rank) if rank else 0.0
    best = sum(1 / math.log2(1 + rank) for rank in range(1, min(len(targets), TOP) + 1))
    return min(gain / best, 1.0)  # one hit can answer two targets


def one_a_file(places: Iterable[Place]) -> list[Place]:
    first: dict[str, Place] = {}
    for place in places:
        first.setdefault(place.path, place)
    return list(first.values())


def scored(
    repo: Repository,
    question: Question,
    hits: Sequence[Place],
    more: Sequence[Place],
    cpu: float,
) -> Score:
    return Score(
        repo.name,
        repo.language,
        question.category,
        ndcg(hits, question.targets),
        ndcg(one_a_file(more), question.targets),
        cpu,
    )


Change: TypeAlias = Callable[[Any], Any]

NO_WORDS: Mapping[str, Change] = {"search": lambda found: found._replace(by_words=[])}
NO_NAMES: Mapping[str, Change] = {"find": lambda _: []}
NO_GRAPH: Mapping[str, Change] = {
    "importers": lambda _: {},
    "search": lambda found: found._replace(importers={}),
}


class Without:
    """A port that leaves something out of its answers: how good is a search without it?"""

    def __init__(self, port: object, changes: Mapping[str, Change]) -> None:
        self._port = port
        self._changes = changes

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._port, name)
        if name not in self._changes:
            return call

        async def changed(*given: Any, **named: Any) -> Any:
            return self._changes[name](await call(*given, **named))

        return changed


def without(brain: Brain, changes: Mapping[str, Change]) -> Search:
    """Return the product's search over a store whose answers are changed."""
    ports = brain.store.code, brain.store.records
    for name in changes:  # a call that is gone would leave out nothing
        assert any(hasattr(port, name) for port in ports), name
    code, records = (Without(port, changes) for port in ports)
    store = replace(brain.store, code=cast(CodeGraph, code), records=cast(Records, records))
    return through(replace(brain, ingester=replace(brain.ingester, store=store)))


def through(brain: Brain) -> Search:
    """Return the product's search."""

    async def search(query: str, limit: int) -> list[Place]:
        return [_place(hit.scope) for hit in await brain.search(query, limit)]

    return search


def unranked(brain: Brain, find: Callable[[str, CodeFilter], Awaitable[Sequence[str]]]) -> Search:
    """Return a search whose order is that of the ids found."""

    async def search(query: str, limit: int) -> list[Place]:
        ids = await find(query, CodeFilter(project_id=brain.project_id))
        scopes = await brain.store.records.get_many(SCOPE, ids[:limit])
        return [_place(scopes[found]) for found in ids[:limit]]

    return search


def _place(scope: Scope) -> Place:
    return Place(scope.file, scope.start_line, scope.end_line)


async def by_words(brain: Brain, query: str, where: CodeFilter) -> list[Match]:
    return (await brain.code.search(query, None, where, BY_WORDS)).by_words


async def by_vector(brain: Brain, query: str, where: CodeFilter) -> list[Match]:
    assert brain.embedder is not None
    vector = await brain.embedder.embed_query(query)
    if vector is None:
        return []
    limit = max(BY_MEANING, ENOUGH_FOR_FILES)
    return (await brain.code.search("", vector, where, limit)).by_vector


def raw_bm25(brain: Brain) -> Search:
    async def find(query: str, where: CodeFilter) -> list[str]:
        return [match.id for match in await by_words(brain, query, where)]

    return unranked(brain, find)


def raw_vectors(brain: Brain) -> Search:
    async def find(query: str, where: CodeFilter) -> list[str]:
        return [match.id for match in await by_vector(brain, query, where)]

    return unranked(brain, find)


def spread(matches: Sequence[Match]) -> dict[str, float]:
    """Bring scores to 0..1: the best is 1; the worst keeps a little, for it was found."""
    scores = [match.score for match in matches]
    low, room = min(scores, default=0.0), max(scores, default=0.0) - min(scores, default=0.0)
    return {m.id: 0.05 + 0.95 * (m.score - low) / room if room else 1.0 for m in matches}


def fused(brain: Brain) -> Search:
    async def find(query: str, where: CodeFilter) -> list[str]:
        words = await by_words(brain, query, where)
        vectors = await by_vector(brain, query, where)
        return list(mix_scores(spread(words), spread(vectors), VECTOR_WEIGHT))

    return unranked(brain, find)


def ways(brain: Brain, ablation: bool) -> dict[str, Search]:
    """Return the ways to search that are compared."""
    chosen = {FULL: through(brain), BM25: raw_bm25(brain)}
    if not ablation:
        return chosen
    wordy = replace(brain, embedder=None)
    return chosen | {
        "words only, ranked": through(wordy),
        "vectors only, ranked": without(brain, {**NO_WORDS, **NO_NAMES}),
        "vectors only, not ranked": raw_vectors(brain),
        "no ranking (convex .3)": fused(brain),
        "no graph": without(brain, NO_GRAPH),
        "no names": without(brain, NO_NAMES),
    }


async def ask(repo: Repository, search: Search) -> list[Score]:
    """Ask every question of a repository, warm."""
    await search("warm up: the first one loads what it needs", TOP)
    scores, found = [], 0
    for question in repo.questions:
        start = time.process_time()
        hits = await search(question.text, TOP)
        cpu = time.process_time() - start
        more = await search(question.text, ENOUGH_FOR_FILES)
        found += bool(hits)
        scores.append(scored(repo, question, hits, more, cpu))
    share = found / len(repo.questions)
    require(share > 0.5, f"{share:.0%} of the questions about {repo.name} have any hit.")
    return scores


async def measure(
    repo: Repository, root: Path, file: Path, embedder: BundledEmbedder, ablation: bool
) -> dict[str, list[Score]]:
    """Ingest a repository into a fresh store and search it in every way."""
    async with open_code(file, root, embedder) as brain:
        return {name: await ask(repo, search) for name, search in ways(brain, ablation).items()}


def ask_semble(repo: Repository, root: Path, semble: Semble) -> list[Score]:
    found = semble.answers(root, [q.text for q in repo.questions], [TOP, TOP * 5])
    scores = []
    for question, both, cpu in zip(repo.questions, found["hits"], found["query_cpu"], strict=True):
        hits, more = ([Place(*place) for place in places] for places in both)
        scores.append(scored(repo, question, hits, more, cpu))
    require(any(score.hits for score in scores), f"semble finds nothing in {repo.name}.")
    return scores


def mean_of_means(scores: Iterable[Score], value: Callable[[Score], float]) -> float:
    """Return the mean over repositories of the mean over their questions."""
    by_repository: dict[str, list[float]] = defaultdict(list)
    for score in scores:
        by_repository[score.repository].append(value(score))
    return round(statistics.fmean(map(statistics.fmean, by_repository.values())), 4)


def both(scores: Sequence[Score]) -> dict[str, float]:
    return {
        "hits": mean_of_means(scores, lambda score: score.hits),
        "files": mean_of_means(scores, lambda score: score.files),
    }


def split(scores: Sequence[Score], key: Callable[[Score], str]) -> dict[str, dict[str, float]]:
    return {
        name: both([score for score in scores if key(score) == name])
        for name in sorted({key(score) for score in scores})
    }


def summary(scores: Sequence[Score]) -> dict[str, Any]:
    return {
        "ndcg@10": both(scores),
        "query_cpu_p50_ms": round(statistics.median(s.cpu for s in scores) * 1000, 2),
        "categories": split(scores, lambda score: score.category),
        "languages": split(scores, lambda score: score.language),
        "repositories": split(scores, lambda score: score.repository),
    }


def show(results: Mapping[str, dict[str, Any]], notes: Sequence[str]) -> None:
    """Print a line a way, then languages and categories of the product and its peers."""
    print(f"\n{'NDCG@10':<28} {'hits':>6} {'files':>6}   query CPU p50")
    for name, result in results.items():
        mean = result["ndcg@10"]
        cpu = result["query_cpu_p50_ms"]
        print(f"{name:<28} {mean['hits']:>6.3f} {mean['files']:>6.3f} {cpu:>9.1f} ms")
    shown = [name for name in results if name in (FULL, BM25) or name.startswith("semble")]
    for part in ("categories", "languages"):
        print(f"\n{part + ' (hits / files)':<24} " + "".join(f"{name:>28}" for name in shown))
        for key in results[FULL][part]:
            cells = (results[name][part][key] for name in shown)
            print(f"{key:<24} " + "".join(f"{c['hits']:>20.3f} / {c['files']:.3f}" for c in cells))
    for note in notes:
        print(f"\n{note}")


async def run(chosen: argparse.Namespace, repos: Sequence[Repository], work: Path) -> None:
    embedder = BundledEmbedder()
    semble = find_peer(chosen, repos, work)
    scores: dict[str, list[Score]] = defaultdict(list)
    for repo in repos:
        root = chosen.repos / repo.name / repo.root
        store = work / f"{repo.name}.db"
        found = await measure(repo, root, store, embedder, chosen.ablation)
        if isinstance(semble, Semble):
            found[semble.label] = ask_semble(repo, root, semble)
        for name, some in found.items():
            scores[name] += some
        line = "  ".join(f"{name} {both(some)['hits']:.3f}" for name, some in found.items())
        print(f"{repo.name:<22} {line}", flush=True)
    results = {name: summary(some) for name, some in scores.items()}
    notes = [semble] if isinstance(semble, str) else [note_on(semble)]
    show(results, notes)
    saved = {"repositories": len(repos), "notes": notes, "ways": results}
    name = "code-search" if not chosen.only else "code-search-some"
    save(name, saved, make_rows(results, len(repos)))


def make_rows(results: Mapping[str, dict[str, Any]], repositories: int) -> list[Row]:
    """Return the rows of the page: the product next to the best of its peers."""
    means = {name: result["ndcg@10"]["hits"] for name, result in results.items()}
    peers = ", ".join(f"{name} {mean:.3f}" for name, mean in means.items() if name != FULL)
    require(means[FULL] > MIN_SANE, f"NDCG@10 is {means[FULL]}: hardly anything is found.")
    best = max(mean for name, mean in means.items() if name == BM25 or "semble" in name)
    work = f"code search, {repositories} repositories"
    return [Row(f"{work}, NDCG@10", means[FULL], "", round(best, 3), peers, is_minimum=True)]


def find_peer(chosen: argparse.Namespace, repos: Sequence[Repository], work: Path) -> Semble | str:
    if chosen.no_semble:
        return "semble: not asked for"
    return find_semble(chosen.semble, work / "semble", chosen.repos / repos[0].name)


def note_on(semble: Semble) -> str:
    if semble.model is None:
        return "semble: 0.7.0 with its own model."
    return (
        "semble without its model: it is not available offline. semble 0.7.0 was asked with "
        "alpha=0: its BM25 and its ranking."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--ablation", action="store_true", help="also without its parts")
    parser.add_argument("--only", default="", help="names of repositories, with commas")
    parser.add_argument("--no-semble", action="store_true")
    add_places(parser)
    chosen = parser.parse_args(arguments)
    repos = choose_repositories(chosen)
    with tempfile.TemporaryDirectory() as work:
        asyncio.run(run(chosen, repos, Path(work)))


if __name__ == "__main__":
    main()
