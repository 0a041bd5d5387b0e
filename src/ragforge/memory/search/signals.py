"""Signals: search what was said and done in turns, for their ranking."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ragforge.concurrency import gather_or_cancel
from ragforge.domain.code import CodeFilter, ProjectFilter
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import Match
from ragforge.domain.passages import PassageFilter, PassageKind, make_file_key
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
SCOPES = 100
FILES = 10
"""How many files of the code a question may be about."""
KINDS: tuple[PassageKind, ...] = ("said", "done")
NO_SESSION = SessionSoFar()


class FoundSignals(NamedTuple):
    """Signals for the ranking of turns, and the turns whose pieces are nearest in meaning."""

    signals: TurnSignals = TurnSignals()
    nearest: Sequence[Match] = ()
    files: Sequence[str] = ()  # that the question seems to be about


async def find_signals(
    store: Store,
    query: str,
    where: MemoryFilter,
    vector: Vector | None = None,
    threshold: float = 0.0,
    session: SessionSoFar = NO_SESSION,
) -> FoundSignals:
    """Return by which pieces and deeds turns are found, best first."""
    said, done = PassageFilter.of(where, "said"), PassageFilter.of(where, "done")
    search = store.index.search
    pieces, deeds, files, said_before, done_before = await gather_or_cancel(
        search(PASSAGE, query, vector, said, PASSAGES, threshold, read=0),
        search(PASSAGE, query, None, done, PASSAGES, read=0),
        find_files(store, query, where.project_ids),
        _find_said_before(store, session.said, where),
        find_by_files(store, session.files, where),
    )
    signals = TurnSignals(
        *(_scale(pieces.by_words), _scale(deeds.by_words)),
        *(await find_by_files(store, weigh_ranks(files), where), said_before, done_before),
    )
    near = keep_best(pieces.by_vector)
    return FoundSignals(signals, [Match(*item) for item in near.items()], files)


async def find_files(store: Store, query: str, project_ids: Sequence[str] | None) -> list[str]:
    """Return the files whose code holds the words of a question best; none without a project."""
    if not project_ids:
        return []
    projects = await store.records.find(PROJECT, ProjectFilter(list(project_ids)))
    if not projects:
        return []
    project = max(projects, key=lambda one: one.is_whole)
    where = CodeFilter(project_id=project.uuid)
    found = await store.code.search(query, None, where, SCOPES)
    best: dict[str, float] = defaultdict(float)
    for match in found.by_words:
        best[match.scope.file] = max(best[match.scope.file], match.score)
    return sorted(best, key=lambda file: -best[file])[:FILES]


async def find_by_files(
    store: Store, worth: Mapping[str, float], where: MemoryFilter
) -> dict[str, float]:
    """Return the turns that edited files, by what the files are worth."""
    if not worth:
        return {}
    keys = " ".join(map(make_file_key, worth))
    done = PassageFilter.of(where, "done")
    found = await store.index.search(PASSAGE, keys, None, done, PASSAGES)
    return rank_deeds(found.items.values(), worth)


async def _find_said_before(store: Store, said: str, where: MemoryFilter) -> dict[str, float]:
    """Return the turns that hold the words of the session's last turns, said or done."""
    if not said:
        return {}
    found = await gather_or_cancel(
        *(
            store.index.search(PASSAGE, said, None, PassageFilter.of(where, kind), PASSAGES, read=0)
            for kind in KINDS
        )
    )
    best = [_scale(one.by_words) for one in found]
    return {turn: max(one.get(turn, 0.0) for one in best) for turn in set().union(*best)}


def _scale(matches: Sequence[Match]) -> dict[str, float]:
    return scale(keep_best(matches), is_cut=len(matches) >= PASSAGES)
