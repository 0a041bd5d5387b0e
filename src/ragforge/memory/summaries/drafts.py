"""Drafts: the text of a summary, as a summariser writes it."""

from __future__ import annotations

from pydantic import BaseModel, Field


class Draft(BaseModel):
    """The parts of a summary that a summariser writes."""

    conversation_summary: str = Field(min_length=1, description="What was discussed and why.")
    actions_summary: str = Field(default="", description="What was done, and what came of it.")
    key_findings: list[str] = Field(
        default_factory=list, description="Facts, causes and decisions worth keeping, one each."
    )
    files_mentioned: list[str] = Field(
        default_factory=list, description="Paths of files that play a part, as written."
    )
    topics: list[str] = Field(default_factory=list, description="What it is about, in keywords.")
