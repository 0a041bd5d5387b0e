"""Today: what was done since a moment, by whom, what is open and what was decided."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ragforge.domain.conversations import Conversation, ConversationFilter
from ragforge.domain.instants import begin_of_day
from ragforge.domain.notes import NoteFilter
from ragforge.domain.schema import CONVERSATION, NOTE
from ragforge.domain.turns import Turn, group_into_turns
from ragforge.memory.rules import Rule, as_rule, find_rules
from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.app.features.notes import Notes
    from ragforge.app.features.overview import Overview
    from ragforge.memory.code.changes import Commit

MAX_SESSIONS = 100
MAX_NOTES = 200
MAX_MESSAGES = 400
"""Of one session: those of a day."""
MAX_TOUCHES = 2_000
EDITED = "edited"


@dataclass(frozen=True, slots=True)
class TodaySession:
    """What happened in a session since a moment."""

    conversation: Conversation
    questions: tuple[str, ...]  # that were asked, the oldest first
    answer: str  # the last one; empty if there is none
    edited: tuple[str, ...]  # files, sorted
    is_open: bool  # its last question has no answer


@dataclass(frozen=True, slots=True)
class Today:
    """What happened since a moment. The newest of each comes first."""

    since: datetime
    sessions: Sequence[TodaySession]
    commits: Sequence[Commit]
    decisions: Sequence[Rule]  # notes, rules and lasting instructions
    uncommitted: Sequence[str]  # files that sessions edited and that differ from the last commit
    to_review: int  # notes that may contradict an older one

    @property
    def open_sessions(self) -> list[TodaySession]:
        return [one for one in self.sessions if one.is_open]

    @property
    def is_empty(self) -> bool:
        return not (self.sessions or self.commits or self.decisions)


@dataclass(frozen=True, slots=True)
class DayReports:
    """What happened in one project, or in all of a store."""

    overview: Overview
    notes: Notes

    async def report(self, since: datetime | None = None, *, everywhere: bool = False) -> Today:
        """Return what happened since a moment, or today. No model is asked.

        Commits and uncommitted files are those of the project that is open.
        """
        since = since or begin_of_day()
        ids = None if everywhere else self.overview.project.ids
        find = self.overview.store.records.find
        where = ConversationFilter(project_ids=ids, since=since)
        found = [
            await self._read(one, since) for one in await find(CONVERSATION, where, MAX_SESSIONS)
        ]
        sessions = [one for one in found if one.questions or one.edited]
        here = set(self.overview.project.ids)
        edited = {
            file for one in sessions if one.conversation.project_id in here for file in one.edited
        }
        return Today(
            since,
            sessions,
            await self.overview.list_commits(self.overview.code.project_path, since, None),
            await self._find_decisions(ids, since),
            [file for file in await self.overview.list_changed_files() if file in edited],
            len(await self.notes.find_corrections()),
        )

    async def _read(self, conversation: Conversation, since: datetime) -> TodaySession:
        timeline, uuid = self.overview.store.timeline, conversation.uuid
        messages = await timeline.messages(
            uuid, limit=MAX_MESSAGES, newest=True, with_receipts=False
        )
        turns = [one for one in group_into_turns(messages) if one.user.timestamp >= since]
        touches = await timeline.touches(conversation_id=uuid, limit=MAX_TOUCHES)
        edited = {
            one.file
            for one in touches
            if one.how == EDITED and one.when >= since and not one.by_summary
        }
        return TodaySession(
            conversation,
            tuple(one.user.content for one in turns),
            next((one.answer for one in reversed(turns) if one.answer), ""),
            tuple(sorted(edited)),
            bool(turns) and not _is_answered(turns[-1]),
        )

    async def _find_decisions(
        self, project_ids: Sequence[str] | None, since: datetime
    ) -> list[Rule]:
        """Return the notes that were made, and the instructions that were given."""
        store, reader = self.overview.store, self.notes.sessions.identity.key
        made = await store.records.find(NOTE, NoteFilter(project_ids, since=since), MAX_NOTES)
        said = await find_rules(store, project_ids, reader)
        rules = [*map(as_rule, made), *(one for one in said if not one.is_note)]
        rules = [one for one in rules if one.when >= since]
        return sorted(rules, key=lambda one: one.when, reverse=True)


def _is_answered(turn: Turn) -> bool:
    """Tell whether a turn has an answer: of a model, or what was found without one."""
    return turn.is_answered or (bool(turn.replies) and turn.replies[-1].role == "system")
