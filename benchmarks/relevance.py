"""Is a message about the code at all? Questions about code against messages about anything else.

    python -m benchmarks.relevance [--desk REPOSITORY] [--fit] [--only gin,redux]
        [--stores FOLDER] [--repos FOLDER] [--data FOLDER]

On topic: the questions of the code-search set, each asked of its own repository, and
questions/on_topic.json, which has French and German ones. Off topic: questions/off_topic.json,
LoCoMo's personal questions, questions about other repositories and the prompts of
questions/silence.json, asked of every repository. `--desk` adds a programmers' history (see
`benchmarks.desk`): its questions and real prompts are about its code. Half of what was written by
hand is for choosing, half for the check; only the half for choosing takes part in `--fit`, which
prints the weights of a logistic regression for `ragforge.search.relevance`, with and without
vectors. Reported: which share of each kind gets code, and what share of the messages that are
estimated at a tenth is about it.
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.calibration import Judged, fit, measure_reliability
from benchmarks.desk import questions as desk_questions
from benchmarks.desk.__main__ import CACHE, make_end, prepare
from benchmarks.desk.silence import read_prompts
from benchmarks.measure import make_parser, require, save
from benchmarks.opening import open_project
from benchmarks.peers import Repository, add_places, check_out, repositories
from ragforge.app import App
from ragforge.brain.search import code
from ragforge.domain.hits import MIN_RELEVANCE
from ragforge.search import code_relevance
from ragforge.search.code_relevance import gather_evidence
from ragforge.search.question.message_kinds import needs_nothing
from ragforge.search.relevance import Evidence, estimate

QUESTIONS = Path(__file__).parent / "questions"
LOCOMO_EACH, OTHERS_EACH, DESK_PROMPTS = 25, 60, 80
"""How many of LoCoMo's questions, and of other repositories', are asked of each repository."""
SHARES = {
    "code search": 0.3,
    "on choose": 0.2,
    "desk prompts": 0.1,
    "desk dev": 0.1,
    "other repositories": 0.18,
    "off choose": 0.11,
    "LoCoMo": 0.07,
    "dev other projects": 0.15,
    "dev general knowledge": 0.04,
}
"""How much each kind of message counts in the fit, however many there are."""
ABOUT = {"code search", "on choose", "on check", "desk dev", "desk held", "desk prompts"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A message that was asked of a repository, and what spoke for it there."""

    kind: str
    repository: str
    text: str
    evidence: Evidence
    relevance: float

    @property
    def passes(self) -> bool:
        return self.relevance >= MIN_RELEVANCE and not needs_nothing(self.text)


def written(name: str) -> list[dict[str, str]]:
    """Return the messages that were written for this benchmark."""
    rows: list[dict[str, str]] = json.loads((QUESTIONS / f"{name}.json").read_text("utf-8"))
    return rows


def messages(
    repo: Repository, personal: Sequence[str], others: Sequence[str]
) -> Iterable[tuple[str, str]]:
    """Yield what is asked of a repository, each with its kind."""
    yield from (("code search", question.text) for question in repo.questions)
    yield from (("other repositories", text) for text in others)
    yield from list_silent()
    for row in written("on_topic"):
        if row["repository"] == repo.name:
            yield f"on {row['split']}", row["text"]
    yield from ((f"off {row['split']}", row["text"]) for row in written("off_topic"))
    yield from (("LoCoMo", text) for text in personal)


def list_silent() -> Iterable[tuple[str, str]]:
    """Yield prompts that have nothing to do with any of the repositories."""
    kinds = ("general knowledge", "other projects")
    return ((f"{one.half} {one.kind}", one.prompt) for one in read_prompts() if one.kind in kinds)


async def ask(app: App, kind: str, text: str, name: str) -> Asked:
    """Search, and keep what spoke for the message on the way."""
    seen: list[Evidence] = []

    def keep(*arguments: Any) -> Evidence:
        seen.append(gather_evidence(*arguments))
        return seen[-1]

    with patch.object(code_relevance, "gather_evidence", keep):
        hits = await app.brain.search(text, code.BY_MEANING)
    evidence = seen[0] if seen else Evidence()
    return Asked(kind, name, text, evidence, hits[0].relevance if hits else 0.0)


async def gather(
    repos: Sequence[Repository], folder: Path, stores: Path, personal: Sequence[str]
) -> list[Asked]:
    asked: list[Asked] = []
    choice = random.Random(1)
    for number, repo in enumerate(repos):
        root, store = folder / repo.name / repo.root, stores / f"{repo.name}.db"
        some = personal[number * LOCOMO_EACH % len(personal) :][:LOCOMO_EACH]
        others = pick_others(repos, repo.name, choice)
        async with open_project(root, store) as app:
            rows = messages(repo, some, others)
            asked += [await ask(app, kind, text, repo.name) for kind, text in rows]
        print(f"{repo.name:<22} {len(asked)}", flush=True)
    return asked


