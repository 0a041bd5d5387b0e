"""search_files: find words in files and their names, tolerant of typos.

First all words that may be similar are counted: those that contain a piece of the query. They
are few, and compared exactly. Then the lines that contain the similar ones are found.

Words are compared by edits, a swap of neighbours counting as one, in any case and whatever
their style: `user_name`, `userName` and `username` are the same. A word that holds the whole
of a longer one asked for is like it, too, but less than one with a slip in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from itertools import pairwise

from pydantic import Field
from rapidfuzz import process
from rapidfuzz.distance import OSA

from ragforge.domain.text import Json
from ragforge.errors import InputError
from ragforge.llm.calls import Tool
from ragforge.records import dataclass
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
    query = read_query(given.query)
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
    query: FuzzyQuery
    given: SearchArguments
    deadline: Deadline
    complete: bool = True
    timed_out: bool = False
    places: dict[tuple[str, int, bool], MatchingLine] = field(default_factory=dict)

    async def search_contents(self) -> None:
        """Search the lines of the files."""
        root, ripgrep = self.workspace.root, self.workspace.ripgrep
        regex = build_regex(self.query, self.given.threshold)
        counted, in_time = await count_words(root, ripgrep, self.files, regex, self.deadline)
        self._note(in_time)
        likeness = await self.deadline.run_in_thread(
            lambda: compare_words(self.query, counted, self.given.threshold)
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
        words = {word for name in names.values() for word in WORD.findall(name)}
        likeness = compare_words(self.query, words, self.given.threshold)
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
        self, likeness: Likeness, counted: Mapping[str, int]
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
        chosen = choose_needed(self.query, counts, self.given.threshold)
        words = sorted(word for word, near in likeness.items() if not chosen.isdisjoint(near))
        for first in range(0, len(words), WORDS_AT_ONCE):
            yield words[first : first + WORDS_AT_ONCE], False

    def _score(self, lines: Sequence[MatchingLine], likeness: Likeness) -> None:
        for line in lines:
            self._add(line, line.text, 0, likeness, False)

    def _add(
        self, line: MatchingLine, text: str, offset: int, likeness: Likeness, in_name: bool
    ) -> None:
        """Score a text and keep its line if it is similar to the query."""
        found = [
            (match, near) for match in WORD.finditer(text) if (near := likeness.get(match.group()))
        ]
        if not found:
            return
        similarity = score(self.query, [near for _, near in found])
        if similarity < self.given.threshold:
            return
        best = max(found, key=lambda each: max(each[1].values()))[0]
        start, end = best.start() + offset, best.end() + offset
        kept = MatchingLine(
            line.file, line.number, line.text, start, end, similarity=similarity, in_name=in_name
        )
        self.places[line.file, line.number, in_name] = kept


def _group_words(
    ranked: Sequence[str], likeness: Likeness, counted: Mapping[str, int]
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


WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W_A-Za-z0-9]+")
LONGEST_WORD = 100
MAX_WORDS = 12
SHORT = 2
"""Words of this length or less say nothing in a longer query."""
JOINED = 3
"""Up to this many words may be written as one."""
HELD_FROM = 4
HELD, MAX_HELD = 0.75, 0.85
"""The similarity of a word that contains a whole one of at least this many letters."""


@dataclass(frozen=True, slots=True)
class FuzzyQuery:
    """The words that are asked for and how much each counts; `joined` is all of them as one."""

    words: tuple[str, ...]
    weights: tuple[float, ...]
    joined: str | None

    @property
    def targets(self) -> tuple[str, ...]:
        """All that single words of a file are compared with."""
        return (*self.words, self.joined) if self.joined else self.words


def read_query(text: str) -> FuzzyQuery:
    """Split a query into its words."""
    parts = [part for word in WORD.findall(text) for part in split_identifier(word)]
    long_parts = list(dict.fromkeys(part for part in parts if len(part) > SHORT)) or parts
    words = tuple(sorted(long_parts, key=len, reverse=True)[:MAX_WORDS])
    whole = sum(map(len, words)) or 1
    joined = "".join(parts) if 1 < len(parts) <= JOINED else None
    return FuzzyQuery(words, tuple(len(word) / whole for word in words), joined)


def split_identifier(word: str) -> tuple[str, ...]:
    """Return the parts of an identifier, in lower case."""
    if word.islower() and word.isalpha():
        return (word,)
    return tuple([part.casefold() for part in _PART.findall(word)])


def cut_fragments(word: str, threshold: float) -> list[str]:
    """Cut a word into pieces of which every similar word contains at least one.

    Each allowed edit changes at most one piece. Pieces have at least two letters, since one
    letter would match everything; therefore a few words are missed.
    """
    edits = int((1 - threshold) * len(word) + 1e-9)
    count = max(1, min(edits + 1, len(word) // 2))
    cuts = [number * len(word) // count for number in range(count + 1)]
    return [word[a:b] for a, b in pairwise(cuts)]


def build_regex(query: FuzzyQuery, threshold: float) -> str:
    """Return a regex that matches every word that may be similar to one of the query."""
    pieces = {piece for word in query.targets for piece in cut_fragments(word, threshold)}
    return rf"\w*(?:{'|'.join(map(re.escape, sorted(pieces)))})\w*"


Likeness = Mapping[str, Mapping[int, float]]
"""For a word as it is written: the targets it is like, by number, and how much."""


def compare_words(query: FuzzyQuery, words: Iterable[str], threshold: float) -> Likeness:
    """Compare words with the targets of a query; words similar to none are left out."""
    lengths = [len(target) for target in query.targets]
    shortest, longest = int(min(lengths) * threshold), int(max(lengths) / threshold) + 1
    written: dict[str, list[str]] = {}  # by what of them is compared
    for word in words:
        if len(word) <= LONGEST_WORD:
            for form in _list_forms(word, shortest, longest):
                written.setdefault(form, []).append(word)
    forms = list(written)
    found: dict[str, dict[int, float]] = {}
    for number, target in enumerate(query.targets):
        near = process.extract_iter(
            target, forms, scorer=OSA.normalized_similarity, score_cutoff=threshold
        )
        alike = {form: score for form, score, _ in near}
        if len(target) >= HELD_FROM:
            for form in [form for form in forms if target in form]:
                held = HELD + (MAX_HELD - HELD) * len(target) / len(form)
                alike[form] = max(held, alike.get(form, 0.0))
        for form, score in alike.items():
            if score >= threshold:
                for word in written[form]:
                    scores = found.setdefault(word, {})
                    scores[number] = max(score, scores.get(number, 0.0))
    return found


def score(query: FuzzyQuery, line: Sequence[Mapping[int, float]]) -> float:
    """Return how like the query a line is, from the likenesses of its words.

    Each word of the query counts by its length with the most similar word of the line.
    """
    best: dict[int, float] = {}
    for scores in line:
        for number, similarity in scores.items():
            best[number] = max(similarity, best.get(number, 0.0))
    whole = best.get(len(query.words), 0.0)
    apart = sum(weight * best.get(number, 0.0) for number, weight in enumerate(query.weights))
    return round(max(whole, apart), 4)


def choose_needed(query: FuzzyQuery, counts: Sequence[int], threshold: float) -> frozenset[int]:
    """Return targets, rare ones first, of which every similar line has at least one.

    Without them the others would not reach the threshold.
    """
    chosen = set(range(len(query.words), len(query.targets)))
    left = 1.0
    for number in sorted(range(len(query.words)), key=lambda number: counts[number]):
        if left < threshold:
            break
        chosen.add(number)
        left -= query.weights[number]
    return frozenset(chosen)


def _list_forms(word: str, shortest: int, longest: int) -> Iterable[str]:
    """Return the forms of a word that are compared: its parts, and runs of them joined."""
    parts = split_identifier(word)
    count = len(parts)
    if count <= 1:
        return parts
    forms = set(parts)
    for first in range(count - 1):
        form = parts[first]
        for part in parts[first + 1 :]:
            form += part
            if len(form) > longest:
                break
            if len(form) >= shortest:
                forms.add(form)
    return forms
