"""search_code and explore_code: what is relevant to a question, and one place with neighbours."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field

from pydantic import Field

from ragforge.brain.project import Brain
from ragforge.brain.search.code import CodeHit, Neighbour
from ragforge.brain.search.documents import DocumentHit
from ragforge.concurrency import gather_or_cancel
from ragforge.domain.code import FileLine, Scope, ScopeFilter, ScopeName
from ragforge.domain.reading import Reading
from ragforge.domain.schema import SCOPE, SCOPE_NAME
from ragforge.domain.text import Json, keep_beginning
from ragforge.errors import InputError
from ragforge.llm.calls import Tool
from ragforge.records import dataclass
from ragforge.search.extracts import extract
from ragforge.search.words.tokenise import WORDS
from ragforge.tools.tool import Arguments, as_tool

SOURCE_CHARS = 2_000
CODE_CHARS = 15_500
PLACE_CHARS = 200
"""Documents come after the code, and a model sees the first 20,000 characters of a result: all
places together have about CODE_CHARS, and each PLACE_CHARS without its source."""

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


class CodeArguments(Arguments):
    """What search_code is called with."""

    query: str = Field(min_length=1, max_length=10_000, description="A question, or names")
    path: str | None = Field(None, description="Only below this directory, or in this file")
    limit: int = Field(8, ge=1, le=50, description="How many places")


@dataclass(frozen=True, slots=True)
class CodeFound:
    """Places in the code, and in documents and configuration files, the best first."""

    hits: tuple[CodeHit, ...]
    documents: tuple[DocumentHit, ...] = ()
    inner: Mapping[str, Sequence[ScopeName]] = field(default_factory=dict)  # by their file
    words: tuple[str, ...] = ()  # of the query
    reading: Reading | None = None  # how far the first reading of the project is
    unknown: tuple[str, ...] = ()  # words of the query that the project holds nowhere

    def to_json(self) -> Json:
        """Return both, so that with many places the model still sees the documents."""
        chars = min(SOURCE_CHARS, CODE_CHARS // max(len(self.hits), 1) - PLACE_CHARS)
        code = [
            {
                "file": hit.scope.file,
                "startLine": hit.scope.start_line,
                "endLine": hit.scope.end_line,
                "name": hit.scope.qualified_name,
                "type": hit.scope.type,
                "score": round(hit.relevance, 3),
                "source": cut_source(
                    hit.scope, self.inner.get(hit.scope.file, ()), self.words, chars
                ),
            }
            for hit in self.hits
        ]
        notice: dict[str, Json] = {} if self.reading is None else {"reading": self.reading.notice}
        if self.unknown:
            notice["unknown"] = list(self.unknown)
        return {**notice, "code": code, "documents": [hit.to_json() for hit in self.documents]}


def cut_source(scope: Scope, inner: Sequence[ScopeName], words: Collection[str], chars: int) -> str:
    """Return a source in about `chars` characters; of a long class, what matters for the words."""
    if scope.search_text is not None and len(scope.source) > chars:
        found = extract(scope, inner, words, chars)
        if found is not None:
            return found.text
    return keep_beginning(scope.source, chars)


def make_code_tool(brain: Brain) -> Tool:
    """Return search_code for a model."""

    async def call(given: CodeArguments) -> CodeFound:
        unread = await brain.first_reading.find_unread()
        if unread is None:
            await check_known(brain)
        found = await brain.search(given.query, given.limit, given.path)
        if not found:  # a project may be only documents
            place = brain.root / (given.path or "")
            found = await brain.search_documents(given.query, place, given.limit)
        shown = [hit.scope.uuid for hit in found]
        documents = await brain.search_docs_and_config(given.query, given.path, shown=shown)
        inner = await brain.finder.find_inner(brain.project_id, [hit.scope for hit in found])
        unknown = await brain.find_unknown_words(given.query, unread)
        words = tuple(WORDS.query(given.query))
        reading = None if unread is None else unread.reading
        return CodeFound(tuple(found), tuple(documents), inner, words, reading, tuple(unknown))

    return as_tool("search_code", CodeArguments, call)


async def check_known(brain: Brain) -> None:
    """Raise InputError if the project was never ingested."""
    if not await brain.is_ingested():
        raise InputError("This project is not indexed yet. Use grep_files and read_file.")


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
        by_role: dict[str, list[str]] = {}
        for neighbour in self.neighbours[:MAX_NEIGHBOURS]:
            role = _ROLES[neighbour.relation, neighbour.direction]
            by_role.setdefault(role, []).append(_format_location(neighbour.scope))
        found: dict[str, Json] = {"place": _format_location(self.scope), "type": self.scope.type}
        found |= {"source": cut_source(self.scope, self.inner, (), SOURCE_CHARS), **by_role}
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
            raise InputError(f"No code is called {given.name!r}. search_code finds by meaning.")
        if len(named) > 1:
            places = [f"{n.file}:{n.start_line}-{n.end_line} {n.qualified_name}" for n in named]
            return Explored(None, named=tuple(places[:MAX_NAMED]))
        scope = await store.records.get(SCOPE, named[0].uuid)
    else:
        raise InputError("Give a name, or a file and a line.")
    near, inner = await gather_or_cancel(
        brain.finder.find_neighbours(scope.uuid), brain.finder.find_inner(brain.project_id, [scope])
    )
    return Explored(scope, tuple(near), inner=tuple(inner.get(scope.file, ())))


def _format_location(scope: Scope) -> str:
    return f"{scope.file}:{scope.start_line}-{scope.end_line} {scope.qualified_name}"
