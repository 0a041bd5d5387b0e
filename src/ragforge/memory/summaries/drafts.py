"""Drafts: the text of a summary, as a summariser writes it."""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.records import dataclass


@dataclass(frozen=True, slots=True)
class Draft:
    """The parts of a summary that a summariser writes."""

    conversation_summary: str  # what was discussed and why
    actions_summary: str = ""  # what was done, and what came of it
    key_findings: Sequence[str] = ()
    files_mentioned: Sequence[str] = ()
    topics: Sequence[str] = ()
