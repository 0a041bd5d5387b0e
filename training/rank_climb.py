"""Choose the weights of the ranking by climbing, over questions whose answers are known.

    python -m training.rank_climb --work FOLDER [--repos FOLDER] [--data FOLDER] [--folds 5]

The repositories and questions are those of the code-search benchmark, or others in its form
(`rank_mine.py`). Each repository goes into a store in `WORK`, once; what the searches find for a
question is kept beside it, so that weights are tried by ranking alone, in seconds. A weight is
raised and lowered by a step as long as NDCG@10 rises, then the next one is; then steps are halved.
With folds, weights are chosen on the other repositories for each fold, which tells how much is
luck. It prints the weights and changes nothing: they belong into `search/rank.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import pickle
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from benchmarks.code_search import TOP, Place, ndcg
from benchmarks.opening import open_code
from benchmarks.peers import Question, Repository, add_places, repositories
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.brain.search import code
from ragforge.domain.vectors import MeaningWeights
from ragforge.search import rank
from ragforge.search.question.wording import WordGroup
from ragforge.search.rank import Candidates
from ragforge.search.words.tokenise import WORDS

STEPS = (1.5, 1.2, 1.07)
MIN_GAIN = 0.0001
OF_RANKING = (
    *("NAME", "EXACT", "FILE_NAME", "FILE_NAME_WHOLE", "PATH", "COHERENCE", "USED", "COVER"),
    *("LENGTH", "LONG_NAME", "SECONDARY", "NOT_A_DEFINITION", "AGAIN"),
)
OF_MEANING = ("scope", "file")

Weights = dict[str, float]


class Asked(NamedTuple):
    """A question, and what the searches found for it."""

    question: Question
    found: Candidates
    groups: Sequence[WordGroup]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    add_places(parser)
    parser.add_argument("--work", type=Path, required=True, help="for stores and candidates")
    parser.add_argument("--folds", type=int, default=5, help="0: none")
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    asked = [asyncio.run(_find_candidates(one, chosen)) for one in repositories(chosen.data)]
    start = _read_weights(BundledEmbedder.weights)
    print(f"now {measure(asked, start):.4f}")
    best, score = climb(partial(measure, asked), start)
    print(f"chosen on all {score:.4f}: {_list_changes(start, best)}")
    if chosen.folds:
        kept_back = list(_fold(asked, start, chosen.folds))
        print(f"{chosen.folds} folds, chosen on the others {statistics.fmean(kept_back):.4f}")


async def _find_candidates(repo: Repository, chosen: argparse.Namespace) -> list[Asked]:
    """Return what is found for each question of a repository; long questions are left out."""
    kept = chosen.work / f"{repo.name}.pickle"
    if not kept.exists():
        file, root = chosen.work / f"{repo.name}.db", chosen.repos / repo.name / repo.root
        async with open_code(file, root, BundledEmbedder()) as brain:
            asked = []
            for question in repo.questions:
                with patch.object(code, "rank", wraps=rank.rank) as ranked:
                    await brain.search(question.text, TOP)
                if ranked.call_args is not None:
                    _, found, _, _, _, groups = ranked.call_args.args
                    asked.append(Asked(question, found, groups))
        kept.write_bytes(pickle.dumps(asked))
    result: list[Asked] = pickle.loads(kept.read_bytes())  # it wrote that itself
    return result


def measure(asked: Sequence[Sequence[Asked]], weights: Weights) -> float:
    """Return NDCG@10 with these weights: the mean over repositories of their questions' mean."""
    meaning = MeaningWeights(**{name: weights[name] for name in OF_MEANING})
    with _set(weights):
        return statistics.fmean(
            statistics.fmean(_score(one, meaning) for one in of_repository)
            for of_repository in asked
        )


def _score(asked: Asked, meaning: MeaningWeights) -> float:
    names = asked.found.scopes()
    text = asked.question.text
    ranked = rank.rank(text, asked.found, WORDS, TOP, meaning, asked.groups)
    hits = [names[place.id] for place in ranked]
    places = [Place(hit.file, hit.start_line, hit.end_line) for hit in hits]
    return ndcg(list(dict.fromkeys(places)), asked.question.targets)


@contextmanager
def _set(weights: Weights) -> Iterator[None]:
    with ExitStack() as stack:
        for name in OF_RANKING:
            stack.enter_context(patch.object(rank, name, weights[name]))
        yield


def climb(measure: Callable[[Weights], float], start: Weights) -> tuple[Weights, float]:
    """Return the best weights that single steps lead to, and their score."""
    best, score = dict(start), measure(start)
    for step in STEPS:
        for name in start:
            for factor in (step, 1 / step):
                tried = {**best, name: best[name] * factor}
                while (found := measure(tried)) > score + MIN_GAIN:
                    best, score = tried, found
                    tried = {**best, name: best[name] * factor}
    return best, score


def _fold(asked: Sequence[Sequence[Asked]], start: Weights, folds: int) -> Iterator[float]:
    """Yield the score of each repository with weights that were chosen without its fold."""
    for number in range(folds):
        others = [one for place, one in enumerate(asked) if place % folds != number]
        weights, _ = climb(partial(measure, others), start)
        yield from (measure([one], weights) for one in asked[number::folds])


def _read_weights(meaning: MeaningWeights) -> Weights:
    of_ranking = {name: float(getattr(rank, name)) for name in OF_RANKING}
    return of_ranking | {name: getattr(meaning, name) for name in OF_MEANING}


def _list_changes(start: Weights, best: Weights) -> str:
    changed = (name for name in best if best[name] != start[name])
    return ", ".join(f"{name} {start[name]:g} → {best[name]:.3g}" for name in changed) or "as now"


if __name__ == "__main__":
    main()
