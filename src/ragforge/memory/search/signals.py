"""Signals: search what was said and done in turns, for their ranking."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from ragforge.concurrency import gather_or_cancel
from ragforge.domain.code import CodeFilter, Project, ProjectFilter
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import Match
from ragforge.domain.passages import (
    Passage,
    PassageFilter,
    PassageKind,
    get_turn_id,
    make_file_key,
)
from ragforge.domain.schema import PASSAGE, PROJECT
from ragforge.domain.vectors import Vector
from ragforge.ports.store import Store
from ragforge.search.turn_rank import (
    SessionSoFar,
    TurnSignals,
    keep_best,
    rank_deeds,
    scale,
    weigh_ranks,
)

PASSAGES = 300
"""How many passages each search returns: a long turn has dozens."""
SAID_WORDS = 60
"""The maximum number of words of the session's last turns to search for."""
SCOPES = 100
FILES = 10
"""How many files of the code a question may be about."""
KINDS: tuple[PassageKind, ...] = ("said", "done")
NO_SESSION = SessionSoFar()


class FoundSignals(NamedTuple):
    """Signals for the ranking of turns, and what else the searches say."""

    signals: TurnSignals = TurnSignals()
    nearest: Sequence[Match] = ()  # turns, by the meaning of their pieces
    files: Sequence[str] = ()  # that the question seems to be about
    best_pieces: Mapping[str, str] = {}  # turn → its best piece by words
    session_deeds: Sequence[Passage] = ()  # what was done in turns that edited the session's files


async def find_signals(
    store: Store,
    query: str,
    where: MemoryFilter,
    vector: Vector | None = None,
    threshold: float = 0.0,
    session: SessionSoFar = NO_SESSION,
) -> FoundSignals:
    """Return by which pieces and deeds turns are found, best first."""
    found, files, said_before, done_before = await gather_or_cancel(
        find_said_and_done(store, query, where, vector, threshold),
        find_files(store, query, where.project_ids),
        _find_said_before(store, session.said, where),
        _find_by_files(store, session.files, where),
    )
    worth = weigh_ranks(files)
    signals = replace(
        found.signals,
        deeds=rank_deeds(await _find_by_files(store, worth, where), worth),
        said_before=said_before,
        done_before=rank_deeds(done_before, session.files),
    )
    return found._replace(signals=signals, files=files, session_deeds=done_before)


async def find_said_and_done(
    store: Store,
    query: str,
    where: MemoryFilter,
    vector: Vector | None = None,
    threshold: float = 0.0,
) -> FoundSignals:
    """Return by which pieces and deeds turns are found, only by words and meaning."""
    said, done = PassageFilter.of(where, "said"), PassageFilter.of(where, "done")
    pieces, deeds = await gather_or_cancel(
        store.index.search(PASSAGE, query, vector, said, PASSAGES, threshold, read=0),
        store.index.search(PASSAGE, query, None, done, PASSAGES, read=0),
    )
    near = [Match(*item) for item in keep_best(pieces.by_vector).items()]
    best: dict[str, str] = {}
    for match in pieces.by_words:
        best.setdefault(get_turn_id(match.id), match.id)
    signals = TurnSignals(pieces=_scale(pieces.by_words), done=_scale(deeds.by_words))
    return FoundSignals(signals, near, best_pieces=best)


async def find_files(store: Store, query: str, project_ids: Sequence[str] | None) -> list[str]:
    """Return the files whose code holds the words of a question best; none without a project."""
    if not project_ids or (project := await find_read_project(store, project_ids)) is None:
        return []
    where = CodeFilter(project_id=project.uuid)
    found = await store.code.search(query, None, where, SCOPES)
    best: dict[str, float] = defaultdict(float)
    for match in found.by_words:
        best[match.scope.file] = max(best[match.scope.file], match.score)
    return sorted(best, key=lambda file: -best[file])[:FILES]


async def find_read_project(store: Store, project_ids: Sequence[str]) -> Project | None:
    """Return the checkout of a project whose code was read, of several a whole one."""
    found = await store.records.find(PROJECT, ProjectFilter(list(project_ids)))
    return max(found, key=lambda one: one.is_whole, default=None)


async def _find_by_files(
    store: Store, files: Iterable[str], where: MemoryFilter
) -> Sequence[Passage]:
    """Return what was done in turns that edited any of these files."""
    keys = " ".join(map(make_file_key, files))
    if not keys:
        return ()
    done = PassageFilter.of(where, "done")
    found = await store.index.search(PASSAGE, keys, None, done, PASSAGES)
    return list(found.items.values())


async def _find_said_before(store: Store, said: str, where: MemoryFilter) -> dict[str, float]:
    """Return the turns that hold the words of the session's last turns, said or done."""
    if not said:
        return {}
    # Of a long text the rarest words are searched for, which are seldom short.
    words = sorted(dict.fromkeys(said.split()), key=len, reverse=True)[:SAID_WORDS]
    query = " ".join(words)
    found = await gather_or_cancel(
        *(
            store.index.search(
                PASSAGE, query, None, PassageFilter.of(where, kind), PASSAGES, read=0
            )
            for kind in KINDS
        )
    )
    best = [_scale(one.by_words) for one in found]
    return {turn: max(one.get(turn, 0.0) for one in best) for turn in dict.fromkeys(chain(*best))}


def _scale(matches: Sequence[Match]) -> dict[str, float]:
    return scale(keep_best(matches), is_cut=len(matches) >= PASSAGES)
