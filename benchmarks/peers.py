"""What the benchmarks take from elsewhere: repositories, questions about them, other programs.

semble needs a separate environment:

    python -m venv VENV && VENV/bin/pip install semble==0.7.0

Its model comes from a hub. Where that is out of reach, a stand-in of the same size takes
its place: random vectors, given no weight in a search. So what is measured then is semble's
words with its ranking, and the cost of indexing with a model like its own.

This module is also a program, which that environment runs; hence it imports nothing of ours.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

PROJECT = Path(__file__).resolve().parent.parent
REPOS = "RAGFORGE_BENCH_REPOS"
DATA = "RAGFORGE_BENCH_DATA"
DJANGO = "RAGFORGE_BENCH_DJANGO"
SEMBLE = "RAGFORGE_BENCH_SEMBLE"
STAND_IN_ROWS = 62_500  # semble's model has 16 million numbers, 256 a token
STAND_IN_DIMENSION = 256
WORDS_FROM_CHARS = 40_000_000

Lines: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Target:
    """What answers a question: a file, or lines of it."""

    path: str
    lines: Lines | None = None


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    category: str
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Repository:
    """A public repository at a fixed revision, with questions about it."""

    name: str
    language: str
    github: str
    revision: str
    root: str  # the folder of it that is indexed
    questions: tuple[Question, ...]


def add_places(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where things from elsewhere are."""
    parser.add_argument(
        "--repos",
        type=Path,
        metavar="FOLDER",
        default=_place(REPOS, PROJECT.parent / ".bench" / "repos"),
        help=f"checked out repositories, one folder each (or {REPOS})",
    )
    parser.add_argument(
        "--django",
        type=Path,
        metavar="FOLDER",
        default=_place(DJANGO, PROJECT.parent / ".bench" / "repos" / "django"),
        help=f"a checkout of Django, the large project (or {DJANGO})",
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        default=_place(DATA, PROJECT.parent / "shared" / "data"),
        help=f"the folder that holds code-search/ (or {DATA})",
    )
    parser.add_argument(
        "--semble",
        type=Path,
        metavar="PYTHON",
        default=_place(SEMBLE, PROJECT.parent / ".bench" / "semble-venv" / "bin" / "python"),
        help=f"the Python that has semble (or {SEMBLE})",
    )


def _place(variable: str, otherwise: Path) -> Path:
    return Path(os.environ.get(variable) or otherwise)


def repositories(data: Path) -> list[Repository]:
    """Return the repositories with their questions. Exits if the data is not there."""
    folder = data / "code-search"
    if not (folder / "repos.json").is_file():
        sys.exit(
            f"{folder / 'repos.json'} is missing. It and annotations/*.json are the benchmark of "
            "https://github.com/MinishLab/semble; fetch them and name the folder above with --data."
        )
    return [
        Repository(**entry, questions=_questions(folder / "annotations" / f"{entry['name']}.json"))
        for entry in json.loads((folder / "repos.json").read_text("utf-8"))
    ]


def _questions(path: Path) -> tuple[Question, ...]:
    return tuple(
        Question(
            entry["query"],
            entry["category"],
            tuple(_target(target) for target in [*entry["relevant"], *entry["secondary"]]),
        )
        for entry in json.loads(path.read_text("utf-8"))
    )


def _target(entry: str | dict[str, Any]) -> Target:
    if isinstance(entry, str):
        return Target(entry)
    if "start_line" not in entry:
        return Target(entry["path"])
    return Target(entry["path"], (entry["start_line"], entry["end_line"]))


def choose_repositories(chosen: argparse.Namespace) -> list[Repository]:
    """Return the repositories that `--only` names, or all. Exits if one is not there."""
    names = set(filter(None, chosen.only.split(",")))
    repos = [repo for repo in repositories(chosen.data) if not names or repo.name in names]
    if not repos:
        sys.exit(f"{chosen.data} has no repository named {chosen.only}.")
    check_out(chosen.repos, repos)
    return repos


def check_out(repos: Path, wanted: Sequence[Repository]) -> None:
    """Exit with the commands that fetch what is missing, if anything is."""
    missing = [
        f"  git clone https://github.com/{repo.github} {repos / repo.name} && "
        f"git -C {repos / repo.name} checkout {repo.revision}"
        for repo in wanted
        if not (repos / repo.name / repo.root).is_dir()
    ]
    if missing:
        sys.exit("\n".join(["Repositories are missing. Fetch them, or name --repos:", *missing]))


