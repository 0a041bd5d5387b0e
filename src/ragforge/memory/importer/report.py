"""Report: what an import of transcripts did, and what it could not do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path

from ragforge.domain.transcripts import CallResult, IntakeStep, NewConversation, NewMessage
from ragforge.records import dataclass
from ragforge.transcripts.source import Piece

MAX_LINES = 200
"""How many of the lines that could not be read are listed; the counts are of all."""


@dataclass(slots=True)
class AgentReport:
    """What was imported from one agent's transcripts."""

    files: int = 0  # that were found
    read: int = 0  # that had something new
    elsewhere: int = 0  # of which another process imported something at the same time
    sessions: int = 0
    turns: int = 0
    messages: int = 0
    calls: int = 0
    results: int = 0
    size: int = 0  # bytes
    lines: int = 0
    unknown: Counter[str] = field(default_factory=Counter)  # kind of record → how many
    skipped: Counter[str] = field(default_factory=Counter)  # reason → how many lines

    def add(self, piece: Piece, steps: Sequence[IntakeStep]) -> None:
        """Count a piece and the steps that it gave."""
        self.size += piece.size
        self.lines += piece.lines
        self.unknown.update(piece.unknown)
        self.skipped.update(piece.skipped)
        for step in steps:
            if isinstance(step, NewConversation):
                self.sessions += 1
            elif isinstance(step, NewMessage):
                self.messages += 1
                self.turns += step.message.role == "user"
                self.calls += len(step.message.tool_calls)
            elif isinstance(step, CallResult):
                self.results += 1


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A transcript that could not be read, and why. The others still are."""

    agent: str
    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class LineProblem:
    """A line of a transcript that could not be read, and why. The others are."""

    agent: str
    path: Path
    number: int  # from 1
    reason: str


@dataclass(slots=True)
class ImportReport:
    """What an import did, by agent."""

    agents: dict[str, AgentReport] = field(default_factory=dict)
    problems: list[FileProblem] = field(default_factory=list)
    empty: list[FileProblem] = field(default_factory=list)  # read, and gave nothing
    lines: list[LineProblem] = field(default_factory=list)  # the first MAX_LINES
    conversations: set[str] = field(default_factory=set)  # that changed
    projects: set[str] = field(default_factory=set)  # of the files that were read
    transcripts: list[tuple[str, Path]] = field(default_factory=list)  # that had something new

    def of(self, agent: str) -> AgentReport:
        """Return the part about an agent."""
        return self.agents.setdefault(agent, AgentReport())

    def add(self, agent: str, path: Path, piece: Piece, steps: Sequence[IntakeStep]) -> None:
        """Count a piece of a transcript and the steps that it gave."""
        self.of(agent).add(piece, steps)
        self.conversations |= {
            step.conversation_id for step in steps if isinstance(step, NewMessage)
        }
        room = MAX_LINES - len(self.lines)
        self.lines += [
            LineProblem(agent, path, line.number, line.reason)
            for line in piece.skipped_lines[:room]
        ]

    def describe_kept(self) -> str:
        """Return a sentence about what was imported before something failed."""
        every = self.agents.values()
        sessions, turns = sum(one.sessions for one in every), sum(one.turns for one in every)
        return (
            f"Imported before: {sessions:,} new sessions, {turns:,} turns. "
            "The next import continues there."
        )

    @property
    def is_empty(self) -> bool:
        """Whether nothing new was found."""
        return not self.conversations
