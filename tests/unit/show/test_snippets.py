"""Snippets: the lines of a place that are shown."""

from __future__ import annotations

from ragforge.show.snippets import choose_lines, compile_words, find_best_lines

CODE = """\
@app.errorhandler
def log_exception(
    error,
):
    details = collect(error)

    for handler in handlers:
        handler.write(details)
    return details
""".splitlines()


def test_the_line_with_the_name_comes_first_though_the_words_are_below() -> None:
    shown = choose_lines(CODE, compile_words("where are handlers written"), 3, naming=1)

    assert [CODE[place] for place in shown] == [
        "def log_exception(",
        "    for handler in handlers:",
        "        handler.write(details)",
    ]


def test_without_words_it_continues_from_the_line_with_the_name() -> None:
    assert choose_lines(CODE, None, 3, naming=1) == [1, 2, 3]


def test_blank_lines_at_the_ends_are_left_out() -> None:
    assert choose_lines(["a", "", "b", ""], None, 4) == [0, 1, 2]
    assert choose_lines(["one", "x", "", "y two"], compile_words("two"), 3) == [0, 3]


def test_a_place_of_one_line_is_shown() -> None:
    assert choose_lines(["only"], compile_words("other"), 6) == [0]


def test_the_facts_about_a_page_are_left_out_and_blank_lines_before_its_text() -> None:
    page = ["---", "title: Installation", "---", "", "# Installation", "npm install"]

    assert choose_lines(page, compile_words("install"), 2) == [4, 5]
    assert choose_lines(["", "text"], None, 2) == [1]


def test_the_addresses_of_links_say_nothing() -> None:
    lines = ["[docs](https://example.org/maven/install)", "", "Maven builds it."]

    assert find_best_lines(lines, compile_words("install with maven"), 1) == 2


def test_lines_with_the_american_spelling_fit_a_british_question() -> None:
    assert find_best_lines(["nothing", "the license"], compile_words("the licence"), 1) == 1


def test_lines_with_different_words_are_better_than_one_word_often() -> None:
    lines = ["lease lease lease", "", "", "renew", "the lease"]

    assert find_best_lines(lines, compile_words("renew the lease"), 2) == 3
