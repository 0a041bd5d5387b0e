"""The application: RagForge opened in a directory, with everything wired from settings.

What doors and programs do with it stands by topic: `app.sessions`, `app.memory`, `app.notes`,
`app.code`, `app.jobs`, `app.imports`, `app.maintenance`. Turns are taken with `app.ask` and
`app.retry`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragforge.app.features.code import Code
from ragforge.app.features.jobs import Jobs
from ragforge.app.features.sessions import Sessions
from ragforge.app.wiring.models import choose_model, require_chat
from ragforge.app.wiring.open_project import OpenProject
from ragforge.domain.conversations import Conversation
from ragforge.domain.modes import Mode, parse_mode
from ragforge.domain.projects import ProjectPlace
from ragforge.errors import InputError

if TYPE_CHECKING:
    from ragforge.agent.delegate import AgentFile
    from ragforge.agent.environment import Steer, TurnEnvironment
    from ragforge.agent.events import OnEvent
    from ragforge.agent.hooks import Hooks
    from ragforge.agent.permissions import Approve
    from ragforge.agent.turn import Agent
    from ragforge.app.features.graph import GraphExplorer
    from ragforge.app.features.imports import Imports
    from ragforge.app.features.memory import Maintenance, Memory
    from ragforge.app.features.notes import Notes
    from ragforge.app.features.overview import DayReports, Overview
    from ragforge.app.features.permission_rules import PermissionRules
    from ragforge.app.features.session_edits import CommitDraft, SessionEdits, Undone
    from ragforge.app.features.usage import Usages
    from ragforge.context.build import ContextBuilder, ContextOptions, EnrichedContext
    from ragforge.domain.chat import Image, JsonSchema
    from ragforge.domain.queries import QueryResult, Value
    from ragforge.domain.text import Json
    from ragforge.domain.turns import Answer
    from ragforge.jobs.worker import Worker
    from ragforge.llm.ask import ChatClient
    from ragforge.llm.calls import Tool
    from ragforge.llm.executor import StructuredLLMExecutor
    from ragforge.memory.history import History
    from ragforge.memory.notes import Notebook
    from ragforge.memory.summaries.condense import Condenser
    from ragforge.originals.files import OriginalFiles
    from ragforge.ports.open_files import OpenFiles
    from ragforge.tools.command.run import CommandResult
    from ragforge.tools.mentions import MentionReader
    from ragforge.tools.prompt_files import PromptFolders
    from ragforge.tools.toolbox import Toolbox


@dataclass(frozen=True)
class App(OpenProject):
    """RagForge, opened in a directory."""

    @property
    def project(self) -> ProjectPlace:
        """The project, which may have other checkouts."""
        return self.brain.place

    @cached_property
    def sessions(self) -> Sessions:
        """The conversations of this directory: found, changed, exported, imported."""
        return Sessions(
            store=self.store,
            cwd=self.cwd,
            project=self.project,
            embedder=self.recall.embedder,
            identity=self.identity,
            open_originals=self._open_originals,
        )

    def _open_originals(self) -> OriginalFiles:
        from ragforge.app.features.originals import open_originals

        return open_originals(self.settings)

    @cached_property
    def memory(self) -> Memory:
        """Search what was said and done, and look after its summaries."""
        from ragforge.app.features.memory import Memory

        return Memory(self.sessions, self.recall, self.notebook, self.history, self.condenser)

    @cached_property
    def notes(self) -> Notes:
        """The notes of this project."""
        from ragforge.app.features.notes import Notes

        return Notes(self.sessions, self.notebook)

    @cached_property
    def code(self) -> Code:
        """The code and documents of this project: ingested, watched, searched."""
        return Code(
            brain=self.brain,
            jobs=self.jobs,
            cwd=self.cwd,
            settings=self.settings,
            trust=self.trust,
            upkeep=self.store.upkeep,
            detaches=self.detaches,
        )

    @cached_property
    def overview(self) -> Overview:
        """What happened in a project, and which files it was about."""
        from ragforge.app.features.overview import Overview

        return Overview(self.store, self.project, self.code)

    @cached_property
    def usage(self) -> Usages:
        """The tokens and the money that requests to models took."""
        from ragforge.adapters.models.known_models import estimate_price
        from ragforge.app.features.usage import Usages

        return Usages(self.sessions, estimate_price)

    @cached_property
    def today(self) -> DayReports:
        """What was done, by whom, what is open and what was decided."""
        from ragforge.app.features.overview import DayReports

        return DayReports(self.overview, self.notes)

    @cached_property
    def graph(self) -> GraphExplorer:
        """What a scope, a file or a session is connected with."""
        from ragforge.app.features.graph import GraphExplorer

        return GraphExplorer(self.code, self.sessions)

    @cached_property
    def jobs(self) -> Jobs:
        """The jobs that are queued, running or failed."""
        return Jobs(self.store, self.brain.project_id, self.identity)

    @cached_property
    def maintenance(self) -> Maintenance:
        """Rebuild summaries and vectors, and inspect the store."""
        from ragforge.app.features.memory import Maintenance

        return Maintenance(self, self.condenser, self.worker)

    @cached_property
    def imports(self) -> Imports:
        """Imports the sessions of other agents on this machine."""
        from ragforge.app.features.imports import Imports

        return Imports(self, self.condenser)

    @cached_property
    def prompts(self) -> PromptFolders:
        """The commands, skills and agents that the user or the trusted project wrote."""
        from ragforge.tools.prompt_files import PromptFolders

        folder = Path(self.settings.agent.prompts_dir)
        return PromptFolders(folder, self.trust.root, lambda: self.trust.obeys)

    @cached_property
    def rules(self) -> PermissionRules:
        """What the user allowed or forbade for good in this project."""
        from ragforge.app.features.permission_rules import open_rules

        return open_rules(self.settings, self.project_path)

    @cached_property
    def hooks(self) -> Hooks:
        """The commands of the user and the trusted project that run at events of a turn."""
        from ragforge.app.wiring.agent import open_hooks

        return open_hooks(self)

    @cached_property
    def condenser(self) -> Condenser:
        """Makes summaries when they are due."""
        from ragforge.app.wiring.background import open_condenser

        return open_condenser(self.settings, self.store, self.recall.embedder, self.chat)

    @cached_property
    def worker(self) -> Worker:
        """Runs the queued jobs."""
        from ragforge.app.wiring.background import open_worker

        return open_worker(
            settings=self.settings,
            store=self.store,
            recall=self.recall,
            brain=self.brain,
            chat=self.chat,
            condenser=self.condenser,
            trust=self.trust,
            keep_originals=self._keep_originals,
        )

    async def _keep_originals(self, payload: Json) -> None:
        await self.imports.keep_originals(payload)

    @cached_property
    def history(self) -> History:
        from ragforge.memory.history import History

        return History(self.store)

    @cached_property
    def notebook(self) -> Notebook:
        from ragforge.memory.notes import Notebook

        return Notebook(self.store, self.recall.embedder, self.identity)

    @cached_property
    def toolbox(self) -> Toolbox:
        """The tools of this project; most commands need none of them."""
        from ragforge.app.wiring.turn_tools import open_toolbox

        return open_toolbox(self, self.notebook, self.code.keep_page)

    @cached_property
    def context(self) -> ContextBuilder:
        """Builds the context of a message; most commands need none of it."""
        from ragforge.app.wiring.context_builder import open_context

        return open_context(self)

    @cached_property
    def agent(self) -> Agent:
        """Answers questions, turn by turn."""
        from ragforge.adapters.stores.holders import is_gone
        from ragforge.agent.services import TurnServices
        from ragforge.app.wiring.agent import open_agent

        services = TurnServices(
            state_dir=self.state_dir,
            cwd=self.cwd,
            root=self.project_path,
            prompts=self.prompts,
            servers=self.servers,
            hooks=self.hooks,
            make_tools=self._make_tools,
            open_mentions=self._open_mentions,
            is_gone=is_gone,
        )
        return open_agent(self, services, self.context)

    def _make_tools(self, turn: TurnEnvironment, chat: ChatClient) -> Sequence[Tool]:
        """Return the tools of a turn. They are loaded when a model first answers."""
        from ragforge.app.wiring.turn_tools import make_turn_tools

        return make_turn_tools(self, self.toolbox, self.rules, self.prompts, self.hooks, turn, chat)

    def _open_mentions(self, turn: TurnEnvironment) -> MentionReader:
        from ragforge.app.wiring.turn_tools import open_mentions

        return open_mentions(turn, self, self.toolbox, self.rules)

    @property
    def agents(self) -> list[AgentFile]:
        """The kinds of sub-agents that the user or the trusted project wrote."""
        from ragforge.agent.delegate import read_agent_files

        return read_agent_files(self.prompts.find("agents"))

    @property
    def model(self) -> str | None:
        """The name of the chat model, if there is one."""
        return None if self.chat is None else self.chat.model.name

    @property
    def executor(self) -> StructuredLLMExecutor:
        """Does the same task for many items, with the chat model of the settings.

        Raises ModelMissing if no chat model is configured.
        """
        from ragforge.llm.executor import StructuredLLMExecutor

        return StructuredLLMExecutor(require_chat(self.chat))

    async def ask(
        self,
        question: str,
        session: str | None = None,
        *,
        on_event: OnEvent | None = None,
        approve: Approve | None = None,
        mode: Mode = "ask",
        files: OpenFiles | None = None,
        images: Sequence[Image] = (),
        instructions: str = "",
        schema: JsonSchema | None = None,
        steer: Steer | None = None,
    ) -> Answer:
        """Answer in a session, given by its id, or in the current one of the directory.

        `on_event` receives every event. `approve` decides before anything is changed; without
        it nothing is. In the mode `plan` nothing is changed and the answer is a plan; in
        `accept-edits` edits need no approval; in `auto` neither do commands in a sandbox, without
        network. `files` are those of an editor, whose unsaved text is read and changed; `images`
        are shown to the model, with those that the question names. `instructions` follow the
        system prompt. With a `schema` the answer is JSON that fits it; one that still does not
        after a few repairs is incomplete. `steer` is called before each next request to the
        model: it returns what the user has added meanwhile, which becomes a separate turn.
        If this is cancelled, the turn is stored as far as it went.
        Raises InputError if the question is empty, there is no such schema, or the mode does not
        exist or cannot be used, and ModelMissing for a schema without a chat model.
        """
        from ragforge.memory.code.traces import list_edited

        if not question.strip():
            raise InputError("The question is empty. Type one.")
        mode = self.require_mode(mode)
        if schema is not None:
            from ragforge.domain.json_schema import check_answer_schema

            require_chat(self.chat)
            schema = check_answer_schema(schema)
        session = session or (await self.sessions.ensure_current()).uuid
        turn = _make_environment(
            session,
            mode,
            on_event=on_event,
            approve=approve,
            files=files,
            images=images,
            instructions=instructions,
            schema=schema,
            steer=steer,
        )
        answer = await self.agent.take_turn(turn, question)
        await self.code.automatic_reading.queue(list_edited(answer.tool_calls))
        if answer.model is None and answer.passages and (best := answer.passages[0]).file:
            related = await self.code.find_users(best.file, best.line)
            return replace(answer, related=related)
        return answer

    async def retry(
        self,
        session: str,
        *,
        on_event: OnEvent | None = None,
        approve: Approve | None = None,
        mode: Mode = "ask",
        files: OpenFiles | None = None,
        steer: Steer | None = None,
    ) -> Answer:
        """Resume the last turn of a session, which broke off or has no answer.

        Raises InputError if there is none, or no such mode.
        """
        mode = self.require_mode(mode)
        turn = _make_environment(
            session, mode, on_event=on_event, approve=approve, files=files, steer=steer
        )
        return await self.agent.resume_turn(turn)

    def explain_no_auto(self) -> str:
        """Return why auto mode cannot be used here, and what to do; empty if it can."""
        from ragforge.tools.command.sandbox.choose import explain_no_auto

        return explain_no_auto(str(self.project_path.resolve()), self.settings.tools.sandbox)

    def require_mode(self, name: str) -> Mode:
        """Return a mode by its name. Raises InputError if there is none, or it cannot be used."""
        mode = parse_mode(name)
        if mode == "auto" and (problem := self.explain_no_auto()):
            raise InputError(f"{problem[0].upper()}{problem[1:]}")
        return mode

    async def run_command(
        self, line: str, session: str, on_output: Callable[[str], None] = lambda text: None
    ) -> CommandResult:
        """Run a line of the user's in their shell, and store it with its output in a session.

        No permission is needed: the user typed it. `on_output` receives what it prints as it comes.
        If this is cancelled, the command is ended and stored as far as it went.
        Raises InputError if there is no line, or it cannot be started.
        """
        from ragforge.app.features.user_commands import run_user_command

        return await run_user_command(self.recorder, session, self.cwd, line, on_output)

    async def undo(self, session: str) -> Undone:
        """Take back the last edit that was made in a session; the model sees that it was.

        Raises InputError if there is none, or if the file has changed since.
        """
        return await (await self.edits(session)).undo()

    async def edits(self, session: str) -> SessionEdits:
        """Return the edits of a session: what they changed, and the way back to a turn."""
        from ragforge.app.features.session_edits import SessionEdits
        from ragforge.tools.confine import Root
        from ragforge.tools.edits.change import Journal

        conversation = await self.sessions.load(session)
        journal = Journal.of(self.state_dir, conversation.uuid)
        root = Root.at(self.project_path)
        return SessionEdits(self.sessions, self.recorder, root, journal, conversation)

    async def draft_commit(self, session: str, message: str = "") -> CommitDraft:
        """Return the files that a session changed and a message for their commit.

        Raises InputError if there is nothing to commit, or git fails.
        """
        return await (await self.edits(session)).draft_commit(self.chat, message)

    async def commit(self, session: str, draft: CommitDraft) -> str:
        """Commit the files of a draft, and nothing else; return what git says.

        Raises InputError with the words of git if it fails.
        """
        return await (await self.edits(session)).commit(draft)

    async def build_context(
        self,
        message: str,
        options: ContextOptions | None = None,
        session: Conversation | None = None,
    ) -> EnrichedContext:
        """Return the context that a message would get in a session, or in the current one.

        Nothing is stored. Raises InputError if the message is empty, or an option makes no sense.
        """
        if not message.strip():
            raise InputError("The message is empty. Type one.")
        new = self.sessions.make_new()
        session = session or await self.sessions.find_current() or new
        return await self.context.build_enriched_context(session, message, options=options)

    async def query(
        self,
        text: str,
        parameters: Mapping[str, Value] | None = None,
        *,
        max_rows: int = 1_000,
        max_seconds: float = 30,
    ) -> QueryResult:
        """Run a query in the store's own language, SQL over views or Cypher; it can only read.

        It sees all projects. The names, and queries to begin with: docs/graph.md.
        Raises InputError for one that cannot be run, would change something or takes too long.
        """
        from ragforge.domain.queries import Query

        return await self.store.query(Query(text, parameters or {}, max_rows, max_seconds))

    def with_model(self, name: str) -> App:
        """Return the application with another chat model; queued jobs keep theirs.

        Both are closed with the application. Raises InputError if there is no such model.
        """
        settings = choose_model(self.settings, name)
        return replace(self, settings=settings, chat=self.open_chat(settings))

    def redact(self, text: str) -> str:
        """Return a text without secrets, as all that is stored."""
        from ragforge.memory.secrets.redact import redact  # its patterns take a while to compile

        return redact(text)


def _make_environment(session: str, mode: Mode, **given: Any) -> TurnEnvironment:
    """Return the environment of a turn. None is not given: without `approve`, all is denied."""
    from ragforge.agent.environment import TurnEnvironment

    chosen = {name: value for name, value in given.items() if value is not None}
    return TurnEnvironment(session, mode=mode, **chosen)
