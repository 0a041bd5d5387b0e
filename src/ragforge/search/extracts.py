"""Extracts: what of a long class, file or chapter matters for a question, with line numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ragforge.domain.bm25 import weigh_word
from ragforge.domain.code import SMALL, Scope, ScopeName
from ragforge.domain.text import shorten_end, to_one_line
from ragforge.patterns import compile_on_use
from ragforge.records import dataclass
from ragforge.search.words.tokenise import WORDS

PART_CHARS = 1_500
"""A longer member that has inner members is divided into them."""
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

CUT = "…"
_BEFORE = f"{CUT} "
_AFTER = f" {CUT}"
_END = compile_on_use(r"[.!?]\s+|\n\s*")
_PIECES = 3
"""A sentence longer than this part of the passage is divided, so that the passage can move."""


class _Member(NamedTuple):
    """A member of a scope, or a stretch of the scope's lines; lines count from 1."""

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


def _divide(scope: Scope, lines: Sequence[str], inner: Sequence[ScopeName]) -> list[_Member]:
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
            and one.type not in SMALL
            and not (one.type == "constant" and one.end_line - one.start_line < MIN_LINES)
        ),
        key=lambda one: (one.start_line, -one.end_line),
    )
    members: list[_Member] = []
    for place, one in enumerate(ordered):
        if members and one.start_line <= members[-1].end:
            continue  # inside the last member, or on its last line
        has_inner = place + 1 < len(ordered) and ordered[place + 1].start_line <= one.end_line
        if has_inner and measure(one.start_line, one.end_line) > PART_CHARS:
            continue  # its members follow
        label = one.signature or one.name
        members.append(_Member(one.start_line, one.end_line, label, one.qualified_name))
    parts: list[_Member] = []
    at = scope.start_line
    for member in members:
        parts += _divide_own(at, member.start - 1, lines, scope.start_line)
        parts.append(member)
        at = member.end + 1
    parts += _divide_own(at, scope.end_line, lines, scope.start_line)
    if parts[0].label:  # it begins with a member
        parts.insert(0, _Member(scope.start_line, scope.start_line - 1, "", ""))
    return parts


def _divide_own(start: int, end: int, lines: Sequence[str], first: int) -> Iterator[_Member]:
    """Yield stretches of own lines that are not blank at their ends."""
    is_head = start == first
    while start <= end and not lines[start - first].strip():
        start += 1
    while end >= start and not lines[end - first].strip():
        end -= 1
    if is_head and start <= end:  # the head is one part, and cut where its room ends
        yield _Member(start, end, "", "")
        return
    while start <= end:
        yield _Member(start, min(end, start + STRETCH_LINES - 1), "", "")
        start += STRETCH_LINES


def _cut(part: _Member, scope: Scope, lines: Sequence[str]) -> Sequence[str]:
    return lines[part.start - scope.start_line : part.end - scope.start_line + 1]


def _choose(
    parts: Sequence[_Member],
    scope: Scope,
    lines: Sequence[str],
    words: Collection[str],
    wanted: Collection[tuple[int, int]],
) -> list[_Member]:
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
    longest: dict[str, _Member] = {}  # of overloads the last is mostly the only one with code
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


def _format_entry(part: _Member) -> str:
    place = f"{part.start}" if part.start == part.end else f"{part.start}-{part.end}"
    return f"{place}  {shorten_end(to_one_line(part.label), ENTRY_CHARS)}"


def _lay_out(shown: dict[_Member, list[str]], others: Sequence[_Member], room: int) -> Extract:
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


class _Piece(NamedTuple):
    """A sentence, a line or a part of one, and which words of the query it contains."""

    start: int
    end: int
    words: Sequence[str]


