"""Searches: what is searched before an answer, each search separately or all at once.

All searches run in threads of one process. Together they take 1.4 to 1.9 times as long as the
slowest one, because they share the interpreter's lock: 38 ms at the median. A search in its own
process would save about 5 ms, but would need a second copy of the vectors (50 MB for Django) and
0.2 s to start.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ragforge.brain.project import Brain
from ragforge.concurrency import gather_or_cancel
from ragforge.context import select
from ragforge.context.budget import Budget
from ragforge.context.deadline import run_with_deadline
from ragforge.context.excerpts import Excerpt, enrich_locations, fuse, merge
from ragforge.context.initial import InitialContext
from ragforge.context.instructions import Instructions, read_instructions
from ragforge.context.listing import list_code
from ragforge.context.replay import Replays
from ragforge.context.selection import Material, OwnPast, RecalledMemory
from ragforge.context.window import TurnsToRead, WindowLimits
from ragforge.domain.conversations import Conversation, MemoryFilter
from ragforge.domain.hits import MemoryHit, NoteHit, TurnHit
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.reading import Reading
from ragforge.domain.receipts import MEMORY_OFF, SearchReport, SearchState, read_layout
from ragforge.domain.turns import Turn, group_into_turns
from ragforge.memory.code.changes import find_all_stale
from ragforge.memory.context_tags import make_mark
from ragforge.memory.history import FIRST_MESSAGES, History
from ragforge.memory.notes import find_relevant_notes
from ragforge.memory.past_turns import read_last_turns, recall_turn
from ragforge.memory.rules import drop_replaced, find_rule_notes
from ragforge.memory.search.combined import find_relevant_history
from ragforge.memory.search.turns import MemorySearch, choose_standing
from ragforge.ports.store import Store
from ragforge.records import dataclass
from ragforge.search.question.message_kinds import asks_for_order, asks_for_several
from ragforge.search.question.wording import expand_query
from ragforge.search.words.tokenise import WORDS

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
NOT_READ = "the files of this folder are not read: it is not a project, and you have not allowed it"
OWN_SECONDS = 60.0
WHILE_READING = 4
"""So much more time the search of code has during the first reading, which keeps the machine busy:
there is nothing else to answer with."""
MIN_SUMMARIES = 8
"""The minimum number of the conversation's own summaries to read: they may begin the window."""
STRETCHES = 8
"""How many short-term summaries below a long-term one may begin the window."""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long each search may take, in seconds.

    The conversation's own past is indispensable, so it gets the longest time.
    """

    code: float = 5.0
    history: float = 5.0
    initial: float = 10.0
    own: float = OWN_SECONDS


class Trust(Protocol):
    """What the user allowed of the project's folder."""

    @property
    def obeys(self) -> bool:
        """Whether its instruction files are followed."""

    @property
    def reads(self) -> bool:
        """Whether its files are read."""


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
    deadlines: Deadlines
    subdirectory_only: bool
    trust: Trust

    async def prepare(self) -> None:
        """Load the embedding model, so that the searches do not spend their time on it."""
        if self.recall.embedder is not None:
            await self.recall.embedder.prepare()

    async def run_all(
        self,
        conversation: Conversation,
        message: str,
        budget: Budget,
        without: Sequence[str] = (),
    ) -> tuple[Material, list[SearchReport]]:
        """Return what is relevant to a message, and a report of each search.

        A search that fails or is late does not affect the others. Turns `without` are left out.
        """
        cwd = Path(conversation.cwd)
        limits = self.deadlines
        unread = await self.brain.first_reading.find_unread()
        if unread is not None:
            limits = replace(limits, code=WHILE_READING * limits.code)
        files = self.search_files(message, budget.code // 2, cwd)
        code = self.search_code(message, cwd, budget, unread)
        memory = self.search_memory(conversation, message, budget, without)
        past = self.read_own_past(conversation, budget, without)
        # The slowest come first: a store serves its readers in turn.
        (initial, semantic, documents), (history, notes, own, instructions) = await asyncio.gather(
            asyncio.gather(
                run_with_deadline("initial context", files, limits.initial),
                run_with_deadline("code by meaning", code, limits.code),
                run_with_deadline("documents", self.search_documents(message, cwd), limits.code),
            ),
            asyncio.gather(
                run_with_deadline("memory by words and meaning", memory, limits.history),
                run_with_deadline(
                    "notes", self.search_notes(conversation, message, budget), limits.history
                ),
                run_with_deadline("this conversation", past, limits.own),
                run_with_deadline(
                    "instructions",
                    self.read_instructions(conversation, cwd, budget),
                    limits.history,
                ),
            ),
        )
        from_files, of_files = initial.found or ([], [])
        searched = semantic.found or CodeSearched()
        excerpts, no_code = searched.excerpts, searched.otherwise
        of_code = semantic.report(len(excerpts), no_code)
        if searched.reading is not None:
            of_code = replace(of_code, state="ingesting", note=searched.reading.notice)
        words = frozenset(WORDS.query(expand_query(message, WORDS).text))
        in_code, in_documents = fuse(excerpts, from_files), documents.found or []
        listing = await run_with_deadline(
            "code of what was found",
            gather_or_cancel(
                *(
                    list_code(
                        *(self.brain.finder, self.brain.project_id, some, words, budget.code),
                        in_file=budget.keeps_code and some is in_code,
                    )
                    for some in (in_code, in_documents)
                )
            ),
            limits.code,
        )
        in_code, in_documents = listing.found or (in_code, in_documents)
        memories, said_to_hold = history.found or ([], [])
        kept, standing = drop_replaced(notes.found or [], said_to_hold)
        material = Material(
            conversation_id=conversation.uuid,
            reader=conversation.author_key,
            own=own.found or OwnPast(),
            memories=memories,
            words=words,
            unknown=searched.unknown,
            in_order=asks_for_order(message),
            notes=kept,
            standing=standing,
            code=in_code,
            documents=in_documents,
            instructions=instructions.found or Instructions(),
        )
        no_memory: SearchState = "nothing relevant" if budget.recalls else "skipped"
        why = "" if budget.recalls else MEMORY_OFF
        searches = [
            own.report(len(material.own.turns), "nothing to search"),
            history.report(len(material.memories), no_memory, why),
            notes.report(len(material.notes), no_memory, why),
            of_code,
            documents.report(len(material.documents), no_code),
            *(of_files or [initial.report(0)]),
            # Most projects have none; only that they could not be read is worth a line.
            *(one.report(0) for one in (instructions, listing) if one.found is None),
        ]
        return material, searches

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
        """Return the project's instructions for agents, if its user trusts it."""
        if not self.trust.obeys:
            return Instructions()
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
        """Return the project's relevant memories, and which of their code has changed since.

        And the turns in which the user said what holds from then on, if it applies.
        """
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
        if not self.trust.reads:
            return CodeSearched(otherwise="skipped")
        hits, unknown = await gather_or_cancel(
            self.brain.search_code_semantic(
                message,
                cwd,
                initial_limit=budget.code_hits,
                subdirectory_only=self.subdirectory_only,
                relevant_only=True,
            ),
            self.brain.find_unknown_words(message, unread),
        )
        reading = None if unread is None else unread.reading
        excerpts = [
            Excerpt.of_scope(hit.scope, hit.relevance, SEMANTIC_CONFIDENCE, hit.signals)
            for hit in hits
        ]
        if excerpts or reading is not None or await self.brain.is_ingested():
            return CodeSearched(excerpts, "nothing relevant", reading, unknown)
        return CodeSearched(otherwise="nothing to search")

    async def search_documents(self, message: str, cwd: Path) -> list[Excerpt]:
        """Return sections of documents: decisions, runbooks, web pages and the like."""
        if not self.trust.reads:
            return []
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
        if not self.trust.reads:
            return [], [SearchReport("initial context", "skipped", note=NOT_READ)]
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
