"""Byte pairs: the same tokens as the model's own tokeniser gives."""

from __future__ import annotations

import re
from array import array
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from ragforge.adapters.embedders import bundled
from ragforge.adapters.embedders.byte_pairs import BytePairs

FILE = bundled._find_package() / bundled._TOKENISER
PAIRS = BytePairs(FILE)
THEIRS = Tokenizer.from_file(str(FILE))
WORD = re.compile(r"[^\W_]+")


def theirs(word: str) -> list[int]:
    tokens: list[int] = THEIRS.encode(word, add_special_tokens=False).ids
    return tokens


def ours(word: str) -> list[int]:
    return array("H", PAIRS.tokens(word)).tolist()


def test_the_words_of_this_project_have_the_tokens_of_the_model() -> None:
    sources = Path(__file__).parents[4].glob("src/**/*.py")
    words = {word for path in sources for word in WORD.findall(path.read_text("utf-8").lower())}

    assert len(words) > 1_000
    assert {word: ours(word) for word in words} == {word: theirs(word) for word in words}


@settings(deadline=None)
@given(st.from_regex(WORD, fullmatch=True))
@example("aaaaaaaaaaa")
@example("größenänderung")
@example("数据库")
@example("\U0001d49c")
def test_any_word_has_the_tokens_of_the_model(word: str) -> None:
    assert ours(word) == theirs(word)
