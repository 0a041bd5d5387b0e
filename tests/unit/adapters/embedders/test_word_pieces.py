"""Word pieces: the longest known parts of a word, from its left."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragforge.adapters.embedders import bundled
from ragforge.adapters.embedders.bundled import WordPieces, format_pieces, parse_pieces

KNOWN = [
    "t",
    "##t",
    "##e",
    "token",
    "##ise",
    "##iser",
    "to",
    "é",
    "##é",
    "数据",
    "##库",
    "s",
    "##s",
]


@pytest.fixture(scope="module")
def pieces() -> WordPieces:
    return WordPieces(format_pieces(KNOWN))


def split(pieces: WordPieces, word: str) -> list[str]:
    return [KNOWN[number] for number in array("H", pieces.split(word))]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("token", ["token"]),
        ("tokenisers", ["token", "##iser", "##s"]),
        ("tokenise", ["token", "##ise"]),
        ("toé", ["to", "##é"]),
        ("été", ["é", "##t", "##é"]),
        ("数据库", ["数据", "##库"]),
        ("", []),
    ],
)
def test_each_piece_is_the_longest_that_fits(
    pieces: WordPieces, word: str, expected: list[str]
) -> None:
    assert split(pieces, word) == expected


def test_a_piece_means_the_start_of_a_word_or_its_inside_and_not_both(
    pieces: WordPieces,
) -> None:
    assert split(pieces, "stoken") == ["s", "##t", "##e"]


def test_what_no_piece_covers_is_left_out(pieces: WordPieces) -> None:
    assert split(pieces, "zzz") == []
    assert split(pieces, "xtoken") == ["##t", "##e"]
    assert split(pieces, "tokenxs") == ["token", "##s"]


@settings(deadline=None)
@given(word=st.text("toknisers数据库éz", max_size=12))
def test_pieces_never_say_what_a_word_does_not(pieces: WordPieces, word: str) -> None:
    said = "".join(piece.removeprefix("##") for piece in split(pieces, word))
    letters = iter(word)

    assert all(letter in letters for letter in said)


def test_every_piece_of_the_bundled_table_is_looked_up_as_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stored = (bundled._FOLDER / "pieces.txt").read_bytes()
    numbers = parse_pieces(stored)
    monkeypatch.setattr(bundled, "FEW", len(numbers))
    pieces = WordPieces(stored)

    assert all(pieces._find(piece) == number for piece, number in numbers.items())


def test_the_first_pieces_are_looked_up_before_all_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = format_pieces(["lo", "login", "##op", "##s", "é"])
    words = ["login", "loops", "é", "logins", "nothing", "loop"]
    looked_up = [WordPieces(known).split(word) for word in words]

    monkeypatch.setattr(bundled, "FEW", 0)

    assert [WordPieces(known).split(word) for word in words] == looked_up
