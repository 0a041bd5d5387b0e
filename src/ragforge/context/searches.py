"""Searches: each search of the memory and the code of a project before an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ragforge.brain.project import Brain
from ragforge.concurrency import gather_or_cancel
from ragforge.context import select
from ragforge.context.excerpts import Excerpt, enrich_locations, merge
from ragforge.context.initial import InitialContext
from ragforge.context.instructions import Instructions, read_instructions
from ragforge.context.replay import Replays, TurnsToRead, WindowLimits
from ragforge.context.selection import Budget, OwnPast, RecalledMemory
from ragforge.domain.code import Reading
from ragforge.domain.conversations import Conversation, MemoryFilter
from ragforge.domain.hits import MemoryHit, NoteHit, TurnHit
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.receipts import SearchReport, SearchState, read_layout
from ragforge.domain.turns import Turn, group_into_turns
from ragforge.memory.code.changes import find_all_stale
from ragforge.memory.context_tags import make_mark
from ragforge.memory.history import FIRST_MESSAGES, History
from ragforge.memory.notes import find_relevant_notes
from ragforge.memory.past_turns import read_last_turns, recall_turn
from ragforge.memory.rules import find_rule_notes
from ragforge.memory.search.combined import find_relevant_history
from ragforge.memory.search.turns import MemorySearch, choose_standing
from ragforge.ports.store import Store
from ragforge.records import dataclass
from ragforge.search.question.message_kinds import asks_for_several, needs_nothing

if TYPE_CHECKING:
    from ragforge.brain.search.unread import Unread

SEMANTIC_CONFIDENCE = 0.9
DOCUMENT_HITS = 10
CHARS_A_MEMORY = 160
"""The usual length of a short memory: no more are searched for than may fit."""
CHARS_A_SUMMARY = 1_000
"""The same for the conversation's own summaries: most are longer."""
MEMORIES = (20, 200)
"""The fewest and the most memories that are searched for."""
SHARE_OF_BEST, SHARE_OF_SEVERAL = 0.4, 0.25
"""Memories with less than this share of the best score are hardly relevant; the answer to some
questions is in many."""
CHECKED_HITS = 40
"""For how many of the best memories it is checked whether their code has changed."""
FOLLOW_UP_CHARS = 80
"""A shorter question is seldom understood without the turn before it."""
FOLLOW_UPS = 5
MAX_NOTES = 5
MIN_SUMMARIES = 8
"""The minimum number of the conversation's own summaries to read: they may begin the window."""
STRETCHES = 8
"""How many short-term summaries below a long-term one may begin the window."""


class CodeSearched(NamedTuple):
    """What the search for code has found."""

    excerpts: Sequence[Excerpt] = ()
    otherwise: SearchState = "nothing relevant"  # why there is none
    reading: Reading | None = None  # how far the first reading of the project is
    unknown: Sequence[str] = ()  # words of the message that the project holds nowhere


