"""Long questions: what the text of an issue, a stack trace or a pasted log points to.

A short question is all of one piece. A long one has a title that says what it is about, names of
code, calls on a stack with their files, and much that says nothing: versions, greetings, the
text of programs. So the parts that say something are read out (decision 10).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from ragforge.domain.code import ScopeMatch, ScopeName
from ragforge.domain.vectors import MeaningWeights
from ragforge.ports.search_index import Tokeniser
from ragforge.records import dataclass
from ragforge.search.question.code_names import find_identifiers, find_paths, split_name
from ragforge.search.question.wording import WordGroup
from ragforge.search.rank import Candidates, Scorer, scale_to_best
from ragforge.search.rank_paths import FOLDERS_OWN, is_secondary

LONG = 30
"""A question of more words is long. People's questions about code have 5 to 15."""
SUBJECT_WORDS = 20
"""A title with few names in the text is not enough: the words that follow it are added."""
MAX_NAMES = 80
"""How many names are looked up: a text with more repeats itself, or is a log."""

MAX_FRAMES = 30
"""How many calls are kept: the last ones, which are nearest to what failed."""
READ_CHARS = 20_000
"""How much is read of the beginning and of the end of a text: a log ends with the error."""

_TITLE_CHARS, _HEAD_CHARS = 200, 600
_SHORTEST_NAME = 3
"""Shorter names in a program are variables."""
_FRAMES = (
    re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<function>[^\W\d]\w*))?'),
    re.compile(r"\bat (?P<function>[\w.$<>]+) ?\((?P<path>[^\s():]+):(?P<line>\d+)(?::\d+)?\)"),
    re.compile(
        r"(?<![\w./\\-])(?P<path>[\w./\\-]+\.[a-z]{1,4}):(?P<line>\d+)(?::in `(?P<function>\w+)')?"
    ),
)
"""Python; JavaScript and Java; Ruby, Go, Rust and compilers."""
_CALLED = re.compile(r"\b[^\W\d]\w*(?=\()")
_QUOTED = re.compile(r"`([^\W\d]\w*)(?:\(\))?`")

TITLE = 0.5
"""What being found only by the title counts, compared with title and names."""
RARE_NAME = 0.75
"""What a name counts that one scope has; one that ten have counts a tenth."""
IN_TITLE = 1.5
"""How many times that a name in the title counts."""
IN_FRAME, MENTIONED = 1.5, 1.5
"""What a function on the stack counts, and a file whose path is in the text."""
FILE_MEANING = 0.7
"""How much of its weight a file's vector keeps: a long text is about more than one thing."""
SECONDARY = 0.4
"""For tests and examples: an issue that speaks of them does not ask for them."""
OUTER_FRAME = 0.2
"""How much less a call on the stack counts than the one it made."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A call on a stack, or a line that a message names."""

    path: str
    line: int
    function: str  # empty if the text does not say


@dataclass(frozen=True, slots=True)
class LongQuestion:
    """The parts of a long question."""

    title: str
    head: str  # how it begins, for a vector: what follows is programs and logs
    subject: str  # the words to search for: those of the title, all names, some of the text
    names: tuple[str, ...]  # of code, in the order of the text; of qualified ones also the ends
    frames: tuple[Frame, ...]  # in the order of the text
    paths: tuple[str, ...]  # of files; dotted names with slashes

    @classmethod
    def parse(cls, text: str) -> LongQuestion | None:
        """Return the parts of a question, or None if it is short."""
        if len(text.split(maxsplit=LONG)) <= LONG:
            return None
        text = text.strip()
        if len(text) > 2 * READ_CHARS:
            text = f"{text[:READ_CHARS]}\n{text[-READ_CHARS:]}"
        title = _cut(text.partition("\n")[0], _TITLE_CHARS)
        identifiers = find_identifiers(text)
        frames = tuple(_find_frames(text))[-MAX_FRAMES:]
        written = (*identifiers, *_CALLED.findall(text), *_QUOTED.findall(text))
        forms = map(_list_forms, (*written, *(frame.function for frame in frames)))
        names = tuple(islice(dict.fromkeys(chain.from_iterable(forms)), MAX_NAMES))
        words = [*title.split(), *(name for name in names if "." not in name)]
        words += text[len(title) :].split()[: max(SUBJECT_WORDS - len(words), 0)]
        paths = tuple(_list_paths(text, identifiers))
        return cls(title, _cut(text, _HEAD_CHARS), " ".join(words), names, frames, paths)


def _cut(text: str, limit: int) -> str:
    """Return the beginning of a text, up to the end of a word."""
    return text if len(text) <= limit else text[:limit].rpartition(" ")[0] or text[:limit]


def _find_frames(text: str) -> Iterator[Frame]:
    hits = (hit for pattern in _FRAMES for hit in pattern.finditer(text))
    for hit in sorted(hits, key=re.Match.start):
        yield Frame(hit["path"].replace("\\", "/"), int(hit["line"]), hit["function"] or "")


