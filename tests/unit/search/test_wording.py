"""Wording: a question in any language, as it is looked for."""

from __future__ import annotations

from ragforge.search.tokenise import WORDS
from ragforge.search.wording import foreign, memory_wording


def test_a_question_in_english_is_left_alone() -> None:
    assert foreign("how are old files deleted") is None
    assert foreign("Paginator") is None
    assert memory_wording("how are old files deleted", WORDS).groups == ()


def test_what_english_code_does_not_use_is_asked_in_english() -> None:
    asked = foreign("Comment supprimer un cookie de la session ?")
    assert asked is not None
    assert asked.to_count() == ["supprimer", "delete", "remove"]  # the others are English

    wording = asked.for_code({"supprimer": 1, "delete": 90, "remove": 20}, WORDS)

    assert "supprimer" not in wording.text  # it stands in a test, perhaps
    assert wording.english == "delete remove cookie session"
    delete, cookie, session = wording.groups
    assert delete == {"delet", "remov"}
    assert "cooki" in cookie
    assert "session" in session


def test_a_word_that_the_code_uses_is_looked_for_with_its_english() -> None:
    asked = foreign("Où est lu le fichier ?")
    assert asked is not None

    wording = asked.for_code({"fichier": 30, "file": 100, "read": 9}, WORDS)

    assert {"fichier", "file", "read"} <= set(wording.text.replace("?", "").split())
    assert any({"fichier", "file"} <= group for group in wording.groups)


def test_a_word_that_only_looks_english_is_asked_in_english_all_the_same() -> None:
    asked = foreign("comment modifier le journal du client")
    assert asked is not None
    words = asked.for_code({}, WORDS).english.split()
    assert "change" in words
    assert "log" in words
    assert words[-1] == "client"


def test_words_with_one_meaning_stand_for_it_together() -> None:
    asked = foreign("où est vérifié le mot de passe")
    assert asked is not None

    wording = asked.for_code({"passe": 50, "mot": 50}, WORDS)

    assert "password" in wording.text
    assert "passe" not in wording.text  # it would find every `pass`
    assert wording.english == "check verify password"


def test_memory_is_searched_in_both_languages() -> None:
    wording = memory_wording("où est vérifié le mot de passe", WORDS)

    assert wording.text.startswith("où est vérifié le mot de passe")
    assert {"password", "check"} <= set(wording.text.split())
    assert any({"0pass", "password"} <= group for group in wording.groups)
