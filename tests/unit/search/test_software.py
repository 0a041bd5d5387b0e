"""Software: which messages read as if they were about a program."""

from __future__ import annotations

import pytest

from ragforge.search.question.code_names import contains_code
from ragforge.search.question.software import count_software_words, may_be_about_software


@pytest.mark.parametrize(
    "message",
    [
        "fix the failing tests",
        "Où est définie la fonction qui lit le fichier ?",
        "Comment sont vérifiés les mots de passe ?",
        "Wo werden die Dateien gelesen?",
        "Wie legt man die Testdatenbank an?",
        "¿Dónde se valida la contraseña del usuario?",
        "Dov'è la funzione che legge i parametri?",
        "what is `Cart` for",
        "look at src/shop/cart.py",
        "why does --verbose print nothing",
        "price_of",
        "round",  # by itself, it may be a name
    ],
)
def test_words_of_the_trade_and_code_are_recognised(message: str) -> None:
    assert may_be_about_software(message)


@pytest.mark.parametrize(
    "message",
    [
        "How do I make an apple pie with cinnamon?",
        "Wie backe ich einen Apfelkuchen mit Zimt?",
        "Quel vin servir avec un poisson grillé ?",
        "Who won the football world cup in 1998?",
        "Wie funktioniert das Herz?",
    ],
)
def test_prose_about_other_things_is_not(message: str) -> None:
    assert not may_be_about_software(message)


def test_a_word_is_known_with_its_endings_and_without_accents() -> None:
    once = count_software_words("paramètre")

    assert once.only == 1
    assert count_software_words("PARAMÈTRES") == once
    assert count_software_words("Funktionen").also == count_software_words("Funktion").also == 1


def test_prose_with_a_dash_or_an_abbreviation_shows_no_code() -> None:
    assert not contains_code("a well-known film, e.g. Vertigo - or not")
    assert not contains_code("Mr. Smith's 2.5 kg of apples")
