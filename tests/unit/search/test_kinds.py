"""Kinds: a plain word after "the function" names code; most words that follow do not."""

from __future__ import annotations

import pytest

from ragforge.search.question.code_names import find_named_code


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("the function authenticate", "authenticate"),
        ("what does the function authenticate do?", "authenticate"),
        ("Que fait la fonction authenticate ?", "authenticate"),
        ("la fonction « authenticate » plante", "authenticate"),
        ("was macht die Funktion authenticate genau", "authenticate"),
        ("die Methode update wirft einen Fehler", "update"),
        ("la función authenticate", "authenticate"),
        ("где функция authenticate вызывается", "authenticate"),
        ("a method named login", "login"),
        ("la méthode appelée login renvoie quoi", "login"),
        ("explain class Session", "Session"),
        ("dans le fichier settings", "settings"),
        ("la fonction export est où", "export"),
    ],
)
def test_what_follows_a_kind_of_scope_names_it(text: str, name: str) -> None:
    assert list(find_named_code(text)) == [name]


@pytest.mark.parametrize(
    "text",
    [
        "the function that parses",
        "the function returns a list",
        "why does the function fail when empty",
        "the class handles errors",
        "the file upload handler",
        "how does file upload work",
        "the file's owner",
        "class hierarchy of errors",
        "a class based view for editing",
        "interface design",
        "function composition",
        "how test function metadata is registered",
        "la fonction principale du programme",
        "la fonction qui lit les fichiers",
        "la fonction retourne une liste",
        "la fonction de rappel",
        "die Funktion aufrufen",
        "die Klasse die Dateien liest",
        "nothing of the kind",
        "the function",
        "",
    ],
)
def test_other_words_name_nothing(text: str) -> None:
    assert list(find_named_code(text)) == []
