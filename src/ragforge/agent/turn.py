"""The turn: record the question, build the context, answer with tools, record, queue the rest."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import field, replace
from typing import TypeAlias

from ragforge.agent.answer import answer_from_passages, list_passages
from ragforge.agent.events import (
    ContextBuilt,
    Done,
    Noticed,
    OnEvent,
    QuestionStored,
    Used,
    Waiting,
    ignore_event,
)
from ragforge.agent.fit_tools import fit_tools
from ragforge.agent.permissions import Approve, Clock, deny_all
from ragforge.agent.progress import TurnProgress
from ragforge.concurrency import gather_or_cancel
from ragforge.context.build import ContextBuilder, lay_out
from ragforge.context.replay import replay_messages
from ragforge.domain.answers import Answer, Stopped
from ragforge.domain.chat import ChatRequest, Image, Reply, UserMessage
from ragforge.domain.conversations import Message, ToolCall
from ragforge.domain.modes import Mode
from ragforge.domain.schema import CONVERSATION
from ragforge.domain.turns import Turn, group_into_turns
from ragforge.domain.windows import WindowShares
from ragforge.errors import (
    InputError,
    ModelError,
    ModelUnavailable,
    RagForgeError,
    RequestRefused,
    SpendCapReached,
)
from ragforge.llm.ask import ChatClient
from ragforge.llm.calls import Tool
from ragforge.llm.images import drop_images, has_images, says_no_images
from ragforge.llm.loop import ToolLoop
from ragforge.llm.prompts import load_prompt
from ragforge.llm.spend import Meter
from ragforge.memory.record import Recorder
from ragforge.ports.open_files import OpenFiles
from ragforge.records import dataclass
from ragforge.tools.images import NamedImages

log = logging.getLogger(__name__)

INTERRUPTED = "Interrupted by the user."
CONTINUE = "The answer broke off here. Continue from this point and do not repeat anything."


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """How much one turn may take."""

    steps: int = 50  # answers of the model
    seconds: float = 1800.0
    usd: float | None = None
    result_chars: int = 400_000  # of tools, before the oldest are shortened


@dataclass(frozen=True, slots=True)
class TurnEnvironment:
    """What the tools of one turn work with."""

    conversation_id: str
    asker: ChatClient
    approve: Approve
    on_event: OnEvent
    mode: Mode = "ask"
    files: OpenFiles | None = None  # of the user's editor


ToolFactory: TypeAlias = Callable[[TurnEnvironment], Sequence[Tool]]
"""Returns the tools of one turn."""
Prepare: TypeAlias = Callable[[str, str, OnEvent], Awaitable[str]]
"""Makes tools ready for a conversation's question, and returns what the question names.

