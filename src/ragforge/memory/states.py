"""States: whether each turn of a conversation is embedded and summarised."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ragforge.domain.conversation_bundle import Bundle
from ragforge.domain.schema import JOB
from ragforge.domain.text import to_json
from ragforge.domain.work import Job, JobFilter
from ragforge.ports.records import Records
from ragforge.records import dataclass

DEAD_JOBS = 10_000
"""How many permanently failed jobs are examined."""
_WORD = re.compile(r'[^\s":,\[\]{}]+')


@dataclass(frozen=True, slots=True)
class TurnState:
    """Whether a stored turn is embedded and summarised."""

    turn_index: int
    embedded: bool | None  # None: there is no embedding model
    summarised: bool
    error: str | None = None  # why it was not embedded, if that failed permanently

    @property
    def names(self) -> tuple[str, ...]:
        """Those of stored, embedded, summarised and failed that apply."""
        holds = {
            "stored": True,
            "embedded": bool(self.embedded),
            "summarised": self.summarised,
            "failed": self.error is not None,
        }
        return tuple(name for name, is_so in holds.items() if is_so)


@dataclass(frozen=True, slots=True)
class TurnStates:
    """The states of all turns, by turn id, and the failed jobs of the conversation."""

    turns: Mapping[str, TurnState]
    failed_jobs: tuple[Job, ...] = ()


async def load_states(records: Records, bundle: Bundle, model: str | None) -> TurnStates:
    """Return the states of all turns of a conversation, for an embedding model or for none."""
    conversation_id = bundle["conversation"][0]["uuid"]
    questions = [row for row in bundle["message"] if row["role"] == "user"]
    turns = {row["uuid"]: row["turn_index"] for row in questions}
    summarised = {int(turn) for one in bundle["summary"] for turn in one["covers"]}
    summarised |= {row["turn_index"] for row in questions if row["summary_trimmed"]}
    of_turns = (one for one in bundle["vector"] if one["owner_kind"] == "turn")
    embedded = {one["owner_id"] for one in of_turns if one["model"] == model}
    errors: dict[str, str] = {}
    of_all: list[Job] = []
    for job in await records.find(JOB, JobFilter("dead"), DEAD_JOBS):
        named = set(_WORD.findall(f"{job.key} {to_json('payload', job.payload)}"))
        for turn_id in named & turns.keys():
            errors[turn_id] = job.error or "it failed"
        if conversation_id in named:
            of_all.append(job)
    return TurnStates(
        {
            turn_id: TurnState(
                turn_index=turn_index,
                embedded=None if model is None else turn_id in embedded,
                summarised=turn_index in summarised,
                error=None if turn_id in embedded else errors.get(turn_id),
            )
            for turn_id, turn_index in turns.items()
        },
        tuple(of_all),
    )
