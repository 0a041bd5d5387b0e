"""Turn rank: rank turns by what was said and done in them, and by the session that asks.

A turn is found by all of its words, by its best piece, by the files and lines that it edited, and
by what the session that asks has said and touched last. The weights were chosen on real transcripts
(`python -m benchmarks.desk`): scores, scaled to their best, mix better than ranks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from ragforge.domain.hits import Match
from ragforge.domain.passages import Passage, get_turn_id
from ragforge.records import dataclass

PIECE_SHARE = 0.4
"""The part of its score by words that a turn has from its best piece."""
DONE = 0.2
"""How much the words of what was done count beside those of what was said."""
DEEDS = 0.2
"""How much it counts that a turn edited the files that a question is about."""
SAID_BEFORE = 1.2
"""How much the words of the session's last turns count."""
DONE_BEFORE = 0.8
"""How much it counts that a turn edited the files that the session touched last."""
DECAY = 0.7
"""What is left of a file's weight with each further turn of the session."""
READ = 0.3
"""The weight of a file that the session only read."""
SAID_TURNS, SAID_CHARS = 2, 4_000
FILE_TURNS, SESSION_FILES = 5, 30
"""How much of a session tells its subject."""


class LastTurn(NamedTuple):
    """One of the last turns of a session."""

    said: str
    edited: Sequence[str] = ()  # files, relative to the project
    read: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class SessionSoFar:
    """The end of the session that asks: what was said, and which files count how much."""

    said: str = ""
    files: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, turns: Sequence[LastTurn]) -> SessionSoFar:
        """Return what the last turns of a session, oldest first, say of its subject."""
        said = "\n".join(turn.said for turn in turns[-SAID_TURNS:])[-SAID_CHARS:]
        files: dict[str, float] = {}
        for place, turn in enumerate(reversed(turns[-FILE_TURNS:])):
            for weight, names in ((1.0, turn.edited), (READ, turn.read)):
                for file in names:
                    files[file] = max(weight * DECAY**place, files.get(file, 0.0))
        best = sorted(files, key=lambda file: -files[file])[:SESSION_FILES]
        return cls(said, {file: files[file] for file in best})

    def __bool__(self) -> bool:
        return bool(self.said or self.files)


@dataclass(frozen=True, slots=True)
class TurnSignals:
    """Scores of turns, 0..1, besides those by all of their words."""

    pieces: Mapping[str, float] = field(default_factory=dict)
    done: Mapping[str, float] = field(default_factory=dict)
    deeds: Mapping[str, float] = field(default_factory=dict)
    said_before: Mapping[str, float] = field(default_factory=dict)
    done_before: Mapping[str, float] = field(default_factory=dict)

    @property
    def ids(self) -> frozenset[str]:
        """The turns that hold words of the question in a piece, or did what it is about."""
        return frozenset((*self.pieces, *self.done, *self.deeds))

    def join(self, other: TurnSignals) -> TurnSignals:
        """Return the higher score of both for each turn."""
        return TurnSignals(
            *(
                {turn: max(one.get(turn, 0.0), two.get(turn, 0.0)) for turn in {**one, **two}}
                for one, two in (
                    (self.pieces, other.pieces),
                    (self.done, other.done),
                    (self.deeds, other.deeds),
                    (self.said_before, other.said_before),
                    (self.done_before, other.done_before),
                )
            )
        )

    def add_to(self, scores: Mapping[str, float]) -> dict[str, float]:
        """Return scores with what these signals add to them, as shares of the best.

        No score exceeds 1.
        """
        best = max(scores.values(), default=0.0) or 1.0
        weighted = (
            (DONE, self.done),
            (DEEDS, self.deeds),
            (SAID_BEFORE, self.said_before),
            (DONE_BEFORE, self.done_before),
        )
        found = dict(scores)
        for weight, signal in weighted:
            for turn, score in signal.items():
                found[turn] = found.get(turn, 0.0) + weight * best * score
        highest = max(found.values(), default=0.0)
        return {turn: score / highest for turn, score in found.items()} if highest > 1 else found

    def mix_pieces(self, words: Mapping[str, float]) -> dict[str, float]:
        """Return the scores of turns by words with those of their best pieces.

        A short turn has no pieces: it is one itself.
        """
        if not self.pieces:
            return dict(words)
        best = max(words.values(), default=0.0) or 1.0
        return {
            turn: (1 - PIECE_SHARE) * words.get(turn, 0.0)
            + PIECE_SHARE * (best * self.pieces[turn] if turn in self.pieces else words[turn])
            for turn in {**words, **self.pieces}
        }


def keep_best(matches: Iterable[Match]) -> dict[str, float]:
    """Return turns with the scores of their best passages."""
    best: dict[str, float] = {}
    for match in matches:
        turn = get_turn_id(match.id)
        best[turn] = max(match.score, best.get(turn, 0.0))
    return best


def scale(scores: Mapping[str, float], is_cut: bool) -> dict[str, float]:
    """Return scores from 0 to 1, the best.

    Of a search that was cut at its limit the last one scores 0: what was left out is hardly worse.
    """
    if not scores:
        return {}
    highest = max(scores.values())
    lowest = min(scores.values()) if is_cut else 0.0
    room = max(highest - lowest, 1e-9)
    return {turn: (score - lowest) / room for turn, score in scores.items()}


def weigh_ranks(files: Sequence[str]) -> dict[str, float]:
    """Return files, the best first, with what each is worth."""
    return {file: 1 / (1 + rank) for rank, file in enumerate(files)}


def rank_deeds(passages: Iterable[Passage], worth: Mapping[str, float]) -> dict[str, float]:
    """Return turns by the worth of the files that they edited; many files say less of each."""
    found = {}
    for passage in passages:
        total = sum(worth.get(file, 0.0) for file in passage.files)
        if total:
            found[passage.turn_id] = total / len(passage.files) ** 0.5
    return scale(found, is_cut=False)
