"""Recalled: what of a stored turn may be recalled.

Everything is kept. Yet what RagForge said in place of an answer is not recalled, nor is small talk:
they would answer a later question with an earlier failure, or with a greeting.
"""

from __future__ import annotations

from dataclasses import replace

from ragforge.domain.standing_instructions import find_instructions
from ragforge.domain.turns import Turn
from ragforge.search.question.message_kinds import is_small_talk


def recall_turn(turn: Turn) -> Turn | None:
    """Return a turn without RagForge's own words; None if nothing in it is worth recalling."""
    said = tuple(one for one in turn.replies if one.role != "system" or one.tool_calls)
    kept = turn if len(said) == len(turn.replies) else replace(turn, replies=said)
    if kept.tool_calls:
        return kept
    if is_small_talk(turn.user.content):
        return None if is_small_talk(kept.answer) else kept
    return None if turn.failed and not find_instructions(turn.user.content) else kept
