"""Contents: how much a store holds, of which projects, agents and authors, and since when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime

from ragforge.domain.authors import name_author
from ragforge.domain.conversations import Conversation
from ragforge.records import dataclass


@dataclass(frozen=True, slots=True)
class Share:
    """The sessions of one project, agent or author."""

    key: str  # the id of a project, the name of an agent, the key of an author
    name: str  # of a project: where it was last; empty for sessions without an author
    sessions: int
    turns: int
    last: datetime


@dataclass(frozen=True, slots=True)
class Month:
    """The sessions that were last active in a month."""

    first_day: date
    sessions: int


@dataclass(frozen=True, slots=True)
class Contents:
    """What a store holds, as far as its viewer sees it. The largest share comes first."""

    sessions: int
    turns: int
    summaries: int
    notes: int
    oldest: datetime | None
    newest: datetime | None
    projects: Sequence[Share]
    agents: Sequence[Share]
    authors: Sequence[Share]
    months: Sequence[Month]  # from the newest; months without sessions are left out


def summarise(sessions: Sequence[Conversation], summaries: int, notes: int) -> Contents:
    """Return the contents of a store with these sessions, the last active first."""
    return Contents(
        sessions=len(sessions),
        turns=sum(one.turn_count for one in sessions),
        summaries=summaries,
        notes=notes,
        oldest=min((one.created_at for one in sessions), default=None),
        newest=max((one.updated_at for one in sessions), default=None),
        projects=_share(sessions, lambda one: (one.project_id, one.project_path)),
        agents=_share(sessions, lambda one: (one.agent, one.agent)),
        authors=_share(
            sessions,
            lambda one: (one.author_key or "", name_author(one.author) if one.author else ""),
        ),
        months=_count_months(sessions),
    )


def _share(
    sessions: Sequence[Conversation], name: Callable[[Conversation], tuple[str, str]]
) -> list[Share]:
    """Return the sessions with the same key together. The newest of them gives the name."""
    groups: dict[str, list[Conversation]] = {}
    names: dict[str, str] = {}
    for one in sessions:
        key, text = name(one)
        groups.setdefault(key, []).append(one)
        names.setdefault(key, text)
    shares = [
        Share(
            key,
            names[key],
            len(some),
            sum(one.turn_count for one in some),
            max(one.updated_at for one in some),
        )
        for key, some in groups.items()
    ]
    return sorted(shares, key=lambda one: (-one.sessions, one.name))


def _count_months(sessions: Sequence[Conversation]) -> list[Month]:
    counts: dict[date, int] = {}
    for one in sessions:
        first_day = one.updated_at.astimezone().date().replace(day=1)
        counts[first_day] = counts.get(first_day, 0) + 1
    return [Month(day, counts[day]) for day in sorted(counts, reverse=True)]