def _list_forms(name: str) -> Iterator[str]:
    """Yield the last part of a name, its last two, and the types among the parts before."""
    *before, last = name.split(".")
    if len(last) >= _SHORTEST_NAME:
        yield last
        if before:
            yield f"{before[-1]}.{last}"
    yield from (part for part in before if part[:1].isupper() and len(part) >= _SHORTEST_NAME)


def _list_paths(text: str, identifiers: Iterable[str]) -> dict[str, None]:
    """Return the paths in a text, and dotted names as paths: `a.b.c` may be in `a/b.py`."""
    paths = (path.replace("\\", "/") for path in find_paths(text))
    dotted = ("/".join(split_name(name)) for name in identifiers if name.count(".") > 1)
    return dict.fromkeys((*paths, *dotted))


def add_title(
    by_words: Sequence[ScopeMatch], by_title: Sequence[ScopeMatch]
) -> Sequence[ScopeMatch]:
    """Return what a long question's words found, best first, with what only its title found."""
    scopes = {match.id: match.scope for match in (*by_words, *by_title)}
    words, title = scale_to_best(by_words), scale_to_best(by_title)
    scores = {one: words.get(one, 0.0) + TITLE * title.get(one, 0.0) for one in scopes}
    matches = [ScopeMatch(scopes[one], score) for one, score in scores.items()]
    return sorted(matches, key=lambda match: (-match.score, match.id))


class LongScorer(Scorer):
    """The scores of one long question; `order` ranks scopes by them."""

    again = 0.9  # the changes that an issue asks for are often in one file

    def __init__(
        self,
        question: LongQuestion,
        found: Candidates,
        tokeniser: Tokeniser,
        weights: MeaningWeights,
        groups: Sequence[WordGroup] = (),
    ) -> None:
        weights = weights._replace(file=FILE_MEANING * weights.file)
        super().__init__(question.subject, found, tokeniser, weights, groups, is_secondary)
        self._frames = question.frames[::-1]
        self._mentioned = [_Mention.read(path) for path in question.paths]
        self._names = {name: IN_TITLE if name in question.title else 1.0 for name in question.names}
        main = (scope for scope in found.by_name if not is_secondary(scope.file))
        self._shared = Counter(end for scope in main for end in _list_ends(scope))

    def weigh_secondary(self, question: str) -> float:
        return SECONDARY

    def score_name(self, name: ScopeName, builds: bool) -> float:
        """Return what a name counts that the question gives: the fewer have it, the more."""
        ends = [end for end in _list_ends(name) if end in self._names]
        rare = max((self._names[end] / max(self._shared[end], 1) for end in ends), default=0.0)
        return RARE_NAME * rare + IN_FRAME * self._find_frame(name.file, name.name)

    def score_path(self, path: str) -> float:
        module = f"/{_cut_ending(path)}"
        mentioned = max((one.measure_fit(module) for one in self._mentioned), default=0.0)
        return super().score_path(path) + MENTIONED * max(mentioned, self._find_frame(path))

    def _find_frame(self, path: str, function: str = "") -> float:
        """Return how near the end of a trace a file is named, 0..1; with one of its functions."""
        for place, frame in enumerate(self._frames):
            named = not function or frame.function.rpartition(".")[2] == function
            if named and f"/{frame.path}".endswith(f"/{path}"):
                return 1 / (1 + OUTER_FRAME * place)
        return 0.0


def _list_ends(scope: ScopeName) -> set[str]:
    """Return the names by which a question may call a scope."""
    return {scope.name, ".".join(scope.qualified_name.split(".")[-2:])}


class _Mention(NamedTuple):
    """A path in a text, or a dotted name."""

    module: str  # without the file's ending, after a slash
    is_file: bool

    @classmethod
    def read(cls, path: str) -> _Mention:
        return cls(f"/{_cut_ending(path)}", "." in path.rpartition("/")[2])

    def measure_fit(self, module: str) -> float:
        """Return how surely a file is meant, 0..1.

        A path may begin above the project or below it, but many files share a bare name. Of a
        dotted name any beginning may be the module.
        """
        if self.is_file:
            below = self.module.count("/") > 1 and module.endswith(self.module)
            return float(below or self.module.endswith(module))
        beginning, parts = self.module, self.module.count("/")
        while (left := beginning.count("/")) > 1:
            if module.endswith(beginning):
                return left / parts
            beginning = beginning.rpartition("/")[0]
        return 0.0


def _cut_ending(path: str) -> str:
    """Return a path as its module is imported."""
    folder, slash, name = path.rpartition("/")
    stem = name.partition(".")[0] or name
    return folder if stem in FOLDERS_OWN and slash else f"{folder}{slash}{stem}"
