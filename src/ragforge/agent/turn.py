"""The turn: record the question, build the context, answer with tools, record, queue the rest."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field, replace

from ragforge.agent.answer import answer_from_passages, list_passages
from ragforge.agent.environment import TurnEnvironment
from ragforge.agent.events import (
    ContextBuilt,
    Done,
    Noticed,
    OnEvent,
    QuestionStored,
    Used,
    Waiting,
)
from ragforge.agent.permissions import pause_during
from ragforge.agent.progress import TurnProgress
from ragforge.agent.request import (
    complete_request,
    fit_tools,
    load_ending,
    load_system_prompt,
    read_final_answer,
)
from ragforge.agent.services import TurnServices
from ragforge.concurrency import gather_or_cancel
from ragforge.context.build import ContextBuilder, EnrichedContext, PreparedRequest, lay_out
from ragforge.domain.chat import ChatRequest, Image, Reply, UserMessage, WindowShares
from ragforge.domain.conversations import Message
from ragforge.domain.schema import CONVERSATION
from ragforge.domain.turns import Answer, Stopped, Turn, group_into_turns
from ragforge.errors import (
    Declined,
    InputError,
    ModelError,
    ModelUnavailable,
    RagForgeError,
    RequestRefused,
    SpendCapReached,
)
from ragforge.llm.ask import ChatClient, Meter
from ragforge.llm.fit import drop_images, has_images, says_no_images
from ragforge.llm.loop import ToolLoop
from ragforge.memory.record import Recorder, record_usage
from ragforge.records import dataclass
from ragforge.tools.images import read_named_images
from ragforge.tools.prompt_files import describe_skills

log = logging.getLogger(__name__)

MAX_MENTIONED_CHARS = 20_000
"""Maximum length of the files, folders and pages that a question names."""
INTERRUPTED = "Interrupted by the user."


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """How much one turn may take."""

    steps: int = 50  # answers of the model
    seconds: float = 1800.0
    usd: float | None = None
    result_chars: int = 400_000  # of tools, before the oldest are shortened


@dataclass(frozen=True, slots=True)
class Agent:
    """Answers questions: with a chat model and tools, or with the passages that were found."""

    builder: ContextBuilder
    recorder: Recorder
    chat: ChatClient | None
    services: TurnServices
    limits: TurnLimits = field(default_factory=TurnLimits)

    async def take_turn(self, turn: TurnEnvironment, question: str) -> Answer:
        """Answer a question. It is stored before anything else happens, except hooks.

        A hook can block it: then it is not stored, and Declined is raised.
        If the model fails, what was done until then is kept; if nothing was done, the passages
        that were found are the answer. A cancelled turn is stored as far as it got, marked as
        interrupted.
        """
        await self._settle_broken_turn(turn.conversation_id)
        added = await self.services.hooks.begin_turn(turn, question)
        asked = await self.recorder.record_question(turn.conversation_id, question)
        return await self._answer(turn, asked, question, added)

    async def resume_turn(self, turn: TurnEnvironment) -> Answer:
        """Resume the last turn, which broke off or has no answer; nothing is repeated.

        Raises InputError if there is no turn, or if it is answered.
        """
        last = await self._find_last_turn(turn.conversation_id)
        if last is None:
            raise InputError("There is no turn to resume yet. Ask something.")
        if last.is_answered:
            raise InputError("The last question is already answered. Ask another one.")
        added = await self.services.hooks.begin_turn(turn, None)
        replies = await self._settle_calls(turn.conversation_id, last)
        return await self._answer(turn, last.user, last.user.content, added, replies)

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
        if self.services.is_gone(turn.user.process):
            await self._settle_calls(conversation_id, turn)

    async def _settle_calls(self, conversation_id: str, turn: Turn) -> tuple[Message, ...]:
        """Give calls whose process ended too early their results; return the turn's replies."""
        replies = list(turn.replies)
        for at, message in enumerate(replies):
            broken = [call for call in message.tool_calls if call.result is None]
            if broken:
                found = await asyncio.to_thread(self.services.find_results, conversation_id, broken)
                if found:
                    replies[at] = await self.recorder.record_results(message.uuid, found)
        return tuple(replies)

    async def _answer(
        self,
        turn: TurnEnvironment,
        asked: Message,
        question: str,
        added: str,
        done: Sequence[Message] = (),
    ) -> Answer:
        """Answer a stored question, and store what that took.

        `added` precedes it in the request; `done` is what a resumed turn has done already.
        """
        async with record_usage(self.recorder.store, turn.conversation_id) as spent:
            conversation_id = turn.conversation_id
            turn.on_event(QuestionStored(conversation_id, asked.turn_index or 0))
            model = None if self.chat is None else self.chat.model.name
            progress = TurnProgress(
                self.recorder,
                conversation_id,
                asked,
                turn.on_event,
                spent,
                model,
                is_resumed=bool(done),
            )
            try:
                context, laid_out = await self._build_request(turn, asked, question, added)
                receipt = context.receipt
                if self.chat is not None:
                    receipt = replace(receipt, layout=laid_out.layout)
                progress.receipt = receipt
                turn.on_event(ContextBuilt(receipt))
                answer = Answer(
                    content="",
                    conversation_id=conversation_id,
                    turn_index=asked.turn_index or 0,
                    passages=list_passages(context, asked.content, self.chat is not None),
                    receipt=receipt,
                    question=asked.content,
                )
                if self.chat is not None:
                    images = await self._read_images(turn, question, turn.images)
                    request = complete_request(laid_out.request, images, done)
                    chat = self._watch(self.chat, turn.on_event)
                    answer = await self._ask_model(turn, chat, request, progress, answer)
                if answer.model is None:
                    told = answer_from_passages(context, asked.content, answer.passages)
                    answer = replace(answer, content=told)
                    await progress.cut_off(answer.content)
            except asyncio.CancelledError:
                await progress.cut_off(INTERRUPTED)
                await progress.end()
                raise
            except Exception as error:  # what was said so far must not be lost with it
                if not progress.is_empty:
                    with suppress(RagForgeError):
                        await progress.cut_off(
                            f"The answer broke off. {type(error).__name__}: {error}"
                        )
                raise
            await progress.end()
            await self.services.hooks.end_turn(turn, answer)
            turn.on_event(Done(answer))
            return answer

    async def _build_request(
        self, turn: TurnEnvironment, asked: Message, question: str, added: str
    ) -> tuple[EnrichedContext, PreparedRequest]:
        """Return the context of a question and the request with it.

        Searches and their receipt get the stored question, which contains no secrets.
        """
        if self.chat is not None:  # before the searches: their time must not be spent on it
            await self.chat.model.prepare()
        conversation = await self.recorder.store.records.get(CONVERSATION, turn.conversation_id)
        shares = self._get_shares()
        context, mentioned = await gather_or_cancel(
            self.builder.fit(shares).build_enriched_context(
                conversation, asked.content, asked.uuid
            ),
            self._prepare(turn, question),
        )
        skills = await asyncio.to_thread(self.services.prompts.find, "skills")
        system = load_system_prompt(shares, describe_skills(skills), turn.instructions, turn.schema)
        ending = load_ending(turn.mode, shares, question)
        return context, lay_out(context, system, added + mentioned + question, ending)

    async def _prepare(self, turn: TurnEnvironment, question: str) -> str:
        if self.chat is None:
            return ""
        limit = min(MAX_MENTIONED_CHARS, self._get_shares().results or MAX_MENTIONED_CHARS)
        return await self.services.prepare(turn, question, limit)

    async def _read_images(
        self, turn: TurnEnvironment, text: str, given: Sequence[Image] = ()
    ) -> Sequence[Image]:
        """Return the images that a text names, and the given ones; report what is not sent."""
        seen = await asyncio.to_thread(read_named_images, text, self.services.cwd, given)
        for problem in seen.problems:
            turn.on_event(Noticed(problem))
        return seen.images

    def _get_shares(self) -> WindowShares:
        return WindowShares.of(None if self.chat is None else self.chat.model.window)

    def _watch(self, chat: ChatClient, on_event: OnEvent) -> ChatClient:
        """Return the model with the turn's own meter, and with attempts that are reported."""

        def report(attempt: int, wait: float, error: ModelError) -> None:
            limit = chat.patience.count_attempts(error)
            on_event(Waiting(chat.model.name, attempt, str(error), wait, attempts=limit))

        return replace(chat, meter=Meter(self.limits.usd, chat.meter), on_retry=report)

    async def _ask_model(
        self,
        turn: TurnEnvironment,
        chat: ChatClient,
        request: ChatRequest,
        progress: TurnProgress,
        answer: Answer,
    ) -> Answer:
        """Let the model answer, as far as it gets."""
        problem: str | None = None
        content: str | None = None
        why: Stopped = "failed"
        limit = asyncio.timeout(self.limits.seconds)
        turn = replace(turn, approve=pause_during(limit, turn.approve))
        try:
            async with limit:
                loop = self._build_loop(turn, chat, progress)
                request, text = await loop.run(request)
                if turn.schema is not None:
                    value = await read_final_answer(
                        loop.ask, progress.end_round, request, text, turn.schema
                    )
                    content = json.dumps(value, ensure_ascii=False)
            if content is None and not text.strip():
                problem = f"{chat.model.name} ended without an answer."
        except TimeoutError:
            if not limit.expired():
                raise
            why = "time"
            problem = f"The turn reached its limit of {self.limits.seconds:g} seconds."
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
            content=progress.text if content is None else content,
            turn_index=progress.asked.turn_index or 0,
            reasoning=progress.reasoning,
            tool_calls=tuple(progress.calls),
            model=None if progress.is_empty else chat.model.name,
            problem=problem,
            stopped=stopped,
            usage=chat.meter.total,
        )

    def _build_loop(
        self, turn: TurnEnvironment, chat: ChatClient, progress: TurnProgress
    ) -> ToolLoop:
        is_blind = False

        async def send(request: ChatRequest) -> Reply:
            turn.on_event(Waiting(chat.model.name, chars=request.chars))
            if request.schema is None:
                return await chat.stream(request, progress.take_piece)
            return await chat.ask(request)  # JSON with calls in it is not shown

        async def ask(request: ChatRequest) -> Reply:
            nonlocal is_blind
            try:
                reply = await send(drop_images(request) if is_blind else request)
            except (RequestRefused, ModelUnavailable) as error:
                if is_blind or not has_images(request) or not says_no_images(error):
                    raise
                is_blind = True
                turn.on_event(Noticed(f"{chat.model.name} sees no images: {error}"))
                reply = await send(drop_images(request))
            await progress.take_reply(reply)
            window = chat.model.window
            share = reply.usage.input_tokens / window if window else None
            turn.on_event(Used(chat.meter.total, share))
            return reply

        async def take_more() -> Sequence[UserMessage]:
            text = turn.steer()
            if not text.strip():
                return ()
            try:
                added = await self.services.hooks.begin_turn(turn, text)
            except Declined as error:  # a hook blocks it: it is neither stored nor sent
                turn.on_event(Noticed(str(error)))
                return ()
            await progress.continue_with(text)
            mentioned = added + await self._prepare(turn, text)
            images = await self._read_images(turn, text)
            return (UserMessage(mentioned + text, images=tuple(images)),)

        shares = self._get_shares()
        return ToolLoop(
            ask,
            fit_tools(self.services.make_tools(turn, chat), shares.tools),
            self.limits.steps,
            on_call=progress.note_end,
            on_start=progress.note_start,
            on_round=progress.end_round,
            before_change=progress.begin_round,
            take_more=take_more,
            native=chat.model.calls_tools,
            result_chars=min(self.limits.result_chars, shares.results or self.limits.result_chars),
            request_chars=shares.request,
        )
