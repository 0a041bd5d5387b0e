"""Is it found in any language? MRR of the same questions in six languages.

    python -m benchmarks.languages [--repos FOLDER] [--data FOLDER] [--django FOLDER]

Code: 40 questions about three repositories, with the files that answer them
(`questions/code.json`); a question's reciprocal rank is that of the first hit in one of them.
Every third question was used to choose; the others were kept for the check. Later came 25
questions about Django (`questions/django.json`), where `--django` names a checkout.
In Spanish, Chinese and Japanese they were written before the lexicons of these languages.
Memory: 24 turns of work on a project, each in English, French and German, and a question about
each (`questions/memory.json`): all turns in one language, asked in each language.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.code_search import Place
from benchmarks.measure import make_parser, require, save
from benchmarks.opening import open_code, open_file
from benchmarks.peers import Repository, Target, add_places, check_out, repositories
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.domain.conversations import Conversation, MemoryFilter, Message
from ragforge.domain.schema import CONVERSATION
from ragforge.memory.embed import embed_missing
from ragforge.memory.search.combined import search_conversation_history
from ragforge.memory.search.turns import MemorySearch

QUESTIONS = Path(__file__).parent / "questions"
LANGUAGES = ("english", "french", "german")
OF_CODE = (*LANGUAGES, "spanish", "chinese", "japanese")
TOP = 10
CHOSEN = 3
"""Every third question was used to choose."""

Ranks: TypeAlias = dict[str, list[float]]
"""The reciprocal ranks of all questions, in their order, by language."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The same question in every language, and what answers it."""

    repository: str
    files: tuple[str, ...]
    words: Mapping[str, str]


def load(name: str) -> list[Asked]:
    entries = json.loads((QUESTIONS / f"{name}.json").read_text("utf-8"))
    return [Asked(entry.get("repository", ""), tuple(entry["files"]), entry) for entry in entries]


async def rank_code(root: Path, file: Path, questions: Sequence[Asked]) -> Ranks:
    """Ingest a repository and ask every question about it in every language."""
    found: Ranks = {language: [] for language in OF_CODE}
    async with open_code(file, root, BundledEmbedder()) as brain:
        for question in questions:
            targets = [Target(path) for path in question.files]
            for language in OF_CODE:
                hits = await brain.search(question.words[language], TOP)
                places = [Place(h.scope.file, h.scope.start_line, h.scope.end_line) for h in hits]
                answers = [any(place.answers(target) for target in targets) for place in places]
                found[language].append(reciprocal(answers))
    return found


async def rank_memory(turns: Sequence[Mapping[str, Any]], spoken: str, file: Path) -> Ranks:
    """Store all turns in one language and ask about each of them in every language."""
    embedder = BundledEmbedder()
    async with open_file(file) as store:
        for number, turn in enumerate(turns):
            place = f"session-{number // 5}"
            if number % 5 == 0:
                await store.records.put(CONVERSATION, Conversation("/p", "/p", uuid=place))
            question, answer = turn["turn"][spoken]
            said = [Message("user", question, uuid=str(number)), Message("assistant", answer)]
            await store.timeline.append(place, said)
        await embed_missing(store, embedder)
        recall = MemorySearch(store, embedder)
        found: Ranks = {language: [] for language in LANGUAGES}
        for number, turn in enumerate(turns):
            for language in LANGUAGES:
                hits = await search_conversation_history(
                    recall, turn["question"][language], MemoryFilter(), max_results=TOP, levels=(0,)
                )
                answers = [hit.type == "turn" and hit.turn.uuid == str(number) for hit in hits]
                found[language].append(reciprocal(answers))
        return found


def reciprocal(answers: Sequence[bool]) -> float:
    return next((1 / rank for rank, is_one in enumerate(answers, 1) if is_one), 0.0)


def summary(ranks: Ranks) -> dict[str, dict[str, float]]:
    """Return the MRR of the questions that were used to choose, and of those that were not."""
    return {
        language: {
            "chosen on": mean(found[::CHOSEN]),
            "kept": mean([rank for n, rank in enumerate(found) if n % CHOSEN]),
            "all": mean(found),
        }
        for language, found in ranks.items()
    }


def mean(ranks: Sequence[float]) -> float:
    return round(statistics.fmean(ranks), 4) if ranks else 0.0


def show(name: str, found: Mapping[str, Mapping[str, float]]) -> None:
    print(f"\n{name:<24}" + "".join(f"{part:>12}" for part in ("chosen on", "kept", "all")))
    for language, figures in found.items():
        print(f"{language:<24}" + "".join(f"{figure:>12.3f}" for figure in figures.values()))


async def run(chosen: argparse.Namespace, repos: Sequence[Repository], work: Path) -> None:
    questions = load("code")
    ranks: Ranks = {language: [] for language in OF_CODE}
    for repo in repos:
        about = [question for question in questions if question.repository == repo.name]
        root = chosen.repos / repo.name / repo.root
        for language, found in (await rank_code(root, work / repo.name, about)).items():
            ranks[language] += found
    for language, some in ranks.items():
        require(any(some), f"No question in {language} finds its code.")
    results: dict[str, Any] = {"code": summary(ranks)}
    show("code, MRR", results["code"])
    if chosen.django.is_dir():
        found = await rank_code(chosen.django, work / "django.db", load("django"))
        results["Django"] = {language: {"all": mean(found[language])} for language in OF_CODE}
        print("\nDjango, MRR", {language: mean(found[language]) for language in OF_CODE})
    turns = json.loads((QUESTIONS / "memory.json").read_text("utf-8"))
    for spoken in LANGUAGES:
        recalled = await rank_memory(turns, spoken, work / spoken)
        require(
            all(map(any, recalled.values())), f"No turn in {spoken} is recalled in some language."
        )
        results[f"memory in {spoken}"] = summary(recalled)
        show(f"memory in {spoken}, MRR", results[f"memory in {spoken}"])
    save("languages", results)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--only", default="", help="names of repositories, with commas")
    add_places(parser)
    chosen = parser.parse_args(arguments)
    wanted = list(dict.fromkeys(question.repository for question in load("code")))
    if chosen.only:
        wanted = [name for name in wanted if name in chosen.only.split(",")]
        require(wanted, f"There are no questions about {chosen.only}.")
    repos = {repo.name: repo for repo in repositories(chosen.data) if repo.name in wanted}
    check_out(chosen.repos, list(repos.values()))
    with tempfile.TemporaryDirectory() as work:
        asyncio.run(run(chosen, [repos[name] for name in wanted], Path(work)))


if __name__ == "__main__":
    main()
