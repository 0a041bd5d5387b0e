"""Passages: the part of a long text that matters most for a query, cut between words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragforge.search.extracts import CUT, keep_start, pick_passage
from ragforge.search.words.tokenise import WORDS

FILLER = "This sentence says something else that has nothing to do with it. "
ANSWER = "The hash of a password is compared in constant time."


def pick(text: str, query: str, max_chars: int = 120) -> str:
    return pick_passage(text, WORDS.query(query), max_chars)


def test_a_short_text_is_returned_whole() -> None:
    assert pick(f"  {ANSWER}\n", "password", 200) == ANSWER


def test_the_sentence_with_the_querys_words_is_picked_from_the_middle() -> None:
    passage = pick(FILLER * 40 + ANSWER + " " + FILLER * 40, "how are password hashes compared?")

    assert passage.startswith(f"{CUT} {ANSWER} ")
    assert passage.endswith(f" {CUT}")


def test_it_is_filled_up_with_what_comes_before_at_the_end_of_the_text() -> None:
    passage = pick(FILLER * 40 + ANSWER, "password", 130)

    assert passage == f"{CUT} {FILLER}{ANSWER}"


def test_without_a_word_of_the_query_it_is_the_beginning() -> None:
    passage = pick(ANSWER + " " + FILLER * 40, "giraffe")

    assert passage.startswith(ANSWER)
    assert passage.endswith(CUT)


def test_a_rare_word_counts_more_than_one_that_is_everywhere() -> None:
    common = "The store is opened and the store is closed. "
    text = common * 30 + "A checkpoint is written first. " + common * 30

    assert "checkpoint" in pick(text, "store checkpoint", 80)


def test_given_weights_decide() -> None:
    text = "Apples are red. " + FILLER * 20 + "Bananas are yellow. " + FILLER * 20
    apple, banana = WORDS.query("apples bananas")

    assert "Apples" in pick_passage(text, {apple: 2.0, banana: 1.0}, 80)
    assert "Bananas" in pick_passage(text, {apple: 1.0, banana: 2.0}, 80)


def test_the_first_of_equally_good_parts_is_picked() -> None:
    text = FILLER + "One lock a file. " + FILLER * 20 + "Two lock a file. " + FILLER * 20

    assert "One lock" in pick(text, "lock", 100)


def test_words_that_are_close_together_beat_words_that_are_apart() -> None:
    text = (
        "A lock. " + FILLER * 20 + "A lease. " + FILLER * 20 + "A lock has a lease. " + FILLER * 9
    )

    assert "A lock has a lease." in pick(text, "lock lease", 60)


def test_lines_are_sentences_and_dots_in_names_are_not() -> None:
    text = "- one\n" * 60 + "- see store.go for v1.2.3 of it\n" + "- two\n" * 60

    assert pick(text, "store.go", 60).startswith(f"{CUT} - see store.go for v1.2.3 of it\n")


def test_a_line_without_an_end_is_searched_too() -> None:
    text = "word " * 2_000 + "checkpoint " + "word " * 2_000

    assert "checkpoint" in pick(text, "checkpoint", 100)


def test_a_beginning_is_cut_between_words() -> None:
    assert keep_start("one two three", 13) == "one two three"
    assert keep_start("one two three four", 13) == f"one two {CUT}"
    assert keep_start("one two, three four", 10) == f"one two, {CUT}"
    assert keep_start("incomprehensible", 6) == f"incom{CUT}"


WORDY = st.text(st.sampled_from("ab. \n"), max_size=300)


@given(WORDY, st.integers(8, 80))
def test_a_passage_fits_and_consists_of_whole_words_of_the_text(text: str, maximum: int) -> None:
    passage = pick_passage(text, ["a", "bb"], maximum)

    assert len(passage) <= maximum
    bare = passage.removeprefix(f"{CUT} ").removesuffix(CUT).strip()
    assert bare in text
    if max(map(len, text.split()), default=0) <= maximum - 6:
        assert set(bare.split()) <= set(text.split())


@given(st.text(max_size=200), st.integers(1, 80))
def test_any_text_can_be_cut(text: str, maximum: int) -> None:
    assert len(pick_passage(text, WORDS.query(text[:20]), maximum)) <= maximum
    assert len(keep_start(text, maximum)) <= maximum
