"""Documents: search of documents, and of configuration files, which code search leaves out.

Documents are searched apart from code: prose has more of a question's words than any function. A
task often also means editing a README, a workflow or a manifest: for it, sections of documents and
chunks of configuration files are listed as short hits.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property, lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ragforge.brain.languages.table import detect_language, is_document_path
from ragforge.brain.search.code import BY_MEANING, CodeFinder, CodeHit
from ragforge.brain.search.unread import SearchWhileReading
from ragforge.concurrency import gather_or_cancel
from ragforge.domain.code import (
    CHUNK,
    CodeFilter,
    File,
    FileFilter,
    Scope,
    ScopeMatch,
    ScopeName,
    is_web_address,
)
from ragforge.domain.hits import MIN_RELEVANCE
from ragforge.domain.schema import FILE
from ragforge.domain.text import Json
from ragforge.domain.vectors import Vector
from ragforge.records import dataclass
from ragforge.search.code_relevance import BEST_HITS, estimate_relevance
from ragforge.search.extracts import pick_passage
from ragforge.search.question.message_kinds import is_for_records, is_small_talk
from ragforge.search.question.wording import expand_query
from ragforge.search.rank import Candidates, RankedScope, Scorer, order, rank
from ragforge.search.rank_paths import find_own_name

if TYPE_CHECKING:
    from ragforge.brain.search.unread import Unread


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
        message, found, best, finder.tokeniser, finder.threshold, is_aside, "documents"
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


MIN_SHARE = 0.4
"""A hit that scores less than this part of the best is left out."""
EXCERPT_CHARS = 160
BY_WORDS_IN_CHUNKS = 150
"""More than of documents: chunks are also of code in languages without a grammar."""
_LANGUAGES = frozenset(
    "cmake dockerfile groovy hcl ini json makefile nix text toml xml yaml".split()  # noqa: SIM905
)
_ENDINGS = frozenset("env example lock mod options rules sample template tmpl work".split())  # noqa: SIM905

_CONDUCT = re.compile(r"(^|/)code[-_]of[-_]conduct[^/]*$", re.IGNORECASE)
_HIDDEN_FOLDER = re.compile(r"(^|/)\.[^/]+/")

NAMED = 4.0
"""What a file counts whose path is in the question, or its name with the ending."""
CALLED = 0.5
"""What a file counts whose name without the ending is in the question: "the changelog"."""
DEPTH = 0.02
"""Less for each folder that a file is in: of files with the same name the outermost is meant."""
MAX_NAMES = 40
_FILE = re.compile(r"(?<![\w/.@])@?((?:[\w.@+~-]+/)*[\w.@+-]*\.[A-Za-z]\w{0,19})(?![\w/])")


@lru_cache(1 << 14)
def is_aside(path: str) -> bool:
    """Tell whether a file is seldom meant: a changelog, test data, a text in a hidden folder.

    Such texts are prompts for agents, mostly. Settings and workflows in hidden folders count.
    """
    if _HIDDEN_FOLDER.search(path) and is_document_path(path):
        return True
    return is_aside_document(path) or _CONDUCT.search(path) is not None


@dataclass(frozen=True, slots=True)
class DocumentHit:
    """A part of a document or configuration file that was found, and what it says."""

    file: str
    start_line: int
    end_line: int
    heading: str  # with those above it; empty in a configuration file
    excerpt: str  # the passage that fits the question best, on one line
    score: float  # 0..1, relative to the best

    @property
    def place(self) -> str:
        return f"{self.file}:{self.start_line}-{self.end_line} {self.heading}".rstrip()

    def to_json(self) -> Json:
        return {"place": self.place, "excerpt": self.excerpt}


@lru_cache(1 << 14)
def is_configuration(path: str) -> bool:
    """Tell whether a file in chunks is configuration, data or text, and not code.

    Files of an unknown kind count if their name has no ending, as `CODEOWNERS` or `.gitignore`.
    """
    if (language := detect_language(path)) is not None:
        return language in _LANGUAGES
    ending = PurePosixPath(path).suffix.removeprefix(".").lower()
    return not ending or ending in _ENDINGS


def _is_document_or_configuration(path: str) -> bool:
    return is_document_path(path) or is_configuration(path)


async def search_docs_and_config(
    finder: CodeFinder,
    question: str,
    project_id: str,
    under: str | None = None,
    limit: int = 8,
    shown: Collection[str] = (),
    unread: Unread | None = None,
) -> list[DocumentHit]:
    """Return parts of documents and configuration files that are relevant, best first.

    Nothing is returned for a question that has nothing to do with them. Scopes that are `shown`
    already are left out, and of equal texts all but the first. If the embedder fails, words and
    names still count. What is `unread` is searched by words.
    """
    if is_small_talk(question):
        return []
    asked = expand_query(question, finder.tokeniser)
    vector = await finder.embed(question, question)
    where, names = CodeFilter(project_id, under), find_named_files(question)
    found, message = await gather_or_cancel(
        _find_candidates(finder, asked.text, vector, names, where),
        finder.look_up_words(question, asked.groups, project_id, documents=True),
    )
    scopes: dict[str, Scope] = {}
    if unread is not None:
        searching = SearchWhileReading(
            finder.store,
            None,
            finder.tokeniser,
            unread.choose(_is_document_or_configuration, is_aside),
        )
        found, scopes, known = await searching.add_unread(found, asked, under)
        message = message._replace(known={*message.known, *known})
    enough = 3 * limit + len(shown)  # some are left out below
    scorer = DocumentScorer(
        question, found, finder.tokeniser, finder.weights, asked.groups, is_aside
    )
    ranked, scopes = await finder.load(order(scorer, found, enough), scopes)
    best = [scopes[one.id] for one in ranked[:BEST_HITS]]
    likely = estimate_relevance(
        message, found, best, finder.tokeniser, finder.threshold, is_aside, "documents"
    )
    if likely < MIN_RELEVANCE:
        return []
    words = frozenset(finder.tokeniser.query(asked.text))
    kept = [one for one in _leave_out_copies(ranked, scopes) if one.id not in shown]
    return [
        _make_hit(scopes[one.id], words, one.score)
        for one in kept[:limit]
        if one.score >= MIN_SHARE
    ]


async def _find_candidates(
    finder: CodeFinder, text: str, vector: Vector | None, names: Sequence[str], where: CodeFilter
) -> Candidates:
    """Return what words and meaning find, and what they find in the files that are named."""
    found = [await _search(finder, text, vector, where)]
    if names:
        holding = await _search(finder, " ".join(names), None, where)
        files = {match.scope.file for match in holding.by_words}
        named = tuple(sorted(file for file in files if is_named(file, names)))
        if named:
            found.append(await _search(finder, text, vector, replace(where, files=named)))
    return Candidates(
        _merge(match for some in found for match in some.by_words),
        _merge(match for some in found for match in some.by_meaning),
    )


async def _search(
    finder: CodeFinder, text: str, vector: Vector | None, where: CodeFilter
) -> Candidates:
    """Return sections of documents and chunks of configuration files."""
    search = finder.code.search
    sections, chunks = await gather_or_cancel(
        search(text, vector, replace(where, sections=True), BY_WORDS, nearest=BY_MEANING),
        search(
            text, vector, replace(where, types=(CHUNK,)), BY_WORDS_IN_CHUNKS, nearest=BY_MEANING
        ),
    )
    return Candidates(
        [*sections.by_words, *_keep_configuration(chunks.by_words)],
        [*sections.by_vector, *_keep_configuration(chunks.by_vector)],
    )


def _keep_configuration(matches: Iterable[ScopeMatch]) -> list[ScopeMatch]:
    return [match for match in matches if is_configuration(match.scope.file)]


def _merge(matches: Iterable[ScopeMatch]) -> list[ScopeMatch]:
    """Return each scope once, the best first."""
    found: dict[str, ScopeMatch] = {}
    for match in matches:
        found.setdefault(match.id, match)
    return sorted(found.values(), key=lambda match: -match.score)


def _leave_out_copies(
    ranked: Sequence[RankedScope], scopes: Mapping[str, Scope]
) -> list[RankedScope]:
    """Leave out what has the same text as something better, such as a copy for another agent."""
    first: dict[str, str] = {}
    for one in ranked:
        first.setdefault(scopes[one.id].source.strip(), one.id)
    return [one for one in ranked if first[scopes[one.id].source.strip()] == one.id]


def _make_hit(scope: Scope, words: Collection[str], score: float) -> DocumentHit:
    heading = "" if scope.type == CHUNK else scope.qualified_name
    text = scope.indexed_text
    text = text.strip().removeprefix(scope.signature) if heading else text
    excerpt = pick_passage(_tidy(text), words, EXCERPT_CHARS).replace("\n", " ")
    return DocumentHit(scope.file, scope.start_line, scope.end_line, heading, excerpt, score)


def _tidy(text: str) -> str:
    """Return a text without indentation and lines that have no letter or digit, such as rules."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if any(map(str.isalnum, line)))


