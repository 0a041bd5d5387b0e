"""Remembering: a memory wired as the application wires it, with a custom summariser."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragforge.adapters.stores.holders import is_gone
from ragforge.app.wiring.background import open_worker
from ragforge.app.wiring.brain import open_brain
from ragforge.app.wiring.trust import FolderTrust
from ragforge.config.settings import Settings
from ragforge.domain.conversations import Conversation, Message
from ragforge.domain.schema import CONVERSATION, SUMMARY
from ragforge.domain.summaries import Summary, SummaryFilter
from ragforge.domain.text import Json
from ragforge.domain.turns import Turn
from ragforge.jobs.worker import Worker
from ragforge.llm.ask import ChatClient
from ragforge.llm.executor import StructuredLLMExecutor
from ragforge.memory.history import History
from ragforge.memory.record import Recorder
from ragforge.memory.search.turns import MemorySearch
from ragforge.memory.summaries.by_model import ModelSummariser
from ragforge.memory.summaries.condense import Condenser, ExtractiveSummariser, Summariser
from ragforge.memory.summaries.due import Thresholds
from ragforge.ports.models import ChatModel, Embedder
from ragforge.ports.store import Store
from tests.fakes.builders import SHOP, assistant, conversation, tool_call, tool_result, user

THRESHOLDS = Thresholds(level_1=2_000, level_2=600)


@dataclass(frozen=True, slots=True)
class Memory:
    """The parts of an application that remember."""

    store: Store
    recorder: Recorder
    condenser: Condenser
    worker: Worker
    history: History

    async def start(self, cwd: str = SHOP, project_path: str = SHOP) -> str:
        """Start a conversation and return its id."""
        new = conversation(cwd, project_path=project_path)
        await self.store.records.put(CONVERSATION, new)
        return new.uuid

    async def say(self, talk: str, question: str, answer: str = "Done.") -> Turn:
        return await self.recorder.store_turn(talk, [user(question), assistant(answer)])


async def keep_no_originals(_: Json) -> None:
    """Do nothing: no transcripts are imported here."""


def memory_of(
    store: Store,
    model: ChatModel | None = None,
    *,
    embedder: Embedder | None = None,
    thresholds: Thresholds = THRESHOLDS,
    attempts: int = 5,
) -> Memory:
    """Return a memory over a store; without a model its summaries are extracts."""
    settings = Settings.model_validate({"jobs": {"max_attempts": attempts, "lease_seconds": 5}})
    summariser: Summariser = ExtractiveSummariser()
    if model is not None:
        summariser = ModelSummariser(StructuredLLMExecutor(ChatClient(model)), model.name)
    condenser = Condenser(store, summariser, thresholds, embedder, is_gone=is_gone)
    recall = MemorySearch(store, embedder)
    brain = open_brain(settings, store, embedder, Path(SHOP))
    return Memory(
        store,
        Recorder(store, embedder.name if embedder else None, 50_000),
        condenser,
        open_worker(
            settings,
            store,
            recall,
            brain,
            None,
            condenser,
            FolderTrust.of(settings, brain.root),
            keep_no_originals,
        ),
        History(store),
    )


def turn_of(chance: random.Random, number: int) -> list[Message]:
    """Return the messages of a turn: short or long, with tools or without."""
    about = chance.choice(["cart", "login", "invoice", "search"])
    size = chance.choice([20, 200, 400, 400, 900, 5_000])
    words = " ".join(chance.choice(["total", "token", "page", "tax", "index"]) for _ in range(size))
    messages = [user(f"Question {number}: what is wrong with the {about}?")]
    if chance.random() < 0.4:
        given = {"file": f"src/{about}.py", "line": number}
        call = tool_call("read_file", arguments=given, result=tool_result(words[: size // 3]))
        messages.append(assistant("Let me look.", call))
    text = f"The {about} fails because of number {number}. {words[: size // 2]}"
    return [*messages, assistant(text)]


async def check_levels(memory: Memory, talk: Conversation) -> tuple[list[Summary], list[Summary]]:
    """Check what holds whenever all jobs are done; return the summaries of each level."""
    turns = await memory.store.timeline.coverage(talk.uuid, 0)
    found = await memory.store.records.find(SUMMARY, SummaryFilter(talk.uuid))
    first = [summary for summary in found if summary.level == 1]
    second = [summary for summary in found if summary.level == 2]

    assert_contiguous(first)
    assert_contiguous(second)
    covered = [turn.turn_index for turn in turns if turn.covered_by in {one.uuid for one in first}]
    assert covered == list(range(len(covered)))  # from the first on
    left = [turn for turn in turns if turn.is_open]
    assert sum(turn.chars for turn in left) < memory.condenser.thresholds.level_1
    assert len(covered) + len(left) == talk.turn_count

    for one in first:
        own = [turn for turn in turns if turn.covered_by == one.uuid]
        begin, end = own[0].turn_index, own[-1].turn_index
        assert (one.start_turn_index, one.end_turn_index) == (begin, end)
        assert one.char_range_start == sum(turn.chars for turn in turns[:begin])
        assert one.char_range_end == sum(turn.chars for turn in turns[: end + 1])

    known = {one.uuid: one for one in first}
    parents = [uuid for one in second for uuid in one.parent_summaries]
    assert len(parents) == len(set(parents))
    assert parents == [one.uuid for one in first[: len(parents)]]
    for one in second:
        own_parents = [known[uuid] for uuid in one.parent_summaries]
        assert len(own_parents) >= 2
        assert one.char_range_start == own_parents[0].char_range_start
        assert one.char_range_end == own_parents[-1].char_range_end
        assert set(one.files_mentioned) == {f for p in own_parents for f in p.files_mentioned}
    outside = SummaryFilter(talk.uuid, outside_level_2=True)
    waiting = await memory.store.records.find(SUMMARY, outside)
    assert [one.uuid for one in waiting] == [one.uuid for one in first[len(parents) :]]
    chars = sum(one.summary_char_count for one in waiting)
    assert chars < memory.condenser.thresholds.level_2 or len(waiting) < 2
    return first, second


def assert_contiguous(summaries: Sequence[Summary]) -> None:
    """Each begins where the one before it ends, and the first at the beginning."""
    end = 0
    for summary in summaries:
        assert summary.char_range_start == end
        end = summary.char_range_end
