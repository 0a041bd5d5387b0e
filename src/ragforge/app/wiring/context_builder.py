"""The context builder: the searches before an answer, with their limits from settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache

from ragforge.app.wiring.models import is_by_model
from ragforge.app.wiring.open_project import OpenProject
from ragforge.config.settings import Settings
from ragforge.config.store_url import is_server
from ragforge.context.build import ContextBuilder, ContextOptions, EnrichedContext
from ragforge.context.gather import OWN_SECONDS, Deadlines, Gatherer
from ragforge.context.initial import InitialContext, Surroundings
from ragforge.context.planner import Planner
from ragforge.context.searches import Searches
from ragforge.context.selection import Budget
from ragforge.domain.code import FileFilter
from ragforge.domain.schema import FILE
from ragforge.errors import StoreError
from ragforge.llm.calls import Tool
from ragforge.search.words.tokenise import WORDS

# For the doors, from the rooms below.
__all__ = ["ContextOptions", "EnrichedContext"]

FILE_SECONDS = 5.0
"""How long a search may take by default: of files, or in a store that is a file."""
ONLY_LINES = {"context_lines": 0}
"""Arguments of file searches: the lines around each hit are read once, for all of them."""
TIME_SHARE = 0.8
"""The share of its time after which a search of files returns what it has found so far."""


def open_context(project: OpenProject) -> ContextBuilder:
    """Return the builder of contexts for the messages in a project."""
    settings, store, brain, chat = project.settings, project.store, project.brain, project.chat
    memory, limits = settings.agent.memory, settings.agent.context
    files_seconds = limits.search_seconds or FILE_SECONDS
    executor = None
    if chat is not None and is_by_model(limits.plan_by, settings.llm):
        from ragforge.llm.executor import StructuredLLMExecutor

        executor = StructuredLLMExecutor(chat)
    planner = Planner(executor, chat.model.name if chat else "", limits.plan_seconds)

    @cache
    def load_tools() -> Mapping[str, Tool]:
        from ragforge.tools.command.command_tools import make_read_only_command_tool
        from ragforge.tools.command.run import CommandRunner
        from ragforge.tools.grep_files import make_grep_tool
        from ragforge.tools.search_files import make_search_tool
        from ragforge.tools.workspace import Workspace

        workspace, seconds = Workspace.at(brain.root), TIME_SHARE * files_seconds
        commands = CommandRunner(brain.root, sandbox=settings.tools.sandbox)
        tools = [
            make_grep_tool(workspace, ONLY_LINES, seconds),
            make_search_tool(workspace, ONLY_LINES, seconds),
            make_read_only_command_tool(commands),
        ]
        return {tool.spec.name: tool for tool in tools}

    async def find_known_words(words: Sequence[str]) -> Collection[str]:
        if await brain.first_reading.is_unfinished():  # an unknown word means nothing yet
            return words
        try:
            asked = {word: WORDS.query(word) for word in words}
            held = await store.code.count_holding(brain.project_id, asked, 1)
        except StoreError:
            return ()
        return [word for word, count in held.items() if count]

    surroundings = Surroundings(
        brain.root, lambda: store.records.find(FILE, FileFilter(brain.project_id))
    )
    budget = Budget(
        total=memory.max_context_chars,
        queries=memory.share(memory.last_user_queries_percent),
        recent=memory.share(memory.recent_turns_percent),
        code=memory.share(memory.code_search_percent),
        code_hits=memory.code_search_initial_limit,
        recent_turns=memory.recent_turns,
        recalls=memory.enabled,
    )
    searches = Searches(
        store=store,
        recall=project.recall,
        brain=brain,
        initial=InitialContext(
            planner, load_tools, brain.root, files_seconds, find_known_words, surroundings
        ),
        subdirectory_only=memory.subdirectory_only,
    )
    return ContextBuilder(Gatherer(searches, choose_deadlines(settings), project.trust), budget)


def choose_deadlines(settings: Settings) -> Deadlines:
    """Return how long the searches may take.

    A busy server answers all searches slowly: they get as long as the conversation's own past,
    without which there is no answer anyway.
    """
    limits = settings.agent.context
    default = OWN_SECONDS if is_server(settings.store.url) else FILE_SECONDS
    seconds = limits.search_seconds or default
    return Deadlines(code=seconds, history=seconds, initial=limits.plan_seconds + seconds)