@dataclass(frozen=True, slots=True)
class Searches:
    """Searches the memory and the code of one project."""

    store: Store
    recall: MemorySearch
    brain: Brain
    initial: InitialContext
    subdirectory_only: bool

    async def prepare(self) -> None:
        """Load the embedding model, so that the searches do not spend their time on it."""
        if self.recall.embedder is not None:
            await self.recall.embedder.prepare()

    async def read_own_past(
        self, conversation: Conversation, budget: Budget, without: Sequence[str] = ()
    ) -> OwnPast:
        """Return the newest turns of a conversation that may be shown, and its summaries."""
        if not conversation.message_count:  # it may not be stored at all
            return OwnPast()
        replays, uuid = Replays(), conversation.uuid
        may_fit = max(budget.own_summaries // CHARS_A_SUMMARY, MIN_SUMMARIES)
        newest, receipt, outermost, stretches = await self.store.timeline.recent_past(
            uuid, FIRST_MESSAGES, may_fit, STRETCHES
        )
        layout = read_layout(receipt)
        limits = WindowLimits.of(budget.recent, budget.total)
        reader = TurnsToRead(limits, budget.queries, replays, layout)
        turns = await History(self.store).get_turns_while(uuid, reader.wants, without, newest)
        level_2 = [summary for summary in outermost if summary.level == 2]
        level_1 = [summary for summary in outermost if summary.level == 1]
        starts = {summary.start_turn_index for summary in level_1}.union(stretches)
        ends = [summary.end_turn_index + 1 for summary in (*level_2[-1:], *level_1[-1:])]
        starts |= {max(ends, default=0)}
        return OwnPast(turns, level_2, level_1, frozenset(starts), layout, replays)

    async def read_instructions(
        self, conversation: Conversation, cwd: Path, budget: Budget
    ) -> Instructions:
        """Return the project's instructions for agents."""
        mark = make_mark(conversation.uuid)
        return await asyncio.to_thread(
            read_instructions, self.brain.root, cwd, budget.instructions, mark
        )

    def _find_place(self, conversation: Conversation) -> ProjectPlace:
        """Return the project of a conversation, which may be another than the open one."""
        return self.brain.place.look_from(conversation.project_id, conversation.project_path)

    async def search_memory(
        self,
        conversation: Conversation,
        message: str,
        budget: Budget,
        without: Sequence[str] = (),
    ) -> tuple[list[RecalledMemory], list[TurnHit]]:
        """Return the relevant memories with their changed code, and standing instructions."""
        if not budget.recalls:
            return [], []
        where = MemoryFilter(project_ids=self._find_place(conversation).ids)
        (marked, said_to_hold), session = await gather_or_cancel(
            self.recall.read_standing(where), read_last_turns(self.store, conversation, without)
        )
        listed = [id_ for id_ in marked if id_ not in without]
        wanted = min(max(budget.total // CHARS_A_MEMORY, MEMORIES[0]), MEMORIES[1])
        if budget.memories is not None:
            wanted = budget.memories
        found = await find_relevant_history(
            self.recall,
            message,
            where,
            wanted + len(without),
            max_chars=budget.total,
            standing=listed,
            session=session,
        )
        may_apply = [turn for id_, turn in said_to_hold.items() if id_ not in without]
        standing = choose_standing(message, may_apply, MAX_NOTES)
        said = [hit for hit in found.hits if hit.type == "summary" or hit.turn.uuid not in without]
        best = max((hit.score for hit in said), default=0.0)
        share = SHARE_OF_SEVERAL if asks_for_several(message) else SHARE_OF_BEST
        min_score = max(budget.min_score, share * best)
        hits = [hit for hit in said if hit.score >= min_score][:wanted]
        stale, before = await gather_or_cancel(
            find_all_stale(self.store, self._find_place(conversation), hits[:CHECKED_HITS]),
            self._read_turns_before(hits, without),
        )
        stale += [[] for _ in hits[CHECKED_HITS:]]
        memories = [
            RecalledMemory(hit, changes, before.get(hit.turn.uuid) if hit.type == "turn" else None)
            for hit, changes in zip(hits, stale, strict=True)
        ]
        return memories, standing

    async def search_notes(
        self, conversation: Conversation, message: str, budget: Budget
    ) -> list[NoteHit]:
        """Return the project's rules, the newest first, and notes relevant to a message."""
        if not budget.recalls:
            return []
        store, embedder = self.store, self.recall.embedder
        ids = self._find_place(conversation).ids
        rules, others = await gather_or_cancel(
            find_rule_notes(store, ids),
            find_relevant_notes(store, embedder, message, ids, MAX_NOTES),
        )
        return [*rules, *others]

    async def search_code(
        self, message: str, cwd: Path, budget: Budget, unread: Unread | None
    ) -> CodeSearched:
        """Return code found by meaning, words and names; and the reason if there is none."""
        searching = self.brain.search_code_semantic(
            message,
            cwd,
            initial_limit=budget.code_hits,
            subdirectory_only=self.subdirectory_only,
            relevant_only=True,
        )
        if unread is None:
            finding = self.brain.find_unknown_words(message, unread)
            hits, unknown = await gather_or_cancel(searching, finding)
        else:  # looking through the unread files again pays only if nothing was found
            hits = await searching
            unknown = [] if hits else await self.brain.find_unknown_words(message, unread)
        # Small talk needs no code: what was not read yet is not missing from its answer.
        reading = None if unread is None or needs_nothing(message) else unread.reading
        excerpts = [
            Excerpt.of_scope(hit.scope, hit.relevance, SEMANTIC_CONFIDENCE, hit.signals)
            for hit in hits
        ]
        if excerpts or reading is not None or await self.brain.is_ingested():
            return CodeSearched(excerpts, "nothing relevant", reading, unknown)
        return CodeSearched(otherwise="nothing to search")

    async def search_documents(self, message: str, cwd: Path) -> list[Excerpt]:
        """Return sections of documents: decisions, runbooks, web pages and the like."""
        hits = await self.brain.search_documents(message, cwd, DOCUMENT_HITS, relevant_only=True)
        return [
            Excerpt.of_scope(
                hit.scope, hit.relevance, SEMANTIC_CONFIDENCE, hit.signals, hit.fetched_at
            )
            for hit in hits
        ]

    async def search_files(
        self, message: str, chars: int, cwd: Path | None = None
    ) -> tuple[list[Excerpt], list[SearchReport]]:
        """Return what the initial-context agent finds in the files, and its reports."""
        (locations, searches), settled = await gather_or_cancel(
            self.initial.search(message, cwd), self.brain.is_settled()
        )
        if not locations:
            return [], searches
        code = self.store.code if settled else None
        excerpts = await enrich_locations(locations, code, self.brain.project_id, self.brain.root)
        return select.select_best(merge(excerpts), chars), searches

    async def _read_turns_before(
        self, hits: Sequence[MemoryHit], without: Collection[str]
    ) -> dict[str, Turn]:
        """Return the turns before the best short ones, which need them to be understood."""
        short = [
            hit
            for hit in hits[:CHECKED_HITS]
            if hit.type == "turn"
            and hit.turn.user.turn_index
            and len(hit.turn.user.content) < FOLLOW_UP_CHARS
        ]
        # Turns that were found often follow each other: then the one before has been read already.
        read = {
            (hit.conversation_id, hit.turn.user.turn_index): hit.turn
            for hit in hits
            if hit.type == "turn"
        }
        found: dict[str, Turn] = {}
        missing: list[str] = []
        for hit in short[:FOLLOW_UPS]:
            place = (hit.turn.user.turn_index or 1) - 1
            if (known := read.get((hit.conversation_id, place))) is not None:
                found[hit.turn.uuid] = known
            else:
                missing.append(hit.turn.uuid)
        if missing:
            before = await self.store.timeline.turns(missing, back=1)
            found |= {
                uuid: kept
                for uuid, stored in before.items()
                for turn in group_into_turns(stored.messages)
                if (kept := recall_turn(turn)) is not None
            }
        return {uuid: turn for uuid, turn in found.items() if turn.uuid not in without}
