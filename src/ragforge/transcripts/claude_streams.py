"""Claude Code's streams: one answer stands on several lines, and parts of it on more than one."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragforge.domain.text import Json
from ragforge.transcripts.fields import hash_texts
from ragforge.transcripts.recent import Recent

MOST_ANSWERS = 16
"""How many answers are remembered: sub-agents of older versions write in turns."""


@dataclass(slots=True)
class _Answer:
    """What was read of an answer: its tokens, its calls, and the length and hash of its texts."""

    tokens: int = 0
    calls: list[str] = field(default_factory=list)
    texts: list[tuple[str, int, str]] = field(default_factory=list)


class Streams:
    """The newest answers, by the ids of their messages and requests."""

    def __init__(self) -> None:
        self._answers: Recent[_Answer] = Recent(MOST_ANSWERS)

    def take_text(self, answer_id: str, kind: str, text: str) -> str:
        """Return what a text adds to those that were read of this answer."""
        answer = self._get(answer_id)
        for number, (old_kind, size, old_hash) in enumerate(answer.texts):
            if old_kind == kind and size <= len(text) and hash_texts((text[:size],)) == old_hash:
                answer.texts[number] = (kind, len(text), hash_texts((text,)))
                return text[size:]
        answer.texts.append((kind, len(text), hash_texts((text,))))
        return text

    def take_call(self, answer_id: str, call_id: str) -> bool:
        """Tell whether a call is new in this answer."""
        answer = self._get(answer_id)
        is_new = call_id not in answer.calls
        if is_new:
            answer.calls.append(call_id)
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
            [name, answer.tokens, answer.calls, answer.texts]
            for name, answer in self._answers.items()
        ]

    def load(self, state: Json) -> None:
        for name, tokens, calls, texts in state:
            kept = [(kind, size, old_hash) for kind, size, old_hash in texts]
            self._answers.put(name, _Answer(tokens, list(calls), kept))

    def _get(self, answer_id: str) -> _Answer:
        if (answer := self._answers.get(answer_id)) is None:
            answer = _Answer()
            self._answers.put(answer_id, answer)
        return answer