def pick_passage(text: str, words: Mapping[str, float] | Collection[str], max_chars: int) -> str:
    """Return the part of a text that contains most of a query's words, in at most `max_chars`.

    The words are those of `WORDS.query`. Give them with weights if you know how rare they are;
    otherwise those count most that few sentences of the text contain. Of parts that are equally
    good the first is returned, so without any word it is the beginning. The part begins with a
    sentence where it can, and `…` marks where text was left out.
    """
    text = text.strip()
    if len(text) <= max_chars:
        return text
    room = max_chars - len(_BEFORE) - len(_AFTER)
    pieces = _split(text, max(room // _PIECES, 1), frozenset(words))
    weights = words if isinstance(words, Mapping) else _weigh_words(pieces)
    start = _find_best_start(pieces, weights, room)
    return _cut_passage(text, pieces, start, max_chars)


def keep_start(text: str, max_chars: int) -> str:
    """Return the beginning of a text, cut between words; a word is cut only if it is the first."""
    if len(text) <= max_chars:
        return text
    end = max(max_chars - len(_AFTER), 0)
    kept = _drop_half_word(text, end)
    return f"{kept}{_AFTER}" if kept else text[: max(max_chars - 1, 0)] + CUT


def _split(text: str, longest: int, words: Collection[str]) -> list[_Piece]:
    """Return the sentences and lines of a text in order, long ones in parts."""
    pieces: list[_Piece] = []
    for first, end in _find_sentences(text):
        start = first
        while start < end:
            part = text[start:end]
            if len(part) > longest:
                part = _drop_half_word(part, longest) or part
            held = [word for word in WORDS.document(part).split() if word in words]
            pieces.append(_Piece(start, start + len(part), held))
            start += len(part)
            while start < end and text[start].isspace():
                start += 1
    return pieces


def _find_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Return where each sentence or line begins and ends, without the space between them."""
    start = 0
    for found in _END.finditer(text):
        end = found.start() + (text[found.start()] != "\n")
        yield start, end
        start = found.end()
    yield start, len(text)


def _weigh_words(pieces: Sequence[_Piece]) -> Mapping[str, float]:
    """Return what each word is worth: the fewer pieces contain it, the more."""
    containing = Counter(word for piece in pieces for word in set(piece.words))
    return {word: weigh_word(len(pieces), count) for word, count in containing.items()}


def _find_best_start(pieces: Sequence[_Piece], weights: Mapping[str, float], room: int) -> int:
    """Return the piece with which the best passage begins.

    Different words count first, then how often they occur.
    """
    best, best_score = 0, (0.0, 0.0)
    held: Counter[str] = Counter()
    end = 0
    for start, piece in enumerate(pieces):
        while end < len(pieces) and (end <= start or pieces[end].end - piece.start <= room):
            if pieces[end].words:
                held.update(pieces[end].words)
            end += 1
        if piece.words or start == 0:
            score = _score_words(held, weights)
            if score > best_score:
                best, best_score = start, score
            held.subtract(piece.words)
    return best


def _score_words(held: Mapping[str, int], weights: Mapping[str, float]) -> tuple[float, float]:
    different = times = 0.0
    for word, count in held.items():
        if count > 0:
            weight = weights.get(word, 0.0)
            different += weight
            times += weight * count
    return different, times


def _cut_passage(text: str, pieces: Sequence[_Piece], first: int, max_chars: int) -> str:
    """Return the passage that begins with a piece, filled up with what is around it."""
    start = pieces[first].start
    room = max_chars - len(_BEFORE)
    while first > 0 and len(text) - pieces[first - 1].start <= room:
        first -= 1
        start = pieces[first].start
    before = _BEFORE if start else ""
    return before + keep_start(text[start:], max_chars - len(before))


def _drop_half_word(text: str, end: int) -> str:
    """Return the first `end` characters without a word that continues after them."""
    if end >= len(text) or text[end].isspace():
        return text[:end].rstrip()
    cut = max(text.rfind(" ", 0, end), text.rfind("\n", 0, end), text.rfind("\t", 0, end))
    return text[: cut + 1].rstrip()
