"""Summaries: L1 of turns, L2 of L1 summaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime
from typing import Literal, TypeAlias

from ragforge.domain.instants import now
from ragforge.domain.text import indent_lines, new_id, to_one_line
from ragforge.domain.turns import EMBEDDED_CHARS
from ragforge.records import dataclass

Level: TypeAlias = Literal[1, 2]


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of a part of a conversation.

    Turn indexes are inclusive. `char_range_*` are positions in the raw conversation,
    for both levels. `parent_summaries` are the L1 summaries that an L2 was made from.
    """

    conversation_id: str
    level: Level
    conversation_summary: str
    start_turn_index: int
    end_turn_index: int
    char_range_start: int
    char_range_end: int
    actions_summary: str = ""
    files_mentioned: tuple[str, ...] = ()
    key_findings: tuple[str, ...] = ()
    tools_used: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    parent_summaries: tuple[str, ...] = ()
    made_by: str = "extractive"  # the model's name, or the method without a model
    uuid: str = field(default_factory=new_id)
    created_at: datetime = field(default_factory=now)
    read_at: datetime | None = None  # when its findings were first shown

    @property
    def summary_char_count(self) -> int:
        return len(self.conversation_summary) + len(self.actions_summary)


def format_summary_for_search(summary: Summary) -> str:
    """Return the text of a summary that is indexed by words."""
    parts = [summary.conversation_summary, summary.actions_summary, *summary.key_findings]
    parts += [*summary.topics, *summary.files_mentioned, *summary.tools_used]
    return "\n".join(part for part in parts if part)


def format_summary_for_embedding(summary: Summary) -> str:
    """Return the text of a summary that is embedded.

    Tools, topics and actions are left out: they are similar in most summaries.
    """
    parts = [summary.conversation_summary]
    if summary.files_mentioned:
        parts.append(f"Files: {', '.join(summary.files_mentioned)}")
    if summary.key_findings:
        parts.append(f"Findings: {'; '.join(summary.key_findings)}")
    return "\n\n".join(part for part in parts if part)[:EMBEDDED_CHARS]


@dataclass(frozen=True, slots=True)
class SummaryFilter:
    """Which summaries to find; a field that is None does not restrict."""

    conversation_id: str | None = None
    project_ids: Sequence[str] | None = None  # any of these
    level: Level | None = None
    since: datetime | None = None
    until: datetime | None = None
    file: str | None = None  # that is mentioned: a path in the project
    first_turn: int | None = None  # of their conversation: they begin there or later
    conversation_ids: Sequence[str] | None = None  # any of these
    unread: bool = False  # only those with findings that were not shown yet
    outside_level_2: bool = False  # only L1 that no L2 covers
    waiting: bool = False  # only those of them that were not covered by a trimmed L2


def format_whole_summary(summary: Summary) -> str:
    """Return a summary as text: the turns that it covers, its text, findings and files."""
    lines = [f"[turns {summary.start_turn_index} to {summary.end_turn_index}]"]
    lines += map(indent_lines, (summary.conversation_summary, summary.actions_summary))
    lines += [f"- {indent_lines(finding)}" for finding in summary.key_findings]
    if summary.files_mentioned:
        lines.append(f"Files: {', '.join(map(to_one_line, summary.files_mentioned))}")
    return "\n".join(line for line in lines if line)
