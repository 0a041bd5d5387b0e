"""Wording: a question in any language, as it is looked for."""

from __future__ import annotations

from ragforge.search.tokenise import WORDS
from ragforge.search.wording import foreign, memory_wording


def test_a_question_in_english_is_left_alone() -> None:
    assert foreign("how are old files deleted") is None
    assert foreign("Paginator") is None
    assert memory_wording("how are old files deleted", WORDS).groups == ()


def test_what_the_code_does_not_know_is_asked_in_english_too() -> None:
    asked = foreign("Comment supprimer un cookie de la session ?")
    assert asked is not None
    assert "supprimer" in asked.unclear()

    wording = asked.for_code({"cookie", "session"}, WORDS)

    assert wording.text.startswith("Comment supprimer un cookie de la session ?")
    assert wording.english == "delete remove cookie session"
    delete, cookie, session = wording.groups
    assert {"delet", "remov"} <= delete
    assert "cooki" in cookie
    assert "session" in session


def test_what_the_code_knows_stays_as_it_is() -> None:
    asked = foreign("Où est lu le fichier ?")
    assert asked is not None
    assert asked.for_code({"fichier"}, WORDS).english == "read fichier"


def test_a_word_that_only_looks_english_is_asked_in_english_all_the_same() -> None:
    asked = foreign("comment modifier le journal")
    assert asked is not None
    assert asked.for_code({"modifier", "journal"}, WORDS).english.split()[:1] == ["change"]


def test_words_with_one_meaning_stand_for_it_together() -> None:
    asked = foreign("où est vérifié le mot de passe")
    assert asked is not None

    wording = asked.for_code({"passe", "mot"}, WORDS)

    assert "password" in wording.text
    assert "passe" not in wording.text  # it would find every `pass`
    assert wording.english == "check verify password"


def test_memory_is_searched_in_both_languages() -> None:
    wording = memory_wording("où est vérifié le mot de passe", WORDS)

    assert wording.text.startswith("où est vérifié le mot de passe")
    assert {"password", "check"} <= set(wording.text.split())
    assert any({"0pass", "password"} <= group for group in wording.groups)
