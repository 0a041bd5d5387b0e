"""Progress: what a turn has done so far, stored and reported round by round."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragforge.agent.events import OnEvent, Reasoning, Text, ToolFinished, ToolStarted
from ragforge.domain.chat import ReasoningDelta, Reply, TextDelta, ToolRequest
from ragforge.domain.conversations import ToolCall, ToolResult
from ragforge.domain.receipts import Receipt
from ragforge.domain.text import Json
from ragforge.llm.calls import ExecutedCall
from ragforge.llm.loop import Round
from ragforge.memory.record import Recorder


@dataclass(slots=True)
class TurnProgress:
    """A running turn. A finished round is stored; `cut_off` stores an unfinished one."""

    recorder: Recorder
    conversation_id: str
    turn_index: int | None
    on_event: OnEvent
    receipt: Receipt | None = None
    text: str = ""  # of the answer, all rounds
    reasoning: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    _said: list[str] = field(default_factory=list)  # in this round
    _thought: list[str] = field(default_factory=list)
    _waiting: dict[str, ToolRequest] = field(default_factory=dict)
    _made: list[ExecutedCall] = field(default_factory=list)
    _tokens: int | None = None  # that the model said in this round, as its provider counts

    @property
    def is_empty(self) -> bool:
        """Whether nothing was said or done yet."""
        return not (self.text or self.calls or self._said or self._made or self._waiting)

    def take_piece(self, piece: TextDelta | ReasoningDelta) -> None:
        """Keep and report the next words of the model."""
        if isinstance(piece, TextDelta):
            self._said.append(piece.text)
            self.on_event(Text(piece.text))
        else:
            self._thought.append(piece.text)
            self.on_event(Reasoning(piece.text))

    def take_reply(self, reply: Reply) -> None:
        """Keep how many tokens an answer of the model took."""
        self._tokens = reply.usage.output_tokens or None

    def note_start(self, request: ToolRequest) -> None:
        """Keep and report that a call has started."""
        self._waiting[request.id] = request
        self.on_event(ToolStarted(request.id, request.name, request.arguments))

    def note_end(self, call: ExecutedCall) -> None:
        """Keep and report the result of a call."""
        self._waiting.pop(call.request_id, None)
        self._made.append(call)
        self.on_event(build_finished_event(call))

    async def end_round(self, done: Round) -> None:
        """Store what a round said and did; an empty one is no answer, and is not stored."""
        if not done.text.strip() and not done.calls:
            return
        if done.text and not self._said:  # it did not come in pieces
            self.on_event(Text(done.text))
        calls = [to_tool_call(call) for call in done.calls]
        thought = done.reasoning or "".join(self._thought)
        await self._store(done.text, thought, calls, self._tokens)

    async def cut_off(self, why: str) -> None:
        """Store what an unfinished round said and did, and why it ended."""
        unfinished = [
            ToolCall(request.name, request.arguments, success=False)
            for request in self._waiting.values()
        ]
        calls = [*(to_tool_call(call) for call in self._made), *unfinished]
        said, thought = "".join(self._said), "".join(self._thought)
        if said or thought or calls:
            await self._store(said, thought, calls)
        await self.recorder.record_answer(
            self.conversation_id, self.turn_index, why, receipt=self._take_receipt(), by_model=False
        )

    async def _store(
        self, text: str, reasoning: str, calls: list[ToolCall], tokens: int | None = None
    ) -> None:
        await self.recorder.record_answer(
            self.conversation_id,
            self.turn_index,
            text,
            reasoning=reasoning or None,
            tool_calls=calls,
            receipt=self._take_receipt(),
            token_count=tokens,
        )
        self._tokens = None
        self.calls += calls
        self.text = text or self.text
        self.reasoning = "\n\n".join(part for part in (self.reasoning, reasoning) if part)
        for spent in (self._said, self._thought, self._made):
            spent.clear()
        self._waiting.clear()

    def _take_receipt(self) -> Json:
        """Return the receipt, once: it goes with the first stored message of the turn."""
        receipt, self.receipt = self.receipt, None
        return None if receipt is None else receipt.to_json()


def build_finished_event(call: ExecutedCall, depth: int = 0) -> ToolFinished:
    """Return the event that reports a finished call."""
    return ToolFinished(
        call.request_id,
        call.name,
        call.arguments,
        call.result,
        call.success,
        call.error,
        call.duration_ms,
        depth,
    )


def to_tool_call(call: ExecutedCall) -> ToolCall:
    """Return a call as it is stored."""
    return ToolCall(
        call.name,
        call.arguments,
        ToolResult(call.success, call.result, call.error),
        duration_ms=call.duration_ms,
        success=call.success,
        iteration=call.iteration,
    )
