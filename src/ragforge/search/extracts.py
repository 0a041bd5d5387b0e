"""Extracts: what of a long class, file or chapter matters for a question, with line numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from ragforge.domain.bm25 import weigh_word
from ragforge.domain.code import Scope, ScopeName
from ragforge.domain.text import shorten_end, to_one_line
from ragforge.records import dataclass
from ragforge.search.tokenise import WORDS

PART_CHARS = 1_500
"""A member that is longer and has members of its own is divided into them."""
STRETCH_LINES = 20
"""Lines outside of members are chosen in stretches of this many."""
HEAD_SHARE, OUTLINE_SHARE = 0.3, 0.25
"""The most that the head of a scope, and the outline of what is not shown, get of the room."""
LIKE_THE_BEST = 0.2
"""Members with less than this share of the best one's score are only listed."""
NAME = 3.0
"""How much a word in the name of a member counts, compared with one in its lines."""
LONG_LINES = 100
"""Words count half in a member of this length: it holds most words anyway."""
MIN_LINES = 3
"""Fewer lines of a member are not worth showing."""
ENTRY_CHARS = 120
"""How long an entry of the outline may be."""
REST = "[the rest]"


class _Part(NamedTuple):
    """A member of a scope, or a stretch of its own lines; lines count from 1."""

    start: int
    end: int
    label: str  # the signature of a member; "" for own lines
    name: str


