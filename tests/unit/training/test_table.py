"""The small functions with which the bundled table is trained."""

from __future__ import annotations

import random

import numpy as np

from ragforge.domain.code import Scope
from training.evaluate import measure_ndcg
from training.mine_code import clean_subject, find_sections, format_bare, take_sentence
from training.mine_prose import clean, read_catalogue, read_pseudo
from training.mine_words import propose
from training.pack import ask
from training.pieces import Pieces, split_words
from training.quantise import quantise


def test_identifiers_are_split_into_words_in_lower_case() -> None:
    assert split_words("parseHTTPHeader(utf_8)") == ["parse", "http", "header", "utf", "8"]


def test_a_word_is_split_from_its_left_into_the_longest_known_pieces() -> None:
    pieces = Pieces(["para", "parse", "##rs", "##r", "##s", "x"])

    assert pieces.split("parsers") == (1, 2)
    assert pieces.split("x") == (5,)


def test_a_character_that_no_piece_covers_is_skipped() -> None:
    assert Pieces(["a", "##b"]).split("a-b") == (0, 1)
    assert Pieces(["a", "##b"]).split("zb") == (1,)


def test_the_first_sentence_of_a_docstring_asks_for_its_scope() -> None:
    told = "Return the `path` of a file. Raises nothing.\n\nMore about it."

    assert take_sentence(told) == "Return the path of a file."
    assert take_sentence("Too short.") == ""


def test_a_scope_is_shown_without_its_docstring() -> None:
    source = 'def load(path):\n    """Read all of a file."""\n    return open(path)'
    scope = Scope(
        name="load",
        qualified_name="load",
        type="function",
        file="files.py",
        start_line=1,
        end_line=3,
        source=source,
        hash="1",
        signature="def load(path)",
        docstring="Read all of a file.",
    )

    assert "Read all" not in format_bare(scope)
    assert "return open(path)" in format_bare(scope)


def test_subjects_that_say_little_are_left_out() -> None:
    assert clean_subject("fix(io): close the file after reading (#12)") == (
        "close the file after reading"
    )
    assert clean_subject("Bump version to 1.2 in setup") == ""


def test_a_heading_belongs_to_the_text_below_it() -> None:
    body = "words " * 20
    (section,) = find_sections(f"# How to begin\n\n{body}\n\n## Next\n\nshort")

    assert section.question == "How to begin"
    assert section.answer == body.strip()


def test_a_catalogue_gives_its_finished_translations() -> None:
    text = (
        'msgid "file not found"\nmsgstr "fichier "\n"introuvable"\n\n'
        '#, fuzzy\nmsgid "unsure"\nmsgstr "incertain"\n\nmsgid "none"\nmsgstr ""\n'
    )

    assert list(read_catalogue(text)) == [("fichier introuvable", "file not found")]


def test_messages_lose_placeholders_and_the_marks_of_the_test_language() -> None:
    assert clean("could not open %s: `name` {0}") == "could not open : name"
    assert read_pseudo("Rëfërëñçë") == "Reference"


def test_some_docstrings_become_questions() -> None:
    chance = random.Random(1)
    asked = {ask("Returns the path.", chance) for _ in range(50)}

    assert "Returns the path." in asked
    assert any(text.endswith("returns the path") for text in asked)


def test_a_row_of_the_table_keeps_its_direction_and_length() -> None:
    table = np.random.default_rng(3).normal(size=(5, 256)).astype("f4")
    rows, scales = quantise(table)

    assert rows.dtype == np.int8
    kept = rows.astype(float) * scales[:, None]
    assert np.abs(kept / np.abs(kept).max() - table / np.abs(table).max()).max() < 0.005


def test_the_gain_of_a_hit_falls_with_its_rank() -> None:
    assert measure_ndcg([4, 2], [{4}]) == 1.0
    assert 0.6 < measure_ndcg([2, 4], [{4}]) < 0.7
    assert measure_ndcg([2, 3], [{4}]) == 0.0


def test_the_word_that_goes_with_an_english_one_is_proposed_first() -> None:
    pairs = [
        ("打开文件", "Open file"),
        ("删除文件", "Delete file"),
        ("打开设置", "Open settings"),
        ("关闭", "Close"),
    ]

    found = propose(pairs, {"open", "file"}, "zh", limit=1)

    assert found["file"].keys() <= {"文件", "文", "件"}
    assert found["open"].keys() <= {"打开", "打", "开"}
