"""Usage: tokens and money that requests to models took, by agent, model, project and time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import Literal, TypeAlias, get_args

from ragforge.app.features.sessions import HasId, Sessions
from ragforge.domain.chat import Usage, UsageFilter, UsageRecord
from ragforge.domain.conversations import ConversationFilter
from ragforge.domain.schema import CONVERSATION, USAGE
from ragforge.errors import InputError
from ragforge.records import dataclass

By: TypeAlias = Literal["day", "week", "agent", "model", "project"]
KEYS: tuple[By, ...] = get_args(By)
PriceOf: TypeAlias = Callable[[UsageRecord], float | None]
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class UsageGroup:
    """What some requests took together."""

    keys: tuple[str, ...]  # in the order in which they are grouped
    usage: Usage
    unpriced: int = 0  # requests whose price is not known

    @property
    def tokens(self) -> int:
        return self.usage.input_tokens + self.usage.output_tokens

    @property
    def cached_share(self) -> float:
        """How much of the input came from caches, from 0 to 1."""
        return self.usage.cached_tokens / max(self.usage.input_tokens, 1)


@dataclass(frozen=True, slots=True)
class UsageReport:
    """What requests took, in groups: days and weeks newest first, else the largest first."""

    by: tuple[By, ...]
    groups: Sequence[UsageGroup]
    total: UsageGroup


@dataclass(frozen=True, slots=True)
class Usages:
    """What requests to models took, of RagForge and of imported sessions."""

    sessions: Sessions
    price_of: PriceOf

    async def report(
        self,
        by: Sequence[By] = ("day",),
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        session: str | HasId | None = None,
        everywhere: bool = False,
        project_ids: Sequence[str] = (),
    ) -> UsageReport:
        """Return tokens and money of this project, of all, of some, or of one session.

        Raises InputError if `by` is unknown, or if there is no such session.
        """
        if wrong := [key for key in by if key not in KEYS]:
            raise InputError(f"{wrong[0]!r} is not one of {', '.join(KEYS)}.")
        found = await self._find(since, until, session, everywhere, project_ids)
        return _sum_up(tuple(by), found)

    async def reports(
        self,
        wanted: Sequence[Sequence[By]],
        *,
        since: datetime | None = None,
        project_ids: Sequence[str] = (),
    ) -> list[UsageReport]:
        """Return several reports on the same requests, of some projects or of all."""
        found = await self._find(since, None, None, not project_ids, project_ids)
        return [_sum_up(tuple(by), found) for by in wanted]

    async def _find(
        self,
        since: datetime | None,
        until: datetime | None,
        session: str | HasId | None,
        everywhere: bool,
        project_ids: Sequence[str],
    ) -> list[_Spent]:
        find = self.sessions.store.records.find
        if session is not None:
            chosen = [await self.sessions.load(str(await self.sessions.resolve_id(session)))]
        else:
            ids = None if everywhere else project_ids or self.sessions.project.ids
            chosen = await find(CONVERSATION, ConversationFilter(project_ids=ids))
        known = {one.uuid: one for one in chosen}
        paths: dict[str, str] = {}  # of a project the last one that was worked in
        for one in chosen:
            paths.setdefault(one.project_id, one.project_path)
        inside = None if everywhere and session is None else list(known)
        records = await find(USAGE, UsageFilter(inside, since, until))
        return [
            _Spent(
                record,
                record.to_usage(self.price_of(record) if record.usd is None else record.usd),
                talk.agent,
                paths[talk.project_id],
            )
            for record in records
            if (talk := known.get(record.conversation_id)) is not None
        ]


@dataclass(frozen=True, slots=True)
class _Spent:
    """A record with its price, who made the requests and for which project."""

    record: UsageRecord
    usage: Usage
    agent: str
    project: str

    def get_key(self, by: By) -> str:
        match by:
            case "agent":
                return self.agent
            case "model":
                return self.record.model or UNKNOWN
            case "project":
                return self.project
        day = self.record.created_at.astimezone().date()
        return str(day if by == "day" else day - timedelta(days=day.weekday()))


def _sum_up(by: tuple[By, ...], spent: Iterable[_Spent]) -> UsageReport:
    groups: defaultdict[tuple[str, ...], list[_Spent]] = defaultdict(list)
    for one in spent:
        groups[tuple(map(one.get_key, by))].append(one)
    found = [_add_up(keys, some) for keys, some in groups.items()]
    found.sort(key=lambda group: (-group.tokens, group.keys))
    times = [place for place, key in enumerate(by) if key in ("day", "week")]
    found.sort(key=lambda group: [group.keys[place] for place in times], reverse=True)
    return UsageReport(by, found, _add_up((), chain.from_iterable(groups.values())))


def _add_up(keys: tuple[str, ...], spent: Iterable[_Spent]) -> UsageGroup:
    total, unpriced = Usage(), 0
    for one in spent:
        total += one.usage
        unpriced += one.usage.requests if one.usage.usd is None else 0
    return UsageGroup(keys, total, unpriced)
