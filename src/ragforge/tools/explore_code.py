"""explore_code: one place in the code, and what stands beside it in the graph."""

from __future__ import annotations

from pydantic import Field

from ragforge.brain.project import Brain
from ragforge.brain.search.code import Neighbour
from ragforge.concurrency import gather_or_cancel
from ragforge.domain.code import FileLine, Scope, ScopeFilter, ScopeName
from ragforge.domain.schema import SCOPE, SCOPE_NAME
from ragforge.domain.text import Json
from ragforge.errors import InputError
from ragforge.llm.calls import Tool
from ragforge.records import dataclass
from ragforge.tools.search_code import SOURCE_CHARS, check_known, cut_source
from ragforge.tools.tool import Arguments, as_tool

MAX_NAMED = 10
MAX_NEIGHBOURS = 60
_ROLES = {
    ("CONSUMES", "out"): "uses",
    ("CONSUMES", "in"): "used_by",
    ("INHERITS_FROM", "out"): "inherits_from",
    ("INHERITS_FROM", "in"): "inherited_by",
    ("HAS_PARENT", "out"): "inside",
    ("HAS_PARENT", "in"): "holds",
}


class ExploreArguments(Arguments):
    """What explore_code is called with."""

    name: str | None = Field(
        None, min_length=1, description="Name of a function, class, …: login or Session.login"
    )
    file: str | None = Field(None, min_length=1, description="A file, with the line")
    line: int | None = Field(None, ge=1, description="A line of the file")


@dataclass(frozen=True, slots=True)
class Explored:
    """A scope with its neighbours; or several of one name, to choose from."""

    scope: Scope | None
    neighbours: tuple[Neighbour, ...] = ()
    named: tuple[str, ...] = ()
    inner: tuple[ScopeName, ...] = ()  # the scopes in its file

    def to_json(self) -> Json:
        if self.scope is None:
            return {"several": list(self.named), "note": "Give file and line of the one you mean."}
        beside: dict[str, list[str]] = {}
        for neighbour in self.neighbours[:MAX_NEIGHBOURS]:
            role = _ROLES[neighbour.relation, neighbour.direction]
            beside.setdefault(role, []).append(_format_location(neighbour.scope))
        found: dict[str, Json] = {"place": _format_location(self.scope), "type": self.scope.type}
        found |= {"source": cut_source(self.scope, self.inner, (), SOURCE_CHARS), **beside}
        if (more := len(self.neighbours) - MAX_NEIGHBOURS) > 0:
            found["note"] = f"{more} more neighbours are not listed."
        return found


def make_explore_tool(brain: Brain) -> Tool:
    """Return explore_code for a model."""

    async def call(given: ExploreArguments) -> Explored:
        await check_known(brain)
        return await explore_code(brain, given)

    return as_tool("explore_code", ExploreArguments, call)


async def explore_code(brain: Brain, given: ExploreArguments) -> Explored:
    """Return the scope with this name or at this line. Raises InputError if there is none."""
    store = brain.store
    if given.file is not None and given.line is not None:
        [scope] = await store.code.scopes_at(brain.project_id, [FileLine(given.file, given.line)])
        if scope is None:
            raise InputError(f"There is no code at {given.file}:{given.line}.")
    elif given.name is not None:
        files = None if given.file is None else [given.file]
        where = ScopeFilter(brain.project_id, files, [given.name])
        named = await store.records.find(SCOPE_NAME, where)
        if not named:
            raise InputError(f"Nothing is called {given.name!r}. search_code finds it by meaning.")
        if len(named) > 1:
            places = [f"{n.file}:{n.start_line}-{n.end_line} {n.qualified_name}" for n in named]
            return Explored(None, named=tuple(places[:MAX_NAMED]))
        scope = await store.records.get(SCOPE, named[0].uuid)
    else:
        raise InputError("Give a name, or a file and a line.")
    near, inner = await gather_or_cancel(
        brain.finder.find_neighbours(scope.uuid),
        brain.finder.find_inner(brain.project_id, [scope]),
    )
    return Explored(scope, tuple(near), inner=tuple(inner.get(scope.file, ())))


def _format_location(scope: Scope) -> str:
    return f"{scope.file}:{scope.start_line}-{scope.end_line} {scope.qualified_name}"