The text is added before the question in this request, and is not stored.
"""
ReadImages: TypeAlias = Callable[[str, Sequence[Image]], NamedImages]
"""Returns the images that a question names, and those that came with it, checked."""
FindResults: TypeAlias = Callable[[str, Sequence[ToolCall]], Sequence[ToolCall]]
"""Returns calls of a conversation that broke off, with their results, as far as they are known."""


@dataclass(frozen=True, slots=True)
class Agent:
    """Takes turns: with a chat model and tools, or with what it finds alone."""

    builder: ContextBuilder
    recorder: Recorder
    chat: ChatClient | None
    equip: ToolFactory = field(default=lambda environment: ())
    limits: TurnLimits = field(default_factory=TurnLimits)
    find_results: FindResults = field(default=lambda conversation_id, calls: [])
    is_gone: Callable[[str], bool] = field(default=lambda process: False)
    describe_skills: Callable[[], str] = field(default=lambda: "")  # for the system prompt
    prepare: Prepare | None = None
    read_images: ReadImages = field(default=lambda question, given: NamedImages())

    async def take_turn(
        self,
        conversation_id: str,
        question: str,
        *,
        on_event: OnEvent = ignore_event,
        approve: Approve = deny_all,
        mode: Mode = "ask",
        files: OpenFiles | None = None,
        images: Sequence[Image] = (),
    ) -> Answer:
        """Answer a question. It is stored before anything else happens.

        `images` came with the question; they are seen by the model and not stored.

        If the model fails, what was done until then is kept; if nothing was done, the passages
        that were found are the answer. A cancelled turn is stored as far as it got, marked as
        interrupted.
        """
        await self._settle_broken_turn(conversation_id)
        asked = await self.recorder.record_question(conversation_id, question)
        return await self._answer(
            conversation_id, asked, question, (), on_event, approve, mode, files, images
        )

    async def resume_turn(
        self,
        conversation_id: str,
        *,
        on_event: OnEvent = ignore_event,
        approve: Approve = deny_all,
        mode: Mode = "ask",
        files: OpenFiles | None = None,
    ) -> Answer:
        """Resume the last turn, which broke off or has no answer; nothing is repeated.

        Raises InputError if there is no turn, or if it is answered.
        """
        turn = await self._load_last_turn(conversation_id)
        if turn.is_answered:
            raise InputError("The last question is answered. Ask another.")
        replies = await self._settle_calls(conversation_id, turn)
        asked = turn.user
        return await self._answer(
            conversation_id, asked, asked.content, replies, on_event, approve, mode, files
        )

    async def _load_last_turn(self, conversation_id: str) -> Turn:
        turn = await self._find_last_turn(conversation_id)
        if turn is None:
            raise InputError("There is no turn to resume yet. Ask something.")
        return turn

    async def _find_last_turn(self, conversation_id: str) -> Turn | None:
        store = self.recorder.store
        conversation = await store.records.get(CONVERSATION, conversation_id)
        last = conversation.turn_count - 1
        messages = await store.timeline.messages(conversation_id, last, with_receipts=False)
        turns = group_into_turns(messages)
        return turns[-1] if turns else None

    async def _settle_broken_turn(self, conversation_id: str) -> None:
        """Give the last turn the results it lacks, if the process that answered it is gone."""
        turn = await self._find_last_turn(conversation_id)
        if turn is None or turn.is_answered or turn.user.process is None:
            return
        if self.is_gone(turn.user.process):
            await self._settle_calls(conversation_id, turn)

    async def _settle_calls(self, conversation_id: str, turn: Turn) -> tuple[Message, ...]:
        """Give calls whose process ended too early their results; return the turn's replies."""
        replies = list(turn.replies)
        for at, message in enumerate(replies):
            broken = [call for call in message.tool_calls if call.result is None]
            if broken:
                found = await asyncio.to_thread(self.find_results, conversation_id, broken)
                if found:
                    replies[at] = await self.recorder.record_results(message.uuid, found)
        return tuple(replies)

    async def _answer(
        self,
        conversation_id: str,
        asked: Message,
        question: str,
        before: Sequence[Message],
        on_event: OnEvent,
        approve: Approve,
        mode: Mode,
        files: OpenFiles | None,
        images: Sequence[Image] = (),
    ) -> Answer:
        again = bool(before)  # a resumed turn may have been ended once already
        on_event(QuestionStored(conversation_id, asked.turn_index or 0))
        model = None if self.chat is None else self.chat.model.name
        progress = TurnProgress(self.recorder, conversation_id, asked.turn_index, on_event, model)
        try:
            if self.chat is not None:  # before the searches: their time must not be spent on it
                await self.chat.model.prepare()
            conversation = await self.recorder.store.records.get(CONVERSATION, conversation_id)
            shares = self._get_shares()
            # What was stored has no secrets in it: searches and their receipt must not either.
            builder = self.builder.fit(shares)
            context, named = await gather_or_cancel(
                builder.build_enriched_context(conversation, asked.content, asked.uuid),
                self._prepare(conversation_id, question, on_event),
            )
            skills = await asyncio.to_thread(self.describe_skills)
            prompt = "system_small" if shares.is_small else "system"
            system = "\n\n".join(filter(None, (_load_prompt(prompt), skills)))
            laid_out = lay_out(
                context, system, named + question, _end_request(mode, shares, question)
            )
            receipt = context.receipt
            if self.chat is not None:
                receipt = replace(receipt, layout=laid_out.layout)
            progress.receipt = receipt
            on_event(ContextBuilt(receipt))
            answer = Answer(
                content="",
                conversation_id=conversation_id,
                turn_index=asked.turn_index or 0,
                passages=list_passages(context, asked.content, self.chat is not None),
                receipt=receipt,
                question=asked.content,
            )
            if self.chat is not None:
                asker = self._watch(self.chat, on_event)
                environment = TurnEnvironment(
                    conversation_id, asker, approve, on_event, mode, files
                )
                seen = await asyncio.to_thread(self.read_images, question, images)
                for problem in seen.problems:
                    on_event(Noticed(problem))
                request = _resume(_add_images(laid_out.request, seen.images), before)
                answer = await self._ask_model(environment, request, progress, answer)
            if answer.model is None:
                told = answer_from_passages(context, asked.content, answer.passages)
                answer = replace(answer, content=told)
                await progress.cut_off(answer.content)
        except asyncio.CancelledError:
            await progress.cut_off(INTERRUPTED)
            await self.recorder.end_turn(conversation_id, asked.uuid, again=again)
            raise
        except Exception as error:  # what was said so far must not be lost with it
            if not progress.is_empty:
                with suppress(RagForgeError):
                    await progress.cut_off(f"The answer broke off. {type(error).__name__}: {error}")
            raise
        await self.recorder.end_turn(conversation_id, asked.uuid, again=again)
        on_event(Done(answer))
        return answer

    async def _prepare(self, conversation_id: str, question: str, on_event: OnEvent) -> str:
        if self.prepare is None or self.chat is None:
            return ""
        return await self.prepare(conversation_id, question, on_event)

    def _get_shares(self) -> WindowShares:
        return WindowShares.of(None if self.chat is None else self.chat.model.window)

    def _watch(self, chat: ChatClient, on_event: OnEvent) -> ChatClient:
        """Return the model with the turn's own meter, and with attempts that are reported."""

        def report(attempt: int, wait: float, error: ModelError) -> None:
            on_event(Waiting(chat.model.name, attempt, str(error), wait))

        return replace(chat, meter=Meter(self.limits.usd, chat.meter), on_retry=report)

    async def _ask_model(
        self,
        environment: TurnEnvironment,
        request: ChatRequest,
        progress: TurnProgress,
        answer: Answer,
    ) -> Answer:
        """Let the model answer, as far as it gets."""
        problem: str | None = None
        why: Stopped = "failed"
        clock = Clock(self.limits.seconds)
        environment = replace(environment, approve=clock.pause_during(environment.approve))
        try:
            async with clock:
                _, text = await self._build_loop(environment, progress).run(request)
            if not text.strip():
                problem = f"{environment.asker.model.name} ended without an answer."
        except TimeoutError:
            if not clock.is_over:
                raise
            why, problem = (
                "time",
                f"A turn may take {self.limits.seconds:g} seconds; they are over.",
            )
        except SpendCapReached as error:
            why, problem = "spend", str(error)
        except ModelError as error:
            problem = str(error)
        if problem is not None:
            log.warning("A turn of %s broke off: %s", answer.conversation_id, problem)
        stopped = None if problem is None or progress.is_empty else why
        if stopped is not None:
            await progress.cut_off(f"The answer broke off. {problem}")
        return replace(
            answer,
            content=progress.text,
            reasoning=progress.reasoning,
            tool_calls=tuple(progress.calls),
            model=None if progress.is_empty else environment.asker.model.name,
            problem=problem,
            stopped=stopped,
            usage=environment.asker.meter.total,
        )

    def _build_loop(self, environment: TurnEnvironment, progress: TurnProgress) -> ToolLoop:
        asker = environment.asker

        is_blind = False

        async def send(request: ChatRequest) -> Reply:
            environment.on_event(Waiting(asker.model.name, chars=request.chars))
            if request.schema is None:
                return await asker.stream(request, progress.take_piece)
            return await asker.ask(request)  # JSON with calls in it is not shown

        async def ask(request: ChatRequest) -> Reply:
            nonlocal is_blind
            try:
                reply = await send(drop_images(request) if is_blind else request)
            except (RequestRefused, ModelUnavailable) as error:
                if is_blind or not has_images(request) or not says_no_images(error):
                    raise
                is_blind = True
                environment.on_event(Noticed(f"{asker.model.name} sees no images: {error}"))
                reply = await send(drop_images(request))
            progress.take_reply(reply)
            window = asker.model.window
            share = reply.usage.input_tokens / window if window else None
            environment.on_event(Used(asker.meter.total, share))
            return reply

        shares = self._get_shares()
        return ToolLoop(
            ask,
            fit_tools(self.equip(environment), shares.tools),
            self.limits.steps,
            on_call=progress.note_end,
            on_start=progress.note_start,
            on_round=progress.end_round,
            before_change=progress.begin_round,
            native=asker.model.calls_tools,
            most_chars=min(self.limits.result_chars, shares.results or self.limits.result_chars),
            request_chars=shares.request,
        )


def _add_images(request: ChatRequest, images: Sequence[Image]) -> ChatRequest:
    """Return the request with images beside its question, which comes last."""
    *others, asked = request.messages
    assert isinstance(asked, UserMessage)
    return replace(request, messages=(*others, replace(asked, images=tuple(images))))


def _load_prompt(name: str) -> str:
    return load_prompt("ragforge.agent.prompts", name)


def _end_request(mode: Mode, shares: WindowShares, question: str) -> str:
    """Return what the model has to know of the mode; mostly nothing.

    A small model answers a question with a call of a tool, even if it was given the answer, unless
    the last thing that it reads says otherwise.
    """
    if mode == "plan":
        return _load_prompt("plan_mode")
    is_hinted = shares.is_small and question.rstrip().endswith("?")
    return _load_prompt("small_window") if is_hinted else ""


def _resume(request: ChatRequest, before: Sequence[Message]) -> ChatRequest:
    """Return the request for a resumed turn: with what it did before it broke off."""
    done = replay_messages(before)
    if not done:
        return request
    return replace(request, messages=(*request.messages, *done, UserMessage(CONTINUE)))
