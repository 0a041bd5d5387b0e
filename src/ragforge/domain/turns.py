"""Turns: one user message and everything up to the next one, and what the agent answered.

Standing instructions in them, such as "always use tabs", are recognised by how they are said, in
English and French. Nothing is copied: a turn that holds one is marked in the index of words, so
that it is found whatever a question is about, and is gone when its conversation is deleted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import field
from datetime import datetime
from functools import cache
from typing import Literal, TypeAlias

from ragforge.domain.chat import Usage
from ragforge.domain.conversations import Message, ToolCall
from ragforge.domain.receipts import FAILED, Receipt
from ragforge.domain.text import to_text
from ragforge.patterns import compile_on_use
from ragforge.records import dataclass

RESULT_CHARS = 200
EMBEDDED_CHARS = 4_000
WINDOW_TURNS = 2
"""How many turns before a turn are embedded with it, if they are short enough."""
WINDOW_CHARS = 800
"""Maximum length of a turn with those before it; a longer one is embedded by itself."""
QUESTION_CHARS = 2_000
ANSWER_CHARS = 500
"""So much of a question and of an answer is embedded: in a long answer the subject is lost."""
WINDOW = "window-1"
"""Names the text that is embedded for a turn; with another text, turns are embedded again."""
SEARCHED_CHARS = 500_000
"""Of each message so much is indexed by words: an answer of megabytes is not copied for them."""
Stopped: TypeAlias = Literal["failed", "time", "spend"]

INSTRUCTION_MARK = "saidtoholdalways"
"""The word that marks a turn in the index; no text contains it."""
READ_CHARS = 8_000
"""Text beyond this is something pasted."""
SENTENCE_CHARS = 800
"""A longer sentence is something pasted as well."""

_FENCED = compile_on_use(r"```.*?(?:```|\Z)", re.DOTALL)
_BETWEEN = compile_on_use(r"\n+|(?<=[.!?;])\s+")
_MAY_HOLD = compile_on_use(
    r"\b(?:always|never|ever|from now on|prefer|preference|rather|toujours|jamais|pr[ée]f[èeé]r"
    r"|d[ée]sormais|dor[ée]navant)",
    re.IGNORECASE,
)
_LEAD = r"^(?:[-*>•\s]|\d+[.)])*(?:(?:please|also|and|so|but|ok|okay|remember|rule|note|important|"
_LEAD += r"et|aussi|s['’]il (?:te|vous) pla[iî]t)\b[:,]?\s*)*"
_NO_ORDER = (
    "been|had|mind|again|ever|here|there|up|good|great|nice|happy|glad|ready|fun|an?|the|in|on"
)
_NO_ORDER += "|at|so|too|saw|knew|thought|heard|seen|felt|loved|liked|wanted|say|give|look"
"""What follows "always" or "never" in small talk."""
_SAID = rf"""{_LEAD}(?:
        (?:always|never)\s+(?:\w+ly\s+)?(?!(?:{_NO_ORDER})\b)[a-z]+
        |from\s+now\s+on|in\s+(?:the\s+)?future,|(?:don['’]t|do\s+not)\s+ever\b
        |(?:toujours|jamais)\s+(?!vu\b|eu\b|[ée]t[ée]\b)\w+
        |(?!je\b|tu\b|il\b|elle\b|on\b|ils\b|elles\b|[çc]a\b|est\b)\w+(?:[ersz])\s+toujours\b
        |n(?:e\s+|['’])\w+(?:[-\s]\w+)?\s+jamais\b
        |pr[ée]f[èeé]re(?:z|r)?\b
    )
    |\b(?:should|must|make\s+sure\s+(?:to|you)|remember\s+to|be\s+sure\s+to|want\s+you\s+to|need
        \s+you\s+to)\s+(?:always|never)\b
    |\bwe\s+(?:always|never)\s+(?!\w+ed\b|did\b|got\b|were\b|(?:{_NO_ORDER})\b)[a-z]+
    |(?<!do\s)(?<!did\s)(?<!would\s)\bI(?:['’]d|\s+would|\s+\w+ly|\s+much)*\s+(?:prefer\b|rather\b)
    |\bmy\s+preference\b
    |\bje\s+pr[ée]f[èeé]r(?:e|erais)\b
    |\b(?:d[ée]sormais|dor[ée]navant)\b"""
_THE_CASE_AT_HAND = compile_on_use(
    r"\b(?:prefer|rather(?:\s+have)?)\s+(?:that|this|it|these|those|the\s+\w+(?:\s+one)?)\W*$",
    re.IGNORECASE,
)
"""A choice among what was just offered says nothing later."""
_CONDITION = compile_on_use(r"\b(?:when|whenever|if|unless|quand|lorsqu\w+|si)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Turn:
    """A question, everything that was done to answer it, and the answer."""

    user: Message
    replies: tuple[Message, ...] = ()

    @property
    def uuid(self) -> str:
        """The id of a turn is that of its user message."""
        return self.user.uuid

    @property
    def answer(self) -> str:
        """The last text of the assistant that is not empty; empty if there is none."""
        said = (m.content for m in reversed(self.replies) if m.role == "assistant")
        return next((content for content in said if content.strip()), "")

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(call for message in self.replies for call in message.tool_calls)

    @property
    def char_count(self) -> int:
        return self.user.char_count + sum(message.char_count for message in self.replies)

    @property
    def is_answered(self) -> bool:
        """Whether a model has answered. A turn that broke off ends with a call or with the reason.

        What the user did afterwards, such as an undo, is stored as a call of the system's.
        """
        said = [one for one in self.replies if one.role != "system" or not one.tool_calls]
        last = said[-1] if said else self.user
        return last.role == "assistant" and not last.tool_calls

    @property
    def failed(self) -> bool:
        """Whether RagForge stored why it could not search, and no model has answered."""
        notes = [one.content for one in self.replies if one.role == "system"]
        is_note = bool(notes) and notes[-1].startswith(FAILED)
        return is_note and not self.tool_calls and not self.answer

    @property
    def ended_at(self) -> datetime:
        return self.replies[-1].timestamp if self.replies else self.user.timestamp


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """The messages of a turn, in order and without receipts, and whose they are."""

    conversation_id: str
    messages: list[Message]


@dataclass(frozen=True, slots=True)
class UserQuery:
    """A question of the user, and its time."""

    user_message: str
    timestamp: datetime
    turn_index: int


@dataclass(frozen=True, slots=True)
class TurnCoverage:
    """How many characters a turn adds to the raw conversation, and which summary covers it."""

    turn_index: int
    chars: int
    covered_by: str | None = None  # the id of an L1
    is_trimmed: bool = False  # an L1 covered it until it was trimmed

    @property
    def is_open(self) -> bool:
        """Whether its summary is still to be made."""
        return self.covered_by is None and not self.is_trimmed


def group_into_turns(messages: Iterable[Message]) -> list[Turn]:
    """Group messages, oldest first, into turns.

    Stored messages have the number of their turn, so that two terminals in one conversation do
    not mix their answers. A user message without an answer is a turn too. Messages before the
    first user message belong to no turn.
    """
    users: dict[int, Message] = {}
    replies: dict[int, list[Message]] = {}
    current = -1
    for message in messages:
        if message.role == "user":
            current = len(users) if message.turn_index is None else message.turn_index
            users[current] = message
            replies.setdefault(current, [])
            continue
        turn = current if message.turn_index is None else message.turn_index
        if turn in users:
            replies[turn].append(message)
    return [Turn(user, tuple(replies[index])) for index, user in users.items()]


def format_turn_for_search(turn: Turn) -> str:
    """Return the text of a turn that is indexed by words: what was said in it.

    Actions are indexed separately (`list_passages`). Labels such as "User:" are left out: they
    would make every turn be about users. A turn whose question holds a standing instruction is
    marked; of a question that failed there is nothing to find but that.
    """
    marks = [INSTRUCTION_MARK] if find_instructions(turn.user.content) else []
    if turn.failed and not marks:
        return ""
    said = [m.content[:SEARCHED_CHARS] for m in turn.replies if m.role == "assistant"]
    return "\n".join([turn.user.content[:SEARCHED_CHARS], *said, *marks])


def format_turn_for_embedding(turn: Turn) -> str:
    """Return the text of a turn by itself, for programs that embed turns themselves."""
    question, answer = turn.user.content[:EMBEDDED_CHARS], turn.answer[:EMBEDDED_CHARS]
    lines = [f"User: {question}", f"Assistant: {answer}"]
    if turn.tool_calls:
        lines.append("Tools used:")
        lines += [f"- {call.tool_name}: {_format_result(call)}" for call in turn.tool_calls]
    return "\n".join(lines)[:EMBEDDED_CHARS]


def format_window_for_embedding(turn: Turn, before: Sequence[Turn]) -> str:
    """Return a turn with the short turns before it, oldest first: the text that is embedded.

    The subject of a short turn is often named in the one before. A long turn names its own, and
    would vanish among others of its length.
    """
    text = _format_in_short(turn)
    for earlier in reversed(before[-WINDOW_TURNS:]):
        longer = f"{_format_in_short(earlier)}\n{text}"
        if len(longer) > WINDOW_CHARS:
            break
        text = longer
    return text


def name_turn_model(model: str) -> str:
    """Return the name of a model's vectors of turns: the model, and which text they are of."""
    return f"{model}/{WINDOW}"


def _format_in_short(turn: Turn) -> str:
    question, answer = turn.user.content[:QUESTION_CHARS], turn.answer[:ANSWER_CHARS]
    tools = "".join(f"\n- {call.tool_name}: {_format_result(call)}" for call in turn.tool_calls)[
        :ANSWER_CHARS
    ]
    return f"User: {question}\nAssistant: {answer}{tools}"


def _format_result(call: ToolCall) -> str:
    if call.result is None:
        return "(no result)"
    text = call.result.error if call.result.error else to_text(call.result.result)
    return text[:RESULT_CHARS]


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


@cache
def _compile_said() -> re.Pattern[str]:
    """Return the pattern of such a sentence; it takes a while, and most processes need none."""
    return re.compile(_SAID, re.IGNORECASE | re.VERBOSE)


def find_instructions(text: str) -> list[str]:
    """Return the sentences of a user's message that are to hold from then on."""
    if _MAY_HOLD.search(text, 0, READ_CHARS) is None:
        return []
    prose = _FENCED.sub("\n", text[:READ_CHARS])
    sentences = (sentence.strip() for sentence in _BETWEEN.split(prose))
    is_said = _compile_said().search
    return [
        one
        for one in sentences
        if len(one) <= SENTENCE_CHARS and is_said(one) and not _THE_CASE_AT_HAND.search(one)
    ]


def is_conditional(instruction: str) -> bool:
    """Tell whether an instruction holds in some cases only, which it names."""
    return _CONDITION.search(instruction) is not None
