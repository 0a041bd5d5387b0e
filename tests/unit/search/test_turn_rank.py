"""Turn rank: turns are ranked by what was said and done in them, and by the session that asks."""

from __future__ import annotations

import pytest

from ragforge.domain.hits import Match
from ragforge.domain.passages import Passage
from ragforge.search.turn_rank import (
    DECAY,
    READ,
    LastTurn,
    SessionSoFar,
    TurnSignals,
    keep_best,
    rank_deeds,
    scale,
    weigh_ranks,
)


def done(turn: str, *files: str) -> Passage:
    return Passage(f"{turn}:done", turn, "c", "done", "asked", "", files)


def test_a_session_tells_its_last_words_and_which_files_count_how_much() -> None:
    session = SessionSoFar.of(
        [
            LastTurn("first", ["a.py"]),
            LastTurn("second", ["b.py"], ["a.py"]),
            LastTurn("third", [], ["c.py"]),
        ]
    )

    assert session.said == "second\nthird"
    assert session.files == pytest.approx({"a.py": DECAY**2, "b.py": DECAY, "c.py": READ})
    assert session
    assert not SessionSoFar.of([])


def test_deeds_count_more_the_fewer_files_a_turn_edited() -> None:
    ranked = rank_deeds(
        [done("one", "a.py"), done("many", "a.py", "b.py", "c.py", "d.py"), done("other", "e.py")],
        weigh_ranks(["a.py", "z.py"]),
    )

    assert ranked == pytest.approx({"one": 1.0, "many": 0.5})


def test_the_best_passage_counts_for_its_turn() -> None:
    found = keep_best([Match("t:0", 1.0), Match("t:done", 3.0), Match("u:1", 2.0)])

    assert found == {"t": 3.0, "u": 2.0}


def test_the_last_of_a_search_that_was_cut_scores_nothing() -> None:
    assert scale({"a": 4.0, "b": 2.0}, is_cut=True) == {"a": 1.0, "b": 0.0}
    assert scale({"a": 4.0, "b": 2.0}, is_cut=False) == {"a": 1.0, "b": 0.5}
    assert scale({}, is_cut=True) == {}


def test_a_long_turn_is_scored_by_its_best_piece_too_and_a_short_one_is_its_own() -> None:
    mixed = TurnSignals(pieces={"long": 1.0}).mix_pieces({"long": 0.5, "short": 1.0})

    assert mixed["short"] == pytest.approx(1.0)
    assert 0.5 < mixed["long"] < 1.0


def test_the_session_finds_turns_that_the_words_do_not() -> None:
    signals = TurnSignals(said_before={"b": 1.0}, done_before={"b": 1.0})

    scores = signals.add_to({"a": 1.0})

    assert scores["b"] > scores["a"] > 0
    assert max(scores.values()) == pytest.approx(1.0)


def test_without_signals_scores_stay_as_they_are() -> None:
    assert TurnSignals().add_to({"a": 0.7, "b": 0.1}) == {"a": 0.7, "b": 0.1}
    assert TurnSignals().mix_pieces({"a": 0.7}) == {"a": 0.7}