@dataclass(frozen=True, slots=True)
class Extract:
    """Some lines of a scope, and the number in the file of each; 0 for a line that is not in it."""

    lines: tuple[str, ...]
    numbers: tuple[int, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def extract(
    scope: Scope,
    inner: Sequence[ScopeName],
    words: Collection[str],
    max_chars: int,
    wanted: Collection[tuple[int, int]] = (),
    known: Collection[int] = (),
) -> Extract | None:
    """Return the head of a scope, the members that match the words, and an outline of the rest.

    `inner` are the scopes in it, at any depth; those at the lines `wanted` match anyway. The words
    are those of `WORDS.query`. What has lines that are `known` is only listed. Returns None if the
    source is not the lines of the file.
    """
    if not scope.line_numbers:
        return None
    lines = scope.source.split("\n")
    head, *parts = _divide(scope, lines, inner)
    own = _cut(head, scope, lines)
    kept = _take(own, int(max_chars * HEAD_SHARE)) or list(own[:1])
    shown = {head: kept}
    room = max_chars - _measure(kept)
    listed = sum(len(_format_entry(part)) + 1 for part in parts if part.label)
    reserve = min(listed, int(max_chars * OUTLINE_SHARE))
    for part in _choose(parts, scope, lines, words, wanted):
        if any(line in known for line in range(part.start, part.end + 1)):
            continue
        is_best = len(shown) == 1  # it may have the room of the outline
        taken = _take(_cut(part, scope, lines), room if is_best else room - reserve)
        if len(taken) >= min(MIN_LINES, part.end - part.start + 1):
            shown[part] = taken
            room -= _measure(taken)
    return _lay_out(shown, [part for part in parts if part.label and part not in shown], room)


def _measure(lines: Iterable[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _take(lines: Sequence[str], room: int) -> list[str]:
    """Return the lines from the first on that fit."""
    taken: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        taken.append(line)
    return taken


def _divide(scope: Scope, lines: Sequence[str], inner: Sequence[ScopeName]) -> list[_Part]:
    """Return the parts of a scope in their order; the first is its head."""
    size = [0]
    for line in lines:
        size.append(size[-1] + len(line) + 1)

    def measure(start: int, end: int) -> int:
        return size[end - scope.start_line + 1] - size[start - scope.start_line]

    ordered = sorted(
        (
            one
            for one in inner
            if scope.start_line <= one.start_line
            and one.end_line <= scope.end_line
            and (one.start_line, one.end_line) != (scope.start_line, scope.end_line)
            and not (one.type == "constant" and one.end_line - one.start_line < MIN_LINES)
        ),
        key=lambda one: (one.start_line, -one.end_line),
    )
    members: list[_Part] = []
    for place, one in enumerate(ordered):
        if members and one.start_line <= members[-1].end:
            continue  # inside the last member, or on its last line
        has_inner = place + 1 < len(ordered) and ordered[place + 1].start_line <= one.end_line
        if has_inner and measure(one.start_line, one.end_line) > PART_CHARS:
            continue  # its members follow
        label = one.signature or one.name
        members.append(_Part(one.start_line, one.end_line, label, one.qualified_name))
    parts: list[_Part] = []
    at = scope.start_line
    for member in members:
        parts += _divide_own(at, member.start - 1, lines, scope.start_line)
        parts.append(member)
        at = member.end + 1
    parts += _divide_own(at, scope.end_line, lines, scope.start_line)
    if parts[0].label:  # it begins with a member
        parts.insert(0, _Part(scope.start_line, scope.start_line - 1, "", ""))
    return parts


def _divide_own(start: int, end: int, lines: Sequence[str], first: int) -> Iterator[_Part]:
    """Yield stretches of own lines that are not blank at their ends."""
    is_head = start == first
    while start <= end and not lines[start - first].strip():
        start += 1
    while end >= start and not lines[end - first].strip():
        end -= 1
    if is_head and start <= end:  # the head is one part, and cut where its room ends
        yield _Part(start, end, "", "")
        return
    while start <= end:
        yield _Part(start, min(end, start + STRETCH_LINES - 1), "", "")
        start += STRETCH_LINES


def _cut(part: _Part, scope: Scope, lines: Sequence[str]) -> Sequence[str]:
    return lines[part.start - scope.start_line : part.end - scope.start_line + 1]


def _choose(
    parts: Sequence[_Part],
    scope: Scope,
    lines: Sequence[str],
    words: Collection[str],
    wanted: Collection[tuple[int, int]],
) -> list[_Part]:
    """Return the parts that match, best first.

    Words of the scope's own name tell nothing about its members.
    """
    asked = frozenset(words)
    asked = asked.difference(WORDS.document(scope.name).split()) or asked
    held = [_find_words("\n".join(_cut(part, scope, lines)), asked) for part in parts]
    names = [WORDS.document(part.name.rpartition(".")[2]).split() for part in parts]
    counts = Counter(word for some in held for word in some)
    weights = {word: weigh_word(len(parts), count) for word, count in counts.items()}
    total = sum(weights.values()) + 1.0
    scores = {
        part: sum(weights[word] for word in has) / (1 + (part.end - part.start) / LONG_LINES)
        + NAME * sum(weights[word] for word in own if word in has) / max(len(own), 1)
        + (total if (part.start, part.end) in wanted else 0.0)
        for part, has, own in zip(parts, held, names, strict=True)
    }
    longest: dict[str, _Part] = {}  # of overloads the last is mostly the only one with code
    for part in parts:
        if part.end - part.start >= (known := longest.get(part.name, part)).end - known.start:
            longest[part.name] = part
    best = max((score for score in scores.values()), default=0.0)
    likely = [
        part
        for part in parts
        if scores[part] > 0
        and scores[part] >= LIKE_THE_BEST * best
        and (not part.label or longest[part.name] is part)
    ]
    return sorted(likely, key=lambda part: -scores[part])


def _find_words(text: str, asked: frozenset[str]) -> frozenset[str]:
    return asked.intersection(WORDS.document(text).split())


def _format_entry(part: _Part) -> str:
    place = f"{part.start}" if part.start == part.end else f"{part.start}-{part.end}"
    return f"{place}  {shorten_end(to_one_line(part.label), ENTRY_CHARS)}"


def _lay_out(shown: dict[_Part, list[str]], others: Sequence[_Part], room: int) -> Extract:
    """Return the lines that are shown, in their order, and the outline of the other members."""
    lines: list[str] = []
    numbers: list[int] = []
    last = None
    for part in sorted(shown):
        taken = shown[part]
        end = part.start + len(taken) - 1
        if last is not None and (end < part.end or part.start != last + 1):
            of_all = f" of {part.start}-{part.end}" if end < part.end else ""
            lines.append(f"[lines {part.start}-{end}{of_all}]")
            numbers.append(0)
        lines += taken
        numbers += range(part.start, part.start + len(taken))
        last = end
    entries = _take([_format_entry(part) for part in others], room)
    if len(entries) < len(others):
        entries.append(f"and {len(others) - len(entries)} more")
    if entries:
        lines += [REST, *entries]
        numbers += [0] * (len(entries) + 1)
    return Extract(tuple(lines), tuple(numbers))
