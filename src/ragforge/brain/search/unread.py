"""Unread: the files that the first reading of a project has not reached, and what is in them.

Words point at files, and the few best are parsed for one question. Nothing is stored: that would
wait for the reading, or disturb it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from ragforge.brain.files.walk import FoundFile, WantedFiles
from ragforge.brain.languages.language import is_under
from ragforge.brain.languages.table import is_document_path
from ragforge.brain.parse.read_source import NeedsFence, read_file
from ragforge.domain.code import MODULE, SECTION, Reading, Scope, ScopeMatch, ScopeName
from ragforge.domain.kinds import STORED, Redactor
from ragforge.domain.schema import SCOPE
from ragforge.domain.text import Json
from ragforge.ports.search_index import CountWords, Tokeniser, WordCounts
from ragforge.records import dataclass
from ragforge.search.question.wording import WordGroup
from ragforge.search.rank import Candidates, rank
from ragforge.search.rank_paths import is_secondary
from ragforge.search.scope_words import score_counts, weigh_words

POINTED = 24
"""How many files are parsed for one question."""
POINTED_BYTES = 500_000
POINTED_DOCUMENTS = 10
"""A document says by its words what it is about; code is ranked by what it defines."""
CANDIDATES = 400


def is_code(path: str) -> bool:
    """Tell whether code search may return what is in a file."""
    return not is_document_path(path)


@dataclass(frozen=True)
class Unread:
    """A project whose first reading is not finished."""

    root: Path
    project_id: str
    files: tuple[FoundFile, ...]  # all
    read: frozenset[str] = frozenset()  # the paths of those that are stored
    count: CountWords | None = None  # None: only paths point at files
    redactor: Redactor = STORED
    wanted: WantedFiles | None = None
    is_meant: Callable[[str], bool] = is_code  # which files are searched
    is_secondary: Callable[[str], bool] = is_secondary  # which of them are seldom meant
    limit: int = POINTED

    def choose(
        self, is_meant: Callable[[str], bool], is_secondary: Callable[[str], bool]
    ) -> Unread:
        """Return the same for documents and the like; what is read next is left to code."""
        return replace(
            self, is_meant=is_meant, is_secondary=is_secondary, limit=POINTED_DOCUMENTS, wanted=None
        )

    @property
    def reading(self) -> Reading:
        return Reading(sum(file.path in self.read for file in self.files), len(self.files))

    async def count_words(self, words: Sequence[str]) -> tuple[WordCounts, dict[str, float]]:
        """Return how often words occur in the files, and what each word is worth."""
        paths = list(self.sizes)
        counts = {} if self.count is None else await self.count(paths, words)
        return counts, weigh_words(words, counts, len(paths))

    async def list_absent(self, words: Sequence[str], tokeniser: Tokeniser) -> list[str]:
        """Return those of the words that occur in no file; none if words cannot be counted."""
        if not words or self.count is None:
            return []
        stems = {word: tokeniser.query(word) for word in words}
        paths = [file.path for file in self.files]
        counts = await self.count(paths, [stem for some in stems.values() for stem in some])
        held = {stem for counted in counts.values() for stem in counted}
        return [word for word, some in stems.items() if held.isdisjoint(some)]

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The sizes of all files that are searched, by path."""
        return {file.path: file.size for file in self.files if self.is_meant(file.path)}

    def point(
        self,
        question: str,
        counts: WordCounts,
        worth: Mapping[str, float],
        groups: Sequence[WordGroup],
        tokeniser: Tokeniser,
        under: str | None = None,
    ) -> list[str]:
        """Return the unread files that a question's words and the paths point at, best first.

        The process that reads the project is asked to read them next.
        """
        scores = score_counts(counts, self.sizes, worth)
        found = [
            ScopeMatch(_name_file(path), scores.get(path, 0.0))
            for path in self.sizes
            if path not in self.read
            and is_under(path, under)
            and (path in scores or any(word in path.lower() for word in worth))
        ]
        found.sort(key=lambda match: (-match.score, match.id))
        likely = Candidates(found[: CANDIDATES * self.limit // POINTED])
        ranked = rank(
            question, likely, tokeniser, self.limit, groups=groups, secondary=self.is_secondary
        )
        pointed = [one.id for one in ranked]
        if self.wanted is not None:
            self.wanted.add(pointed)
        return pointed

    def parse(self, paths: Iterable[str]) -> list[Scope]:
        """Return what is in files, without its secrets, up to a number of bytes."""
        left = POINTED_BYTES
        scopes: list[Scope] = []
        for path in paths:
            if self.sizes[path] > left:
                continue
            left -= self.sizes[path]
            scopes += self._parse_file(path)
        return scopes

    def _parse_file(self, path: str) -> list[Scope]:
        root = os.path.realpath(self.root)
        try:
            found = read_file(root, self.project_id, path, 0, is_fenced=False)
        except NeedsFence:  # the reading parses it in a process that can be killed
            return []
        scopes = found.parsed.scopes if found.parsed is not None else ()
        kept = [scope for scope in scopes if scope.type != SECTION or not is_code(path)]
        if self.redactor.is_clean(_list_texts(kept)):
            return kept
        return [SCOPE.redact(scope, self.redactor) for scope in kept]


def _list_texts(scopes: Iterable[Scope]) -> Iterator[Json]:
    """Yield the texts of a file's scopes, without those that are inside the longest one."""
    texts = {text for scope in scopes for text in SCOPE.list_texts(scope) if isinstance(text, str)}
    longest = max(texts, key=len, default="")
    yield longest
    yield from (text for text in texts if text not in longest)


def _name_file(path: str) -> ScopeName:
    return ScopeName(path, path.rpartition("/")[2], path, MODULE, path, 1, 1, "")