def pick_others(repos: Sequence[Repository], name: str, choice: random.Random) -> list[str]:
    """Return some questions about other repositories than the one of this name."""
    texts = [question.text for repo in repos if repo.name != name for question in repo.questions]
    return choice.sample(texts, min(OTHERS_EACH, len(texts)))


async def ask_desk(repository: Path, repos: Sequence[Repository]) -> list[Asked]:
    """Ask about the code of a programmers' history as it is at its end."""
    desk, history = prepare(repository, CACHE)
    end = make_end(desk, history)
    desk.show(end.commit)
    choice = random.Random(1)
    prompts = [turn.prompt for turn in history.list_askable()]
    rows = [
        *((f"desk {q.half}", q.question) for q in desk_questions.read_questions(history.turns)),
        *(("desk prompts", text) for text in choice.sample(prompts, DESK_PROMPTS)),
        *(("other repositories", text) for text in pick_others(repos, "", choice)),
        *((f"off {row['split']}", row["text"]) for row in written("off_topic")),
        *list_silent(),
    ]
    async with desk.open(desk.find_store(end)) as app:
        return [await ask(app, kind, text, "the desk") for kind, text in rows]


def judge(asked: Sequence[Asked]) -> list[Judged]:
    """Return the messages of the fit; each kind counts its share, however many there are."""
    some = [one for one in asked if one.kind in SHARES and not needs_nothing(one.text)]
    counts = Counter(one.kind for one in some)
    return [
        Judged(one.evidence, one.relevance, one.kind in ABOUT, SHARES[one.kind] / counts[one.kind])
        for one in some
    ]


def report_fit(asked: Sequence[Asked]) -> dict[str, list[float]]:
    judged = judge(asked)
    by_meaning = fit(judged)
    by_words = fit([one._replace(evidence=one.evidence[1:]) for one in judged])
    by_words.insert(1, 0.0)
    for name, (bias, *weights) in (("with vectors", by_meaning), ("words alone", by_words)):
        print(f"{name}: {bias}, {Evidence(*weights)}")
    return {"with_vectors": by_meaning, "words_alone": by_words}


def report(asked: Sequence[Asked]) -> dict[str, Any]:
    """Return which share of each kind of message gets code, with vectors and with only words."""

    def passes_by_words(one: Asked) -> bool:
        likely = estimate("code", one.evidence, by_meaning=False)
        return likely >= MIN_RELEVANCE and not needs_nothing(one.text)

    shares: dict[str, Any] = {}
    ways: dict[str, Callable[[Asked], bool]] = {
        "with vectors": lambda one: one.passes,
        "words alone": passes_by_words,
    }
    for way, passes in ways.items():
        kinds: dict[str, list[bool]] = defaultdict(list)
        for one in asked:
            kinds[one.kind].append(passes(one))
        shares[way] = {kind: round(float(np.mean(some)), 4) for kind, some in kinds.items()}
        print(way, shares[way])
    for way, some in shares.items():
        require(some.get("code search", 1) > 0.5, f"Few questions about code get any, {way}.")
    shares["reliability"] = measure_reliability(judge(asked))
    print("estimated, about the code, messages:", shares["reliability"])
    by_repository: dict[str, int] = defaultdict(int)
    for one in asked:
        by_repository[one.repository] += one.kind == "off check" and one.passes
    shares["off check that get code"] = dict(by_repository)
    print("of the 60 off-topic messages of the check get code:", dict(by_repository))
    lost = [
        f"{one.repository}: {one.text}"
        for one in asked
        if one.kind == "code search" and not one.passes
    ]
    shares["code questions that get none"] = lost
    print("code questions that get none:", lost)
    return shares


def personal_questions(data: Path) -> list[str]:
    talks = json.loads((data / "memory" / "locomo-dev.json").read_text("utf-8"))
    return [qa["question"] for talk in talks for qa in talk["qa"]]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--desk", type=Path, metavar="REPOSITORY")
    parser.add_argument("--fit", action="store_true", help="print new weights")
    parser.add_argument("--only", default="", help="names of repositories, with commas")
    parser.add_argument("--stores", type=Path, help="keep the stores here, for another run")
    add_places(parser)
    chosen = parser.parse_args(arguments)
    names = set(filter(None, chosen.only.split(",")))
    repos = [repo for repo in repositories(chosen.data) if not names or repo.name in names]
    if chosen.django.is_dir() and (not names or "django" in names):
        root = str(chosen.django.resolve())  # an absolute root is not below --repos
        repos.append(Repository("django", "python", "django/django", "", root, ()))
    check_out(chosen.repos, repos)
    personal = personal_questions(chosen.data)
    with tempfile.TemporaryDirectory() as work:
        stores = chosen.stores or Path(work)
        asked = asyncio.run(gather(repos, chosen.repos, stores, personal))
        if chosen.desk is not None:
            asked += asyncio.run(ask_desk(chosen.desk, repos))
    results = report(asked)
    if chosen.fit:
        results["weights"] = report_fit(asked)
    save("relevance" if not names else "relevance-some", results)


if __name__ == "__main__":
    main()
