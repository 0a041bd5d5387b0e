"""Answers: what a turn gave, and what it rests on."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal, TypeAlias

from ragforge.domain.chat import Usage
from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.domain.conversations import ToolCall
    from ragforge.domain.receipts import Receipt

Stopped: TypeAlias = Literal["failed", "time", "spend"]


@dataclass(frozen=True, slots=True)
class Passage:
    """Something found that is relevant to the question, and where it stands."""

    text: str
    source: str
    score: float
    file: str | None = None  # None: it was said in a turn
    line: int = 1  # of the file, where the text begins
    name: str = ""  # of the code
    numbers: tuple[int, ...] = ()  # of the lines in the file; 0 for one that is not in it
    name_line: int = 0  # the line of the file with the name; 0: not known


@dataclass(frozen=True, slots=True)
class Answer:
    """What a turn gave."""

    content: str
    conversation_id: str
    turn_index: int
    passages: tuple[Passage, ...]
    receipt: Receipt  # what it rests on, and why
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    model: str | None = None  # who wrote it; None: it lists what was found
    problem: str | None = None  # why the model did not write it, or not to the end
    stopped: Stopped | None = None  # what broke it off; it can be resumed
    usage: Usage = field(default_factory=Usage)
    question: str = ""
    related: tuple[str, ...] = ()  # without a model: places that use the best one

    @property
    def is_complete(self) -> bool:
        """Whether the question is answered: by a model to its end, or by searches that all ran.

        Before all files are read, an empty result answers nothing.
        """
        if self.model is not None:
            return self.stopped is None
        nothing_yet = bool(self.receipt.reading) and not self.passages
        return self.problem is None and not self.receipt.degraded and not nothing_yet

    @property
    def context_used(self) -> Receipt:
        """The account of what the model was given before the question."""
        return self.receipt
