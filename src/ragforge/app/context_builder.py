"""The context builder: the searches before an answer, with their limits from settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache

from ragforge.app.trust import FolderTrust
from ragforge.brain.project import Brain
from ragforge.config.settings import Settings
from ragforge.context.budget import Budget
from ragforge.context.build import ContextBuilder, ContextOptions, EnrichedContext
from ragforge.context.initial import InitialContext
from ragforge.context.planner import Planner
from ragforge.context.searches import Deadlines, Searches
from ragforge.context.surroundings import Surroundings
from ragforge.errors import StoreError
from ragforge.llm.ask import Asker
from ragforge.llm.calls import Tool
from ragforge.memory.search.turns import MemorySearch
from ragforge.ports.store import Store

__all__ = ["ContextOptions", "EnrichedContext", "open_context"]


def open_context(
    settings: Settings,
    store: Store,
    recall: MemorySearch,
    brain: Brain,
    chat: Asker | None,
    trust: FolderTrust,
) -> ContextBuilder:
    """Return the builder of contexts for the messages in a project."""
    memory, limits = settings.agent.memory, settings.agent.context
    executor = None
    if chat is not None and limits.plan_by == "model":
        from ragforge.llm.executor import StructuredLLMExecutor

        executor = StructuredLLMExecutor(chat)
    planner = Planner(executor, chat.model.name if chat else "", limits.plan_seconds)

    @cache
    def load_tools() -> Mapping[str, Tool]:
        from ragforge.app.file_searches import make_file_searches

        return make_file_searches(brain.root, limits.search_seconds, settings.tools.sandbox)

    async def find_known_words(words: Sequence[str]) -> Collection[str]:
        try:
            return await store.code.known_words(brain.project_id, words)
        except StoreError:
            return ()

    surroundings = Surroundings(brain.root, lambda: store.code.files(brain.project_id))
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
        recall=recall,
        brain=brain,
        initial=InitialContext(
            planner, load_tools, brain.root, limits.search_seconds, find_known_words, surroundings
        ),
        deadlines=Deadlines(
            code=limits.search_seconds,
            history=limits.search_seconds,
            initial=limits.plan_seconds + limits.search_seconds,
        ),
        subdirectory_only=memory.subdirectory_only,
        trust=trust,
    )
    return ContextBuilder(searches, budget)
