"""Foresight: does what is recalled for a real prompt hold what the agent then worked on?

No judge and no hand work: the transcript says what the agent did next. Each way (see `ways`) gives
turns, files or a text; what counts is in `labels`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from benchmarks.desk import controls
from benchmarks.desk.controls import Bm25
from benchmarks.desk.deeds import Turn
from benchmarks.desk.labels import History, Label
from benchmarks.desk.replay import CutOff, Desk
from benchmarks.desk.scores import Row
from benchmarks.desk.sessions import run_git
from benchmarks.desk.ways import (
    DEPTH,
    FILES,
    FIRST,
    Answer,
    Indexes,
    Moment,
    list_ways,
    name_stored,
)
from ragforge.domain.schema import MESSAGE_PLACE

DRAWS = 20
RANDOM = "random turns with edits"
METRICS = ("strong@5", "MRR", "same file@5", "edited", "fresh", "read", "chars")


@dataclass(slots=True)
class Asked:
    """The rows of all ways, and of which prompts they are."""

    rows: dict[str, dict[str, Row]] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    answers: dict[str, dict[str, Answer]] = field(default_factory=dict)


async def ask_all(desk: Desk, history: History, cuts: Sequence[CutOff]) -> Asked:
    """Ask every prompt of every cut-off in every way."""
    asked, indexes = Asked(), Indexes()
    previous = controls.find_previous(history.turns)
    for cut in cuts:
        store = desk.find_store(cut)
        desk.show(cut.commit)
        past = [turn for turn in history.turns if turn.end < cut.moment]
        indexes.grow(past)
        listed = run_git(desk.repository, "ls-tree", "-r", "--name-only", cut.commit)
        code = Bm25()
        code.add(controls.read_chunks(desk.tree))
        by_stored = {name_stored(turn.id): turn.id for turn in history.turns}
        async with desk.open(store) as app:
            places = await app.store.records.get_many(MESSAGE_PLACE, list(by_stored))
            conversations = {by_stored[id_]: one.conversation_id for id_, one in places.items()}
            moment = Moment(
                *(desk, cut, history, past, frozenset(listed.splitlines()), app, store),
                *(indexes, code, conversations, by_stored, previous),
            )
            await ask_moment(moment, asked)
        print(f"{cut.moment}: {len(past)} turns, {len(cut.prompts)} prompts asked", flush=True)
    return asked


async def ask_moment(moment: Moment, asked: Asked) -> None:
    ways = list_ways(moment)
    for turn in moment.cut.prompts:
        label = moment.history.label(turn, moment.cut.moment, moment.files)
        if not label.edited and not label.strong:
            continue  # only files that nothing could know
        asked.labels[turn.id] = label
        for name, way in ways.items():
            answer = await way(turn)
            asked.answers.setdefault(name, {})[turn.id] = answer
            row = score(answer, label, moment)
            asked.rows.setdefault(name, {})[turn.id] = row
        asked.rows.setdefault(RANDOM, {})[turn.id] = score_random(turn, label, moment)


def score(answer: Answer, label: Label, moment: Moment) -> Row:
    """Score one answer; None where a prompt has nothing to find, or a way does not rank."""
    ranks = (rank for rank, id_ in enumerate(answer.turns, 1) if id_ in label.strong)
    first = next(ranks, None)
    ranked = moment.get_turns(answer.turns[:FIRST])
    if answer.text is not None:
        names = {path for path in label.edited | label.read if is_named(path, answer.text, moment)}
    elif answer.files is not None:
        names = set(answer.files[:FILES])
    else:
        names = {file for turn in ranked for file in turn.edited}
    has_turns = answer.files is None or bool(answer.turns)
    # A text may show more turns than five: all of them arrive.
    depth = len(answer.turns) if answer.text is not None else FIRST
    hit = first is not None and first <= depth
    same = any(id_ in label.same_file for id_ in answer.turns[:depth])
    is_ranking = has_turns and answer.text is None
    return {
        "strong@5": float(hit) if label.strong and has_turns else None,
        "MRR": (1 / first if first else 0.0) if label.strong and is_ranking else None,
        "same file@5": float(same) if label.same_file and has_turns else None,
        "edited": _share(label.edited, names),
        "fresh": _share(label.fresh, names),
        "read": _share(label.read, names),
        "chars": None if answer.text is None else float(len(answer.text)),
    }


def _share(wanted: frozenset[str], found: set[str]) -> float | None:
    return len(wanted & found) / len(wanted) if wanted else None


def score_random(turn: Turn, label: Label, moment: Moment) -> Row:
    """Score random turns with edits, the mean of several draws."""
    rows = []
    for draw in range(DRAWS):
        ids = controls.shuffle(moment.past, f"{turn.id}{draw}")
        rows.append(score(Answer(moment.leave_out_own(turn, ids)[:DEPTH]), label, moment))
    return {
        metric: None
        if any(row[metric] is None for row in rows)
        else sum(row[metric] or 0.0 for row in rows) / DRAWS
        for metric in METRICS
    }


def is_named(path: str, text: str, moment: Moment) -> bool:
    """Tell whether a text names a file: its path, or its name if no other file has it."""
    if path in text:
        return True
    name = PurePosixPath(path).name
    others = sum(1 for file in moment.files if PurePosixPath(file).name == name)
    return others <= 1 and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) is not None
