"""Long questions: what the text of an issue, a stack trace or a pasted log points to.

A short question is all of one piece. A long one has a title that says what it is about, names of
code, calls on a stack with their files, and much that says nothing: versions, greetings, the
text of programs. So the parts that say something are read out (decision 10).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from ragforge.records import dataclass
from ragforge.search.code_names import find_identifiers, find_paths, split_name

LONG = 30
"""A question of more words is long. People's questions about code have 5 to 15."""
SUBJECT_WORDS = 20
"""A title with few names in the text is not enough: the words that follow it are added."""
MAX_NAMES = 80
"""How many names are looked up: a text with more repeats itself, or is a log."""

MAX_FRAMES = 30
"""How many calls are kept: the last ones, which are nearest to what failed."""
READ_CHARS = 20_000
"""So much is read of the beginning and of the end of a text: a log ends with the error."""

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


def _cut(text: str, most: int) -> str:
    """Return the beginning of a text, up to the end of a word."""
    return text if len(text) <= most else text[:most].rpartition(" ")[0] or text[:most]


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
