"""Claude Code's streams: one answer stands on several lines, and parts of it on more than one."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from ragforge.domain.text import Json
from ragforge.transcripts.fields import hash_texts
from ragforge.transcripts.recent import Recent

K = TypeVar("K")
MOST_ANSWERS = 16
"""How many answers are remembered: sub-agents of older versions write in turns."""
MAX_PARTS = 1_000
"""So many calls and texts of an answer are remembered."""
MAX_GROWING = 16
"""So many texts of an answer may still grow."""


@dataclass(slots=True)
class _Answer:
    """What was read of an answer: its tokens, its calls, and the length and hash of its texts."""

    tokens: int = 0
    calls: dict[str, None] = field(default_factory=dict)
    texts: dict[tuple[str, int, str], None] = field(default_factory=dict)


class Streams:
    """The newest answers, by the ids of their messages and requests."""

    def __init__(self) -> None:
        self._answers: Recent[_Answer] = Recent(MOST_ANSWERS)

    def take_text(self, answer_id: str, kind: str, text: str) -> str:
        """Return what a text adds to those that were read of this answer."""
        texts = self._get(answer_id).texts
        whole = (kind, len(text), hash_texts((text,)))
        if whole in texts:
            return ""
        begun = 0
        for old in islice(reversed(texts), MAX_GROWING):
            old_kind, size, old_hash = old
            if old_kind == kind and size < len(text) and hash_texts((text[:size],)) == old_hash:
                begun = size
                del texts[old]
                break
        _put(texts, whole)
        return text[begun:]

    def take_call(self, answer_id: str, call_id: str) -> bool:
        """Tell whether a call is new in this answer."""
        calls = self._get(answer_id).calls
        is_new = call_id not in calls
        if is_new:
            _put(calls, call_id)
        return is_new

    def take_tokens(self, answer_id: str, tokens: int | None) -> int | None:
        """Return the tokens that were not counted yet: each line has those of all before it."""
        if tokens is None:
            return None
        answer = self._get(answer_id)
        grown = max(0, tokens - answer.tokens)
        answer.tokens += grown
        return grown

    def save(self) -> Json:
        return [
            [name, answer.tokens, list(answer.calls), list(answer.texts)]
            for name, answer in self._answers.items()
        ]

    def load(self, state: Json) -> None:
        for name, tokens, calls, texts in state:
            kept = dict.fromkeys((kind, size, old_hash) for kind, size, old_hash in texts)
            self._answers.put(name, _Answer(tokens, dict.fromkeys(calls), kept))

    def _get(self, answer_id: str) -> _Answer:
        if (answer := self._answers.get(answer_id)) is None:
            answer = _Answer()
            self._answers.put(answer_id, answer)
        return answer


def _put(parts: dict[K, None], part: K) -> None:
    """Remember a part as the newest, and forget the oldest where there are too many."""
    parts[part] = None
    if len(parts) > MAX_PARTS:
        del parts[next(iter(parts))]
