"""search_code: a long class is shown by the members that match, not by its first characters."""

from __future__ import annotations

from typing import Any

from ragforge.brain.search.code import CodeHit
from ragforge.brain.search.exploration import SOURCE_CHARS, cut_source
from ragforge.search.words.tokenise import WORDS
from ragforge.tools.search_code import CodeFound
from tests.unit.search.test_extracts import SERVICE, name_all, scopes_of

AUTH = scopes_of("auth.py", SERVICE)
INNER = name_all(AUTH)


def test_the_members_of_a_long_class_that_match_are_returned() -> None:
    hits = tuple(CodeHit(AUTH["AuthService"], 1.0, ("words",)) for _ in range(10))
    words = tuple(WORDS.query("check a password"))
    found: Any = CodeFound(hits, (), {"auth.py": INNER}, words).to_json()

    source = found["code"][0]["source"]
    assert "return hash(password) == user.hash" in source
    assert len(source) < SOURCE_CHARS


def test_a_long_class_that_is_opened_is_its_head_and_an_outline() -> None:
    source = cut_source(AUTH["AuthService"], INNER, (), SOURCE_CHARS)

    assert source.startswith("@final\nclass AuthService:")
    assert "14-15  def create_invoice(self, owner)" in source


def test_a_short_function_is_returned_whole() -> None:
    scope = AUTH["AuthService.check_password"]
    found: Any = CodeFound((CodeHit(scope, 1.0, ("words",)),)).to_json()

    assert found["code"][0]["source"] == scope.source


def test_a_model_is_told_which_words_are_nowhere_and_how_likely_a_place_is_meant() -> None:
    hit = CodeHit(AUTH["AuthService.check_password"], 1.0, ("words",), relevance=0.42)
    found: Any = CodeFound((hit,), unknown=("kubernetes",)).to_json()

    assert found["unknown"] == ["kubernetes"]
    assert found["code"][0]["score"] == 0.42
    assert "unknown" not in CodeFound((hit,)).to_json()
