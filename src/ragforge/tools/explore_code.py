"""explore_code: what calls some code, what it calls, what is in it, and what is next to it."""

from __future__ import annotations

from pydantic import Field

from ragforge.brain.project import Brain
from ragforge.brain.search.exploration import MAX_PLACES, Exploration, Question
from ragforge.brain.search.explore import MAX_DEPTH, explore
from ragforge.domain.code import RelationAsked
from ragforge.llm.calls import Tool
from ragforge.tools.search_code import check_known
from ragforge.tools.tool import Arguments, as_tool


class ExploreArguments(Arguments):
    """What explore_code is called with."""

    name: str | None = Field(
        None,
        min_length=1,
        max_length=1_000,
        description="login, Session.login, auth.login, src/auth.py or src/auth.py:12",
    )
    relation: RelationAsked | None = Field(
        None, description="List only this; without it, what is next to the code"
    )
    depth: int | None = Field(None, ge=1, le=MAX_DEPTH, description="Callers of callers: 2")
    file: str | None = Field(None, min_length=1, description="A file, with the line")
    line: int | None = Field(None, ge=1, description="A line of the file")
    source: bool = Field(False, description="With the source")
    limit: int | None = Field(
        None, ge=1, le=1_000, description=f"How many places; {MAX_PLACES} of one relation"
    )


def make_explore_tool(brain: Brain) -> Tool:
    """Return explore_code for a model."""

    async def call(given: ExploreArguments) -> Exploration:
        await check_known(brain)
        return await explore_code(brain, given)

    return as_tool("explore_code", ExploreArguments, call)


async def explore_code(brain: Brain, given: ExploreArguments) -> Exploration:
    """Return what is asked about the code with a name. Raises InputError if none has it."""
    name, file = given.name or "", given.file
    if file is not None and given.line is not None:
        name, file = f"{file}:{given.line}", None
    elif file is not None and not name:
        name, file = file, None
    question = Question(name, given.relation, given.depth, given.limit, given.source, file)
    return await explore(brain.store, brain.project_id, question)
