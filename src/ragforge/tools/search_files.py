"""search_files: find words in files and their names, tolerant of typos.

First all words that may be similar are counted: those that contain a piece of the query. They
are few, and compared exactly. Then the lines that contain the similar ones are found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial

from pydantic import Field

from ragforge.domain.text import Json
from ragforge.errors import InputError
from ragforge.llm.calls import Tool
from ragforge.records import dataclass
from ragforge.tools import fuzzy
from ragforge.tools.grep_files import Matches, add_context
from ragforge.tools.ripgrep import build_word_regex
from ragforge.tools.scan import MatchingLine, count_words, find_lines
from ragforge.tools.tool import Arguments, as_tool
from ragforge.tools.workspace import SECONDS, Deadline, Workspace

MANY_LINES = 20_000
"""How many lines are scored at most."""
AT_ONCE = 2_000
"""Words with this many occurrences in total are searched together."""
WORDS_AT_ONCE = 500
NAMES_AT_ONCE = 1_000
"""The deadline is checked after this many file names."""


class SearchArguments(Arguments):
    """What search_files is called with."""

    pattern: str = Field(description="Glob of the files, such as **/*.py, src/ or *.{ts,tsx}")
    query: str = Field(min_length=1, max_length=200, description="Words to look for")
    threshold: float = Field(
        0.7, ge=0.3, le=1.0, description="How alike they must be; 1 is the same word"
    )
    max_results: int = Field(50, ge=1, le=1_000, description="How many matches at most")
    context_lines: int = Field(
        0, ge=0, le=200, description="How many lines to show above and below each match"
    )


def make_search_tool(
    workspace: Workspace, fixed: Mapping[str, Json] | None = None, seconds: float = SECONDS
) -> Tool:
    """Return search_files for a model."""
    call = partial(search_files, workspace, seconds=seconds)
    return as_tool("search_files", SearchArguments, call, fixed=fixed)


async def search_files(
    workspace: Workspace, given: SearchArguments, seconds: float = SECONDS
) -> Matches:
    """Return the lines most similar to the query, by similarity, then path, then line.

    When the time is up, what was found by then. Raises BadPattern or OutsideProject, or
    InputError for a query without words.
    """
    deadline = Deadline(seconds)
    query = fuzzy.read_query(given.query)
    if not query.words:
        raise InputError(f"search_files: the query {given.query!r} has no words in it.")
    selected = await workspace.select(given.pattern, deadline)
    search = _FuzzySearch(workspace, selected.files, query, given, deadline)
    await search.search_contents()
    await deadline.run_in_thread(search.search_names)
    places = sorted(search.places.values(), key=_sort_key)
    kept = places[: given.max_results]
    return Matches(
        matches=await add_context(workspace.root, kept, given.context_lines, deadline),
        files_searched=len(selected.files),
        total_matches=len(places),
        truncated=len(kept) < len(places) or not (search.complete and selected.complete),
        timed_out=search.timed_out,
    )


@dataclass(slots=True)
class _FuzzySearch:
    """One running search."""

    workspace: Workspace
    files: Sequence[str]
    query: fuzzy.FuzzyQuery
    given: SearchArguments
    deadline: Deadline
    complete: bool = True
    timed_out: bool = False
    places: dict[tuple[str, int, bool], MatchingLine] = field(default_factory=dict)

    async def search_contents(self) -> None:
        """Search the lines of the files."""
        root, ripgrep = self.workspace.root, self.workspace.ripgrep
        regex = fuzzy.build_regex(self.query, self.given.threshold)
        counted, in_time = await count_words(root, ripgrep, self.files, regex, self.deadline)
        self._note(in_time)
        likeness = await self.deadline.run_in_thread(
            lambda: fuzzy.compare_words(self.query, counted, self.given.threshold)
        )
        for words, alike in self._group(likeness, counted):
            if self.timed_out or (self._is_one_word and self._has_enough):
                self.complete = False
                break
            limit = self.given.max_results if alike else MANY_LINES
            regex = build_word_regex(words)
            scanned = await find_lines(
                root, ripgrep, self.files, regex, False, limit, self.deadline
            )
            self.complete = self.complete and scanned.complete
            self._note(not scanned.timed_out)
            await self.deadline.run_in_thread(partial(self._score, scanned.lines, likeness))

    def search_names(self) -> None:
        """Search file names; whole paths if the query contains a slash."""
        by_path = "/" in self.given.query
        names = {path: path if by_path else path.rpartition("/")[2] for path in self.files}
        words = {word for name in names.values() for word in fuzzy.WORD.findall(name)}
        likeness = fuzzy.compare_words(self.query, words, self.given.threshold)
        for number, (path, name) in enumerate(names.items() if likeness else ()):
            if number % NAMES_AT_ONCE == 0 and self.deadline.has_passed:
                self._note(in_time=False)
                return
            self._add(
                MatchingLine(path, 1, path, 0, 0), name, len(path) - len(name), likeness, True
            )

    @property
    def _has_enough(self) -> bool:
        return len(self.places) >= self.given.max_results

    @property
    def _is_one_word(self) -> bool:
        return len(self.query.targets) == 1

    def _note(self, in_time: bool) -> None:
        self.timed_out = self.timed_out or not in_time
        self.complete = self.complete and in_time

    def _group(
        self, likeness: fuzzy.Likeness, counted: Mapping[str, int]
    ) -> Iterator[tuple[list[str], bool]]:
        """Yield words to search together, and whether they are all equally similar.

        For a query of one word the most similar come first: then the search may stop early. For
        several words, only those that every similar line must contain.
        """
        if self._is_one_word:
            ranked = sorted(likeness, key=lambda word: (-likeness[word][0], word))
            yield from _group_words(ranked, likeness, counted)
            return
        targets = range(len(self.query.targets))
        counts = [sum(counted[w] for w, near in likeness.items() if t in near) for t in targets]
        chosen = fuzzy.choose_needed(self.query, counts, self.given.threshold)
        words = sorted(word for word, near in likeness.items() if not chosen.isdisjoint(near))
        for first in range(0, len(words), WORDS_AT_ONCE):
            yield words[first : first + WORDS_AT_ONCE], False

    def _score(self, lines: Sequence[MatchingLine], likeness: fuzzy.Likeness) -> None:
        for line in lines:
            self._add(line, line.text, 0, likeness, False)

    def _add(
        self, line: MatchingLine, text: str, offset: int, likeness: fuzzy.Likeness, in_name: bool
    ) -> None:
        """Score a text and keep its line if it is similar to the query."""
        found = [
            (match, near)
            for match in fuzzy.WORD.finditer(text)
            if (near := likeness.get(match.group()))
        ]
        if not found:
            return
        similarity = fuzzy.score(self.query, [near for _, near in found])
        if similarity < self.given.threshold:
            return
        best = max(found, key=lambda each: max(each[1].values()))[0]
        start, end = best.start() + offset, best.end() + offset
        kept = MatchingLine(
            line.file, line.number, line.text, start, end, similarity=similarity, in_name=in_name
        )
        self.places[line.file, line.number, in_name] = kept


def _group_words(
    ranked: Sequence[str], likeness: fuzzy.Likeness, counted: Mapping[str, int]
) -> Iterator[tuple[list[str], bool]]:
    """Split words, most similar first, into groups; large groups are equally similar."""
    group: list[str] = []
    places = 0
    for word in ranked:
        same = not group or likeness[word] == likeness[group[-1]]
        full = places + counted[word] > AT_ONCE or len(group) >= WORDS_AT_ONCE
        if group and full and (not same or len(group) >= WORDS_AT_ONCE):
            yield group, likeness[group[0]] == likeness[group[-1]]
            group, places = [], 0
        group.append(word)
        places += counted[word]
    if group:
        yield group, likeness[group[0]] == likeness[group[-1]]


def _sort_key(line: MatchingLine) -> tuple[float, str, int, bool]:
    return -(line.similarity or 0.0), line.file, line.number, not line.in_name
