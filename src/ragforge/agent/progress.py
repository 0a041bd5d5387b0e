"""Progress: what a turn has done so far, stored and reported round by round."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ragforge.agent.events import (
    OnEvent,
    QuestionStored,
    Reasoning,
    Text,
    ToolFinished,
    ToolStarted,
)
from ragforge.domain.chat import (
    AssistantMessage,
    ReasoningDelta,
    Reply,
    TextDelta,
    ToolRequest,
    Usage,
)
from ragforge.domain.conversations import Message, ToolCall, ToolResult
from ragforge.domain.receipts import Receipt
from ragforge.domain.text import Json, new_id
from ragforge.llm.calls import ExecutedCall
from ragforge.llm.loop import Round
from ragforge.memory.record import Recorder, UsageRecorder
from ragforge.tools.edits.change import CALL

CONTINUED = "The user added something before the answer. It is the next turn."


@dataclass(slots=True)
class TurnProgress:
    """A running turn, stored round by round; `cut_off` stores an unfinished round."""

    recorder: Recorder
    conversation_id: str
    asked: Message
    on_event: OnEvent
    spent: UsageRecorder
    model: str | None = None  # the name of the one that answers
    is_resumed: bool = False
    receipt: Receipt | None = None
    text: str = ""  # of the answer, all rounds
    reasoning: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    _said: list[str] = field(default_factory=list)  # in this round
    _thought: list[str] = field(default_factory=list)
    _waiting: dict[str, ToolRequest] = field(default_factory=dict)
    _made: list[ExecutedCall] = field(default_factory=list)
    _message: Message | None = None  # of this round, where it was stored before its calls ran
    _begun: list[ToolCall] = field(default_factory=list)  # the calls in it
    _ids: dict[str, str] = field(default_factory=dict)  # of stored calls, by those of requests
    _usage: Usage = field(default_factory=Usage)  # of this round, as the model's provider counts

    @property
    def is_empty(self) -> bool:
        """Whether nothing was said or done yet."""
        so_far = (self.text, self.calls, self._said, self._made, self._waiting, self._begun)
        return not any(so_far)

    def take_piece(self, piece: TextDelta | ReasoningDelta) -> None:
        """Keep and report the next words of the model."""
        if isinstance(piece, TextDelta):
            self._said.append(piece.text)
            self.on_event(Text(piece.text))
        else:
            self._thought.append(piece.text)
            self.on_event(Reasoning(piece.text))

    async def take_reply(self, reply: Reply) -> None:
        """Store how many tokens an answer of the model took, and what it cost."""
        self._usage = reply.usage
        await self.spent.save()

    async def continue_with(self, text: str) -> None:
        """Store what the user said meanwhile as the next turn; what follows belongs to it."""
        await self.recorder.record_answer(
            self.conversation_id, self.asked.turn_index, CONTINUED, by_model=False
        )
        asked = await self.recorder.record_question(self.conversation_id, text)
        await self.recorder.end_turn(self.conversation_id, self.asked.uuid, again=self.is_resumed)
        self.asked, self.is_resumed = asked, False
        self.on_event(QuestionStored(self.conversation_id, asked.turn_index or 0))

    async def end(self) -> None:
        """Queue the jobs that follow the turn."""
        await self.recorder.end_turn(self.conversation_id, self.asked.uuid, again=self.is_resumed)

    async def begin_round(self, said: AssistantMessage) -> None:
        """Store what the model said and the calls it wants, before any of them runs.

        If the process is killed, the conversation still mentions every change.
        """
        calls = [ToolCall(one.name, one.arguments, success=False) for one in said.tool_requests]
        self._begun = calls
        self._ids = {one.id: call.uuid for one, call in zip(said.tool_requests, calls, strict=True)}
        self._show_text(said.text)
        thought = said.reasoning or "".join(self._thought)
        self._message = await self._append(said.text, thought, calls, self._usage)

    def note_start(self, request: ToolRequest) -> None:
        """Keep and report that a call has started."""
        CALL.set(self._ids.get(request.id, ""))
        self._waiting[request.id] = request
        self.on_event(ToolStarted(request.id, request.name, request.arguments))

    def note_end(self, call: ExecutedCall) -> None:
        """Keep and report the result of a call."""
        self._waiting.pop(call.request_id, None)
        self._made.append(call)
        self.on_event(build_finished_event(call))

    async def end_round(self, done: Round) -> None:
        """Store what a round said and did; an empty round is not stored."""
        if self._message is not None:
            ids = [call.uuid for call in self._begun]
            calls = [
                replace(to_tool_call(call), uuid=uuid)
                for call, uuid in zip(done.calls, ids, strict=True)
            ]
            await self._finish(self._message, calls)
            return
        if not done.text.strip() and not done.calls:
            return
        self._show_text(done.text)
        calls = [to_tool_call(call) for call in done.calls]
        thought = done.reasoning or "".join(self._thought)
        await self._append(done.text, thought, calls, self._usage)
        self._add(done.text, thought, calls)

    async def cut_off(self, why: str) -> None:
        """Store what an unfinished round said and did, and why it ended."""
        made = [
            replace(to_tool_call(call), uuid=self._ids.get(call.request_id, new_id()))
            for call in self._made
        ]
        if self._message is not None:
            await self._finish(self._message, made)
        else:
            unfinished = [
                ToolCall(request.name, request.arguments, success=False)
                for request in self._waiting.values()
            ]
            said, thought = "".join(self._said), "".join(self._thought)
            calls = [*made, *unfinished]
            if said or thought or calls:
                await self._append(said, thought, calls)
                self._add(said, thought, calls)
        await self.recorder.record_answer(
            self.conversation_id,
            self.asked.turn_index,
            why,
            receipt=self._take_receipt(),
            by_model=False,
        )

    def _show_text(self, text: str) -> None:
        if text and not self._said:  # it did not come in pieces
            self._said.append(text)
            self.on_event(Text(text))

    async def _finish(self, message: Message, calls: list[ToolCall]) -> None:
        """Add results to a round that was stored before its calls ran."""
        await self.recorder.record_results(message.uuid, calls)
        known = {call.uuid: call for call in calls}
        every = [known.get(call.uuid, call) for call in self._begun]
        self._add(message.content, message.reasoning or "", every)

    async def _append(
        self, text: str, reasoning: str, calls: list[ToolCall], usage: Usage | None = None
    ) -> Message:
        return await self.recorder.record_answer(
            self.conversation_id,
            self.asked.turn_index,
            text,
            reasoning=reasoning or None,
            tool_calls=calls,
            receipt=self._take_receipt(),
            token_count=usage.output_tokens or None if usage else None,
            model=self.model,
            usd=usage.usd if usage else None,
        )

    def _add(self, text: str, reasoning: str, calls: list[ToolCall]) -> None:
        """Add a stored round to the answer, and begin the next."""
        self._usage = Usage()
        self._message = None
        self._begun = []
        self._ids = {}
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
