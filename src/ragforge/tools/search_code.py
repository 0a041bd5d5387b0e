"""search_code: the code and documents that are relevant to a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from pydantic import Field

from ragforge.brain.project import Brain
from ragforge.brain.search.code import CodeHit
from ragforge.brain.search.documents import DocumentHit
from ragforge.brain.search.exploration import SOURCE_CHARS, cut_source
from ragforge.domain.code import Reading, ScopeName
from ragforge.domain.text import Json
from ragforge.errors import InputError
from ragforge.llm.calls import Tool
from ragforge.records import dataclass
from ragforge.search.words.tokenise import WORDS
from ragforge.tools.tool import Arguments, as_tool

CODE_CHARS = 15_500
PLACE_CHARS = 200
"""Documents come after the code, and a model sees the first 20,000 characters of a result: all
places together have about CODE_CHARS, and each PLACE_CHARS without its source."""


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