def find_named_files(question: str) -> list[str]:
    """Return what in a question may be the path or name of a file: `@docs/api.md`, .gitignore.

    Others may be among them, such as `self.name`: looking for one that does not exist costs little.
    """
    found = (hit[1].removeprefix("./") for hit in _FILE.finditer(question))
    return list(dict.fromkeys(found))[:MAX_NAMES]


def is_named(path: str, names: Collection[str]) -> bool:
    """Tell whether one of these names is the end of a path, or the path is the end of a name."""
    return any(f"/{path}".endswith(f"/{name}") or name.endswith(f"/{path}") for name in names)


class DocumentScorer(Scorer):
    """The scores of documents and configuration files; `order` ranks them by these."""

    @cached_property
    def _names(self) -> list[str]:
        return find_named_files(self.question)

    def score_file(
        self, path: str, inside: Sequence[ScopeName], best: float, coherence: float
    ) -> float:
        score = super().score_file(path, inside, best, coherence)
        if is_named(path, self._names):
            score += NAMED
        elif (stem := self._words_of(find_own_name(path))) and stem <= self._asked:
            score += CALLED
        return score * (1 - DEPTH * min(path.count("/"), 5))

    def list_signals(self, name: ScopeName) -> tuple[str, ...]:
        signals = super().list_signals(name)
        return ("name", *signals) if is_named(name.file, self._names) else signals
