"""Quick: rank turns, and the files that a prompt will be about, for a hook, which asks once.

Words and deeds find turns; meaning compares only the best of them, which needs no arrays: to load
these takes longer than all else.

Several lists vote on files: those that the prompt names, those whose code fits its words, those
that similar turns edited, those the session has touched, those that changed together with them,
and those edited last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ragforge.concurrency import gather_or_cancel
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import Match
from ragforge.domain.passages import Passage, PassageFilter
from ragforge.domain.schema import PASSAGE
from ragforge.memory.embed import embed_query
from ragforge.memory.search.signals import NO_SESSION, FoundSignals, find_read_project, find_signals
from ragforge.ports.models import Embedder
from ragforge.ports.store import Store
from ragforge.search.memory_relevance import deserves_memories, estimate_memory_relevance
from ragforge.search.question.code_names import find_paths
from ragforge.search.question.message_kinds import needs_nothing
from ragforge.search.question.wording import expand_query
from ragforge.search.turn_rank import (
    SessionSoFar,
    keep_best,
    merge_groups,
    mix_scores,
    rank_by_own_words,
    scale,
    scale_above,
    sort_scores,
)
from ragforge.search.words.tokenise import WORDS

TURNS = 100
COMPARED = 12
"""For how many of the best turns it is looked up how near they are in meaning."""
PASSAGES = 200
MEANING = 0.35
"""The weight of meaning against words."""
MAX_FILES = 10
LISTED = 12
"""How many files of each list vote."""
RANK_CONSTANT = 2
NEWEST = 10
"""How many of the last turns with edits count as recent."""
MAX_NAMED = 3
"""A name that more files share is ignored."""


class QuickRanking(NamedTuple):
    """Turns with their scores, the best first, by what they were found, and how relevant."""

    scores: Mapping[str, float] = {}
    found: FoundSignals = FoundSignals()
    relevance: float = 0.0  # the probability that the message is about what was said before


async def rank_quickly(
    store: Store,
    embedder: Embedder | None,
    message: str,
    where: MemoryFilter,
    session: SessionSoFar = NO_SESSION,
) -> QuickRanking:
    """Return the turns that are relevant to a message, or to the session where it names nothing."""
    if needs_nothing(message, bool(session)):
        return QuickRanking()
    wording = expand_query(message, WORDS)
    by_words, found = await gather_or_cancel(
        store.index.match_turns(wording.text, where, TURNS, 0),
        find_signals(store, wording.text, where, session=session),
    )
    matched = by_words[0]
    grouped = merge_groups(matched, wording.groups) if wording.groups else matched
    words = scale(rank_by_own_words(grouped), is_cut=len(matched.matches) >= TURNS)
    scores = found.signals.mix_pieces(words)
    nearest = None
    if embedder is not None and (near := await _compare(store, embedder, message, scores)):
        nearest = max(near.values())
        scores = mix_scores(scores, near, MEANING)
    relevance = estimate_memory_relevance(wording, matched, nearest)
    if not deserves_memories(message, wording, matched, relevance, bool(session)):
        return QuickRanking(relevance=relevance)
    return QuickRanking(sort_scores(found.signals.add_to(scores)), found, relevance)


async def _compare(
    store: Store, embedder: Embedder, message: str, scores: Mapping[str, float]
) -> dict[str, float]:
    """Return how far the passages of the best turns are above the threshold, 0..1."""
    vector = await embed_query(embedder, message)
    best = list(sort_scores(scores))[:COMPARED]
    if vector is None or not best:
        return {}
    of_best = PassageFilter(kind="said", turn_ids=best)
    found = await store.index.search(PASSAGE, "", vector, of_best, PASSAGES, read=0)
    near = [Match(*item) for item in keep_best(found.by_vector).items()]
    return scale_above(near, embedder.history_threshold, 0)


class LikelyFile(NamedTuple):
    """A file, and why it is likely."""

    path: str
    reason: str


class FileVote(NamedTuple):
    """A list of files, the best first, how much it counts, and what it says of them."""

    reason: str
    weight: float
    files: Sequence[str]


def vote(votes: Iterable[FileVote]) -> list[LikelyFile]:
    """Return the files that most lists have first; the reason is that of the strongest vote."""
    scores: dict[str, float] = defaultdict(float)
    strongest: dict[str, tuple[float, str]] = {}
    for one in votes:
        for rank, file in enumerate(one.files[:LISTED]):
            worth = one.weight / (RANK_CONSTANT + rank)
            scores[file] += worth
            strongest[file] = max(strongest.get(file, (0.0, "")), (worth, one.reason))
    best = sorted(scores, key=lambda file: -scores[file])[:MAX_FILES]
    return [LikelyFile(file, strongest[file][1]) for file in best]


def count_edited(done: Iterable[Passage]) -> list[str]:
    """Return the files that turns, the best first, edited; many files of a turn count less."""
    scores: dict[str, float] = defaultdict(float)
    for rank, passage in enumerate(done):
        for file in passage.files:
            scores[file] += 1 / (1 + rank) / len(passage.files) ** 0.5
    return sorted(scores, key=lambda file: -scores[file])


def find_companions(done: Iterable[Passage], own: Collection[str]) -> list[str]:
    """Return the files that changed together with these, the most often first."""
    scores: dict[str, float] = defaultdict(float)
    for passage in done:
        together = sum(file in own for file in passage.files)
        for file in passage.files:
            if file not in own:
                scores[file] += together / len(passage.files)
    return [file for file in sorted(scores, key=lambda one: -scores[one]) if scores[file]]


async def find_named(store: Store, prompt: str, project_ids: Sequence[str]) -> list[str]:
    """Return the files of a project that a prompt names, whole or by their ends."""
    names = [path.replace("\\", "/").lstrip("./") for path in find_paths(prompt)]
    if not names or (project := await find_read_project(store, project_ids)) is None:
        return []
    paths = await store.code.file_paths(project.uuid)
    found: list[str] = []
    for name in filter(None, names):
        some = [path for path in paths if path == name or path.endswith(f"/{name}")]
        inside = [path for path in paths if name.endswith(f"/{path}")]  # an absolute path
        found += some if len(some) <= MAX_NAMED else []
        found += inside[:1]
    return list(dict.fromkeys(found))


async def find_likely_files(
    store: Store,
    prompt: str,
    project_ids: Sequence[str],
    by_code: Sequence[str],
    done: Sequence[Passage],
    session_files: Mapping[str, float],
    session_deeds: Sequence[Passage],
) -> list[LikelyFile]:
    """Return the files that are likely for a prompt.

    `by_code` are those whose code fits it, `done` the deeds of the best turns, and `session_deeds`
    those of turns that edited files of the session.
    """
    newest = await store.records.find(
        PASSAGE,
        PassageFilter(project_ids=project_ids, kind="done"),
        NEWEST,
        order=("-started_ms",),
    )
    lately = list(dict.fromkeys(file for one in newest for file in one.files))
    return vote(
        (
            FileVote("named", 2.0, await find_named(store, prompt, project_ids)),
            FileVote("its code fits", 1.0, by_code),
            FileVote("edited for similar prompts", 1.0, count_edited(done)),
            FileVote("touched in this session", 1.0, [*session_files]),
            FileVote(
                "changed together with those", 1.0, find_companions(session_deeds, session_files)
            ),
            FileVote("edited lately", 0.5, lately),
        )
    )