@dataclass(frozen=True, slots=True)
class Semble:
    """semble, in its own environment, with its own model or a stand-in."""

    python: Path
    work: Path  # what it may fill: its caches, the stand-in
    model: str | None  # None: semble's own

    @property
    def label(self) -> str:
        return "semble" if self.model is None else "semble without its model"

    @property
    def cache(self) -> Path:
        """Where its indexes are."""
        return self.work / "cache"

    @property
    def command(self) -> str:
        return str(self.python.parent / "semble")

    def environment(self, **more: str) -> dict[str, str]:
        given = {"SEMBLE_CACHE_LOCATION": str(self.cache), **more}
        if self.model is not None:
            given |= {"SEMBLE_MODEL_NAME": self.model, "HF_HUB_OFFLINE": "1"}
        return {**os.environ, **given}

    def answers(self, root: Path, queries: Sequence[str], limits: Sequence[int]) -> dict[str, Any]:
        """Return what semble finds below a folder: hits[query][limit], and seconds of CPU."""
        asked = {
            "root": str(root),
            "model": self.model,
            "queries": list(queries),
            "limits": list(limits),
        }
        return _drive(self.python, "answer", asked, self.environment())


def find_semble(python: Path, work: Path, tree: Path) -> Semble | str:
    """Return semble, with a stand-in made of a tree's words if need be, or why there is none."""
    if not python.is_file():
        return (
            f"semble: no {python}. Make it: python -m venv {python.parent.parent} && "
            f"{python.parent / 'pip'} install semble==0.7.0"
        )
    if _drive(python, "check", {}, dict(os.environ))["model"]:
        return Semble(python, work, None)
    folder = work / "stand-in"
    _drive(python, "stand-in", {"folder": str(folder), "tree": str(tree)}, dict(os.environ))
    return Semble(python, work, str(folder))


def _drive(
    python: Path, task: str, asked: dict[str, Any], environment: dict[str, str]
) -> dict[str, Any]:
    done = subprocess.run(
        [python, "-m", "benchmarks.peers", task],
        cwd=PROJECT,
        env=environment,
        input=json.dumps(asked),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


# From here on: what runs in semble's environment.


def has_model(_: dict[str, Any]) -> dict[str, Any]:
    """Tell whether semble's own model can be had here."""
    from semble.index.dense import load_model

    try:
        load_model()
    except Exception as error:  # whatever the hub's client raises when there is no hub
        print(f"semble's model: {type(error).__name__}", file=sys.stderr)
        return {"model": False}
    return {"model": True}


def make_stand_in(asked: dict[str, Any]) -> dict[str, Any]:
    """Save a model with the shape of semble's, whose tokens are the words of a tree."""
    import numpy as np
    from model2vec import StaticModel
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    tokens = dict.fromkeys(["[UNK]", "[PAD]", *_pieces(Path(asked["tree"]))])
    vocabulary = {token: row for row, token in enumerate(tokens)}
    tokeniser = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokeniser.normalizer = normalizers.BertNormalizer()
    tokeniser.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    chance = np.random.default_rng(7)
    vectors = chance.standard_normal((len(tokens), STAND_IN_DIMENSION), dtype=np.float32)
    StaticModel(vectors, tokeniser, config={}, normalize=True).save_pretrained(asked["folder"])
    return {"tokens": len(tokens)}


def _pieces(tree: Path) -> list[str]:
    """Return the letters, and the most frequent words as far as there is room."""
    counts: Counter[str] = Counter()
    read = 0
    for path in sorted(tree.rglob("*")):
        if path.is_file() and read < WORDS_FROM_CHARS:
            text = path.read_text("utf-8", errors="ignore").lower()
            read += len(text)
            counts.update(re.findall(r"[^\W_]+|[^\w\s]|_", text))
    letters = sorted({letter for word in counts for letter in word if letter.isascii()})
    pieces = [*letters, *(f"##{letter}" for letter in letters)]
    words = [word for word, _ in counts.most_common() if len(word) > 1]
    return [*pieces, *words][: STAND_IN_ROWS - 2]


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """Index a folder and search it through semble's library."""
    from semble import SembleIndex

    start = time.process_time()
    index = SembleIndex.from_path(asked["root"], model_path=asked["model"])
    indexing = time.process_time() - start
    alpha = None if asked["model"] is None else 0.0  # no weight on a stand-in's vectors
    index.search("warm up", alpha=alpha)
    hits: list[list[list[tuple[str, int, int]]]] = []
    seconds: list[float] = []
    for query in asked["queries"]:
        start = time.process_time()
        found = [index.search(query, top_k=limit, alpha=alpha) for limit in asked["limits"][:1]]
        seconds.append(time.process_time() - start)
        found += [index.search(query, top_k=limit, alpha=alpha) for limit in asked["limits"][1:]]
        places = [
            [(r.chunk.file_path, r.chunk.start_line, r.chunk.end_line) for r in f] for f in found
        ]
        hits.append(places)
    return {"hits": hits, "query_cpu": seconds, "index_cpu": indexing}


def main() -> None:
    tasks = {"check": has_model, "stand-in": make_stand_in, "answer": answer}
    print(json.dumps(tasks[sys.argv[1]](json.load(sys.stdin))))


if __name__ == "__main__":
    main()
