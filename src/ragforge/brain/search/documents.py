"""Document search: the sections of documents that are relevant to a question.

Documents are searched apart from code: prose has more of a question's words than any function.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from ragforge.brain.languages.table import is_document_path
from ragforge.brain.search.code import BY_MEANING, CodeFinder, CodeHit
from ragforge.brain.search.while_reading import SearchWhileReading
from ragforge.concurrency import gather_or_cancel
from ragforge.domain.code import CodeFilter, File, FileFilter, Scope, ScopeMatch, is_web_address
from ragforge.domain.schema import FILE
from ragforge.search.question.message_kinds import is_for_records
from ragforge.search.question.wording import expand_query
from ragforge.search.rank import Candidates, rank
from ragforge.search.relevance import BEST_HITS, estimate_relevance

if TYPE_CHECKING:
    from ragforge.brain.search.unread import Unread  # it loads the parsers

BY_WORDS = 100
# Changelogs, licences and test data are seldom what a question is about.
_ASIDE = re.compile(
    r"(^|/)(tests?|testdata|fixtures?|vendor|third[-_]party|releases?|changelogs?|versioned_docs)/|"
    r"(^|/)(change(s|log)|news|history|release[-_ ]?notes?|licen[sc]e|copying|authors|contributors)"
    r"[^/]*$",
    re.IGNORECASE,
)


@lru_cache(1 << 14)
def is_aside_document(path: str) -> bool:
    """Tell whether a document is a changelog, a licence or test data."""
    return _ASIDE.search(path) is not None


def is_never_aside(_: str) -> bool:
    """Set no document aside: the question is for one of those."""
    return False


async def search_documents(
    finder: CodeFinder,
    question: str,
    project_id: str,
    under: str | None = None,
    limit: int = 10,
    *,
    with_pages: bool = False,
    unread: Unread | None = None,
) -> list[CodeHit]:
    """Return the sections that are relevant to a question, best first, spread over files.

    If the embedder fails, words and titles still count. What is `unread` is searched by words.
    Web pages are not below any directory: with `with_pages` they are searched too.
    """
    where = CodeFilter(project_id=project_id, under=under, sections=True)
    asked = expand_query(question, finder.tokeniser)  # prose may be in any language
    vector = await finder.embed(question, question)
    matches, message = await gather_or_cancel(
        finder.code.search(asked.text, vector, where, BY_WORDS, nearest=BY_MEANING),
        finder.look_up_words(question, asked.groups, project_id, documents=True),
    )
    found = Candidates(matches.by_words, matches.by_vector)
    if with_pages and under and (pages := await _find_pages(finder, project_id)):
        there = replace(where, under=None, files=tuple(page.path for page in pages))
        more = await finder.code.search(asked.text, vector, there, BY_WORDS, nearest=BY_MEANING)
        found = Candidates(
            _sort_matches(matches.by_words, more.by_words),
            _sort_matches(matches.by_vector, more.by_vector),
        )
    sections: dict[str, Scope] = {}
    if unread is not None:
        searching = SearchWhileReading(
            finder.store, None, finder.tokeniser, unread.choose(is_document_path, is_aside_document)
        )
        found, sections, known = await searching.add_unread(found, asked, where.under)
        message = message._replace(known={*message.known, *known})
    is_aside = is_never_aside if is_for_records(question) else is_aside_document
    ranked = rank(
        question, found, finder.tokeniser, limit, finder.weights, asked.groups, is_aside, own=0.0
    )
    ranked, sections = await finder.load(ranked, sections)
    best = [sections[place.id] for place in ranked[:BEST_HITS]]
    likely = estimate_relevance(
        message, found, best, finder.tokeniser, finder.threshold, is_aside, prose=True
    )
    dates = await _find_dates(finder, project_id, sections.values())
    return [
        CodeHit(
            (section := sections[place.id]),
            place.score,
            place.signals,
            likely * place.score,
            dates.get(section.file),
        )
        for place in ranked
    ]


def _sort_matches(some: Sequence[ScopeMatch], more: Sequence[ScopeMatch]) -> list[ScopeMatch]:
    return sorted((*some, *more), key=lambda match: -match.score)


async def _find_dates(
    finder: CodeFinder, project_id: str, sections: Iterable[Scope]
) -> Mapping[str, datetime | None]:
    """Return when the pages among the files of sections were fetched, by address."""
    if not any(is_web_address(section.file) for section in sections):
        return {}
    return {page.path: page.mtime for page in await _find_pages(finder, project_id)}


async def _find_pages(finder: CodeFinder, project_id: str) -> Sequence[File]:
    return await finder.store.records.find(FILE, FileFilter(project_id, pages=True))
