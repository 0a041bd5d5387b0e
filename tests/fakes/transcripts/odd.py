"""Odd: JSON whose values are not what a reader expects."""

from __future__ import annotations

import copy
import random
from typing import Any

from ragforge.domain.text import check_text, to_json
from tests.fakes.transcripts.keeping import Keeper

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 10**30, 1.5, "", "x", "\0", "�", "9" * 40),
    *([], [[]], [None], ["x"], [{}], {}, {"type": []}, {"type": "text"}, {"text": 7}),
    *([{"type": "text", "text": None}], {"content": {"content": []}}, {"x": {"y": "z"}}),
)


def make_odd(value: Any, dice: random.Random, times: int = 1) -> Any:
    """Return a copy in which some values, anywhere in it, are replaced by odd ones."""
    changed = copy.deepcopy(value)
    for _ in range(times):
        if not (places := list(_list_places(changed))):
            break
        holder, key = dice.choice(places)
        if dice.random() < 0.15:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(dice.choice(ODD))
    return changed


def _list_places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in items:
        yield value, key
        if isinstance(one, dict | list):
            yield from _list_places(one)


def check_storable(keeper: Keeper) -> None:
    """Assert that what was imported can be stored."""
    assert keeper.double == []
    for kept in keeper.conversations.values():
        for message in kept.messages:
            check_text("content", message.content)
            check_text("reasoning", message.reasoning)
            assert message.timestamp.utcoffset() is not None
            for call in message.tool_calls:
                check_text("name", call.tool_name)
                to_json("arguments", call.arguments)
                to_json("result", call.result.result if call.result else None)
