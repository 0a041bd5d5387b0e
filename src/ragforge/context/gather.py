"""Gather: run all searches for a message at once, each within its time.

All searches run in threads of one process. Together they take 1.4 to 1.9 times as long as the
slowest one, because they share the interpreter's lock: 38 ms at the median. A search in its own
process would save about 5 ms, but would need a second copy of the vectors (50 MB for Django) and
0.2 s to start.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from ragforge.concurrency import gather_or_cancel
from ragforge.context.excerpts import Excerpt, fuse
from ragforge.context.instructions import Instructions
from ragforge.context.listing import list_code
from ragforge.context.searches import CodeSearched, Searches
from ragforge.context.selection import Budget, Material, OwnPast
from ragforge.domain.conversations import Conversation
from ragforge.domain.receipts import MEMORY_OFF, SearchReport, SearchState
from ragforge.memory.rules import drop_replaced
from ragforge.records import dataclass
from ragforge.search.question.message_kinds import asks_for_order
from ragforge.search.question.wording import expand_query
from ragforge.search.words.tokenise import WORDS

log = logging.getLogger(__name__)

NOT_READ = "the files of this folder are not read: it is not a project, and you have not allowed it"
OWN_SECONDS = 60.0
WHILE_READING = 4
"""The factor for the time of the search of code during the first reading, which keeps the machine
busy: there is nothing else to answer with."""

Found = TypeVar("Found")


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


@dataclass(frozen=True, slots=True)
class TimedResult(Generic[Found]):
    """What a search found, or None, and how it went."""

    name: str
    found: Found | None
    state: SearchState
    milliseconds: int
    problem: str = ""

    def report(
        self, count: int, if_none: SearchState = "nothing relevant", note: str = ""
    ) -> SearchReport:
        """Return the entry for the receipt; `if_none` is the state of a search without results."""
        state = if_none if self.state == "ok" and not count else self.state
        return SearchReport(self.name, state, self.milliseconds, count, self.problem, note)


async def run_with_deadline(
    name: str, search: Awaitable[Found], seconds: float
) -> TimedResult[Found]:
    """Wait for a search. One that is late or fails finds nothing; the result says why."""
    begun = time.monotonic()
    state: SearchState = "ok"
    found: Found | None = None
    problem = ""
    try:
        async with asyncio.timeout(seconds):
            found = await search
    except TimeoutError:
        state, problem = "late", f"took longer than {seconds:g} s"
        log.warning("Search %r %s", name, problem)
    except Exception as error:  # a context with less in it is better than none
        state, problem = "failed", f"{type(error).__name__}: {error}"
        log.warning("Search %r failed", name, exc_info=True)
    return TimedResult(name, found, state, round(1_000 * (time.monotonic() - begun)), problem)


@dataclass(frozen=True, slots=True)
class Gatherer:
    """Gathers what is known that is relevant to a message, as far as the user allows it."""

    searches: Searches
    deadlines: Deadlines
    trust: Trust

    async def gather(
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
        searches, limits = self.searches, self.deadlines
        unread = await searches.brain.first_reading.find_unread()
        if unread is not None:
            limits = replace(limits, code=WHILE_READING * limits.code)
        if self.trust.reads:
            file_search = searches.search_files(message, budget.code // 2, cwd)
            code_search = searches.search_code(message, cwd, budget, unread)
            document_search = searches.search_documents(message, cwd)
        else:
            file_search = _give(([], [SearchReport("initial context", "skipped", note=NOT_READ)]))
            code_search = _give(CodeSearched(otherwise="skipped"))
            document_search = _give([])
        memory_search = searches.search_memory(conversation, message, budget, without)
        note_search = searches.search_notes(conversation, message, budget)
        own_search = searches.read_own_past(conversation, budget, without)
        if self.trust.obeys:
            instruction_search = searches.read_instructions(conversation, cwd, budget)
        else:
            instruction_search = _give(Instructions())
        # The slowest come first: a store serves its readers in turn.
        (initial, semantic, documents), (history, notes, own, instructions) = await asyncio.gather(
            asyncio.gather(
                run_with_deadline("initial context", file_search, limits.initial),
                run_with_deadline("code by meaning", code_search, limits.code),
                run_with_deadline("documents", document_search, limits.code),
            ),
            asyncio.gather(
                run_with_deadline("memory by words and meaning", memory_search, limits.history),
                run_with_deadline("notes", note_search, limits.history),
                run_with_deadline("this conversation", own_search, limits.own),
                run_with_deadline("instructions", instruction_search, limits.history),
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
                self._list(in_code, words, budget.code, in_file=budget.keeps_code),
                self._list(in_documents, words, budget.code),
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
        reports = [
            own.report(len(material.own.turns), "nothing to search"),
            history.report(len(material.memories), no_memory, why),
            notes.report(len(material.notes), no_memory, why),
            of_code,
            documents.report(len(material.documents), no_code),
            *(of_files or [initial.report(0)]),
            # Most projects have none; only that they could not be read is worth a line.
            *(one.report(0) for one in (instructions, listing) if one.found is None),
        ]
        return material, reports

    async def _list(
        self,
        excerpts: Sequence[Excerpt],
        words: Collection[str],
        chars: int,
        *,
        in_file: bool = False,
    ) -> list[Excerpt]:
        """Return excerpts with the code that is shown of them."""
        brain = self.searches.brain
        return await list_code(
            brain.finder, brain.project_id, excerpts, words, chars, in_file=in_file
        )


async def _give(found: Found) -> Found:
    """Return what a search that is skipped finds."""
    return found
