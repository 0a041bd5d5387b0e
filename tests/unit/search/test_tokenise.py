"""Tokenising: what a word is, in code and in every script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragforge.search.words.tokenise import MAX_QUERY_WORDS, WORDS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("parseHTTPHeader", "parsehttpheader pars http header"),
        ("parse_http_header", "parsehttpheader pars http header"),
        ("SessionKey", "sessionkey session key"),
        ("utf8", "utf8 utf 8"),
        ("__init__", "init"),
        ("parsing parsed parses", "pars pars pars"),
        ("Café CAFÉ cafe\u0301", "cafe cafe cafe"),
        ("straße STRASSE", "strass strass"),
        ("Привет", "привет"),
        ("日本語", "日本 本語 日 本 語"),
        ("ファイルを読む", "ファ ァイ イル ルを を読 読む フ ァ イ ル を 読 む"),
        ("ｆｕｌｌ", "full"),
        ("수정했다", "수정 정했 했다 수 정 했 다"),
        ("การอ่าน", "กา าร รอ อ่ ่า าน"),
        ("readファイル", "read ファ ァイ イル フ ァ イ ル"),
        ("नमस्ते दुनिया", "नमस्ते दुनिया"),
        ("", ""),
        ("!? -- ***", ""),
        ("a\0b", "a b"),
    ],
)
def test_a_text_becomes_these_words(text: str, words: str) -> None:
    assert WORDS.document(text) == words


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("how does parseHTTPHeader work?", ["parsehttpheader", "work", "pars", "http", "header"]),
        ("how is it", ["how", "is", "it"]),
        ("the lock, the LOCK", ["lock"]),
        ("語", ["語"]),
        ("日本語", ["日本", "本語"]),
        ("", []),
        ('"*" OR NEAR(', ["near"]),
    ],
)
def test_a_question_is_searched_by_these_words(question: str, words: list[str]) -> None:
    assert WORDS.query(question) == words


def test_a_whole_log_as_a_question_gives_a_bounded_number_of_words() -> None:
    log = " ".join(f"error{n}" for n in range(10_000))

    assert len(WORDS.query(log)) == MAX_QUERY_WORDS


@given(st.text())
def test_words_are_letters_and_digits_between_single_spaces(text: str) -> None:
    document = WORDS.document(text)

    assert document.split() == ([] if not document else document.split(" "))
    assert not any(mark in document for mark in "\"'*()-:^{}[]\\\0\n")


@given(st.text(max_size=30))
def test_every_word_of_a_query_is_among_the_words_of_the_same_line(text: str) -> None:
    text = " ".join(text.lower().split())  # each line may be in another language
    assert set(WORDS.query(text)) <= set(WORDS.prose(text).split())
