"""Passages: the part of a long text that matters most for a query, cut between words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ragforge.domain.bm25 import weigh_word
from ragforge.patterns import compile_on_use
from ragforge.search.tokenise import WORDS

CUT = "…"
_BEFORE = f"{CUT} "
_AFTER = f" {CUT}"
_END = compile_on_use(r"[.!?]\s+|\n\s*")
_PIECES = 3
"""A sentence longer than this part of the passage is divided, so that the passage can move."""


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
    return _cut(text, pieces, start, max_chars)


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
            score = _score(held, weights)
            if score > best_score:
                best, best_score = start, score
            held.subtract(piece.words)
    return best


def _score(held: Mapping[str, int], weights: Mapping[str, float]) -> tuple[float, float]:
    different = times = 0.0
    for word, count in held.items():
        if count > 0:
            weight = weights.get(word, 0.0)
            different += weight
            times += weight * count
    return different, times


def _cut(text: str, pieces: Sequence[_Piece], first: int, max_chars: int) -> str:
    """Return the passage that begins with a piece, filled up with what is around it."""
    start = pieces[first].start
    room = max_chars - len(_BEFORE)
    while first > 0 and len(text) - pieces[first - 1].start <= room:
        first -= 1
        start = pieces[first].start
    before = _BEFORE if start else ""
    return before + keep_start(text[start:], max_chars - len(before))


def _drop_half_word(text: str, end: int) -> str:
    """Return the first `end` characters without a word that goes on behind them."""
    if end >= len(text) or text[end].isspace():
        return text[:end].rstrip()
    cut = max(text.rfind(" ", 0, end), text.rfind("\n", 0, end), text.rfind("\t", 0, end))
    return text[: cut + 1].rstrip()
