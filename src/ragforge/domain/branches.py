"""Branches: copies of messages for a new conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from ragforge.domain.conversations import BEFORE_FIRST_TURN, Message, ToolCall
from ragforge.domain.text import name_id, new_id
from ragforge.records import dataclass

MakeId: TypeAlias = Callable[[str], str]
"""Returns the id of a copy, given that of the original."""
_COPIES = "0d8f7c51-6b0e-5a0b-8f0e-3c7de1a4b9f2"


@dataclass(frozen=True, slots=True)
class CopiedTurns:
    """A branch of an imported session that begins with copies of what it could share."""

    branch: str
    first_other: int  # the first turn that is not a copy
    goes_on: str | None  # the message after which the branch continues a turn of its origin


def make_new(_: str) -> str:
    """Return a fresh id for a copy."""
    return new_id()


def name_copies(branch_id: str) -> MakeId:
    """Return what gives copies in a branch ids that are the same whenever it is made."""
    return lambda original: name_id(f"{branch_id}\0{original}", _COPIES)


def copy_messages(originals: Sequence[Message], make_id: MakeId = make_new) -> list[Message]:
    """Return copies with other ids. Turns are renumbered: deleted ones may have left gaps."""
    turns = [message.turn_index for message in originals if message.role == "user"]
    renumbered = {old: new for new, old in enumerate(turns)}
    renumbered[BEFORE_FIRST_TURN] = BEFORE_FIRST_TURN
    return [
        replace(
            message,
            uuid=make_id(message.uuid),
            process=None,  # no process is answering the copy
            turn_index=renumbered.get(message.turn_index),
            tool_calls=tuple(copy_call(call, make_id) for call in message.tool_calls),
        )
        for message in originals
    ]


def copy_turn(originals: Sequence[Message], branch_id: str) -> list[Message]:
    """Return copies for a branch that keep their turn and their places in it."""
    copies = copy_messages(originals, name_copies(branch_id))
    return [
        replace(copy, turn_index=one.turn_index, position=one.position)
        for copy, one in zip(copies, originals, strict=True)
    ]


def copy_call(call: ToolCall, make_id: MakeId = make_new) -> ToolCall:
    """Return a copy of a call and its result with other ids."""
    result = None
    if call.result is not None:
        result = replace(call.result, uuid=make_id(call.result.uuid))
    return replace(call, uuid=make_id(call.uuid), result=result)
