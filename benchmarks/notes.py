"""Does a message get the notes it is about, and no others?

    python -m benchmarks.notes [--fit]

`questions/notes.jsonl` has 24 notes of one made-up project, each with two messages in other words.
The prompts for silence of `benchmarks.desk` are about none of them, nor are its questions, which
are those of another project. Reported: for how many messages their own note comes first, which
share of each kind gets a note, and how reliable the estimate is. `--fit` prints the weights of a
logistic regression for `ragforge.search.relevance`.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from benchmarks import calibration
from benchmarks.calibration import Judged
from benchmarks.desk.questions import FILE as DESK
from benchmarks.desk.silence import read_prompts
from benchmarks.measure import Row, make_parser, require, save
from benchmarks.opening import open_file
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.domain.hits import MIN_RELEVANCE
from ragforge.domain.notes import NoteFilter
from ragforge.domain.projects import ProjectPlace
from ragforge.memory import notes
from ragforge.memory.embed import embed_missing
from ragforge.memory.notes import Notebook
from ragforge.search.question.message_kinds import needs_nothing
from ragforge.search.relevance import Evidence, RelevantKind, estimate

FILE = DESK.with_name("notes.jsonl")
PLACE = ProjectPlace(("/project",), "/project")
OWN = "messages about a note"
ELSEWHERE = "questions about another project"
OWN_WEIGHT = 1.6
"""About three in ten messages are taken to be about some note."""
BINS = 5


class Asked(NamedTuple):
    """A message, with the estimate for its own note; or for the best one, if it has none."""

    kind: str
    is_first: bool
    estimate: float
    evidence: Evidence

    @property
    def judged(self) -> Judged:
        about = self.kind == OWN
        weight = OWN_WEIGHT if about else 1.0
        return Judged(self.evidence[:2], self.estimate, about, weight)


async def ask_all(folder: Path) -> list[Asked]:
    """Return the estimates for all messages."""
    rows = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    elsewhere = [json.loads(line)["question"] for line in DESK.read_text("utf-8").splitlines()]
    messages = [(OWN, text, row["note"]) for row in rows for text in row["questions"]]
    messages += [(one.kind, one.prompt, "") for one in read_prompts()]
    messages += [(ELSEWHERE, text, "") for text in elsewhere]
    embedder = BundledEmbedder()
    async with open_file(folder / "store.db") as store:
        book = Notebook(store, embedder)
        for row in rows:
            await book.remember(row["note"], PLACE)
        await embed_missing(store, embedder)
        return [await ask(book, *message) for message in messages]


async def ask(book: Notebook, kind: str, text: str, note: str) -> Asked:
    seen: dict[float, Evidence] = {}

    def keep(kind: RelevantKind, evidence: Evidence, by_meaning: bool) -> float:
        likely = estimate(kind, evidence, by_meaning)
        seen[likely] = evidence
        return likely

    with patch.object(notes, "estimate", keep):
        hits = await book.search(text, NoteFilter(PLACE.ids), 24)
    wanted = [hit for hit in hits if not note or hit.note.text == note]
    if not wanted or needs_nothing(text):
        return Asked(kind, False, 0.0, Evidence())
    score = wanted[0].score
    return Asked(kind, wanted[0] is hits[0], score, seen[score])


def report(asked: Sequence[Asked]) -> dict[str, Any]:
    """Print and return the shares, and the reliability of the estimate."""
    own = [one for one in asked if one.kind == OWN]
    results: dict[str, Any] = {"own note first": sum(one.is_first for one in own)}
    for kind in dict.fromkeys(one.kind for one in asked):
        given = [one.estimate >= MIN_RELEVANCE for one in asked if one.kind == kind]
        results[f"{kind}, {len(given)}"] = round(sum(given) / len(given), 3)
    for mean, about, count in calibration.measure_reliability((a.judged for a in asked), BINS):
        results[f"estimated {mean:.2f}, {count}"] = about
    for name, value in results.items():
        print(f"{name}: {value}")
    return results


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--fit", action="store_true")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        asked = asyncio.run(ask_all(Path(folder)))
    results = report(asked)
    require(results["own note first"], "No message gets its note.")
    if chosen.fit:
        print(f"weights: {calibration.fit([one.judged for one in asked if one.estimate])}")
    first, count = results["own note first"], sum(one.kind == OWN for one in asked)
    save("notes", results, [Row("messages that get their note first", first, f"of {count}")])


if __name__ == "__main__":
    main()
