"""Wording: a question in any language, as it is looked for."""

from __future__ import annotations

import pytest

from ragforge.search.question.wording import expand_query, leave_out_project, translate
from ragforge.search.words.tokenise import WORDS


def test_the_name_of_the_project_is_not_what_a_question_is_about() -> None:
    asked = "How does Shop decide which discount to apply?"

    assert leave_out_project(asked, "shop") == "How does it decide which discount to apply?"


@pytest.mark.parametrize(
    "asked",
    ["How does Shop open?", "What is Shop?", "Where is a Shop made of its parts and walls?"],
)
def test_a_question_about_the_name_of_the_project_is_left_alone(asked: str) -> None:
    assert leave_out_project(asked, "shop") == asked


def test_a_question_in_english_is_left_alone() -> None:
    assert translate("how are old files deleted") is None
    assert translate("Paginator") is None
    assert expand_query("how are old files deleted", WORDS).groups == ()


def test_what_english_code_does_not_use_is_asked_in_english() -> None:
    asked = translate("Comment supprimer un cookie de la session ?")
    assert asked is not None
    assert asked.list_words_to_count() == [
        "supprimer",
        "delete",
        "remove",
    ]  # the others are English

    wording = asked.build_code_wording({"supprimer": 1, "delete": 90, "remove": 20}, WORDS)

    assert "supprimer" not in wording.text  # it is in a test, perhaps
    assert wording.english == "delete remove cookie session"
    delete, cookie, session = wording.groups
    assert delete == {"delet", "remov"}
    assert "cooki" in cookie
    assert "session" in session


def test_a_word_that_the_code_uses_is_looked_for_with_its_english() -> None:
    asked = translate("Où est lu le fichier ?")
    assert asked is not None

    wording = asked.build_code_wording({"fichier": 30, "file": 100, "read": 9}, WORDS)

    assert {"fichier", "file", "read"} <= set(wording.text.replace("?", "").split())
    assert any({"fichier", "file"} <= group for group in wording.groups)


def test_a_word_that_only_looks_english_is_asked_in_english_all_the_same() -> None:
    asked = translate("comment modifier le journal du client")
    assert asked is not None
    words = asked.build_code_wording({}, WORDS).english.split()
    assert "change" in words
    assert "log" in words
    assert words[-1] == "client"


def test_words_with_one_meaning_represent_it_together() -> None:
    asked = translate("où est vérifié le mot de passe")
    assert asked is not None

    wording = asked.build_code_wording({"passe": 50, "mot": 50}, WORDS)

    assert "password" in wording.text
    assert "passe" not in wording.text  # it would find every `pass`
    assert wording.english == "check verify password"


def test_memory_is_searched_in_both_languages() -> None:
    wording = expand_query("où est vérifié le mot de passe", WORDS)

    assert wording.text.startswith("où est vérifié le mot de passe")
    assert {"password", "check"} <= set(wording.text.split())
    assert any({"0pass", "password"} <= group for group in wording.groups)
