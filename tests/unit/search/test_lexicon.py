"""The lexicon: what programmers say in other languages, in the English of code."""

from __future__ import annotations

import pytest

from ragforge.search.words.language import get_stop_words
from ragforge.search.words.lexicon import _FOLDER, _read_entries, load_lexicon
from ragforge.search.words.tokenise import WORDS

LANGUAGES = sorted(file.stem for file in _FOLDER.glob("*.txt"))
LEAST = {"french": 500, "german": 500, "spanish": 500, "chinese": 500, "japanese": 500}


def meanings(language: str, text: str) -> list[str]:
    """Return the likeliest English word for each thing that a text speaks of."""
    lexicon = load_lexicon(language)
    return [meaning.english[0] for meaning in lexicon.find_meanings(lexicon.split(text))]


@pytest.mark.parametrize(
    ("language", "text", "english"),
    [
        ("french", "Où sont supprimés les fichiers", ["delete", "file"]),
        ("french", "verifie le mot de passe", ["check", "password"]),
        ("french", "mise à jour des en-têtes", ["update", "header"]),
        ("french", "une sous-classe, valeur par défaut", ["subclass", "value", "default"]),
        ("french", "l'utilisateur", ["user"]),
        ("german", "löscht gelöscht geloescht löschen", ["delete"] * 4),
        ("german", "Fehlerbehandlung", ["error", "handle"]),
        ("german", "hochgeladene Dateien", ["upload", "file"]),
        ("german", "Proxyeinstellungen", ["proxy", "settings"]),
        ("german", "Standardkonfigurationsdatei", ["default", "configure", "file"]),
        ("german", "Unterhaltung", ["conversation"]),
        ("spanish", "dónde se comprueba la contraseña", ["check", "password"]),
        ("italian", "gli errori di connessione", ["error", "connection"]),
        ("portuguese", "variáveis de ambiente", ["variable", "environment"]),
        ("dutch", "gebruikersgegevens opgeslagen", ["user", "data", "save"]),
        ("russian", "удаляются временные файлы", ["delete", "temporary", "file"]),
        ("spanish", "los registros de ciertos niveles", ["log", "level"]),
        ("chinese", "请求超时会抛出哪个异常", ["request", "timeout", "raise", "exception"]),
        ("chinese", "日志文件是怎么删除的", ["log", "file", "delete"]),
        (
            "japanese",
            "サーバーの証明書はどこで検証されるのか",
            ["server", "certificate", "validate"],
        ),
        ("japanese", "サーバの設定を読む", ["server", "configure", "read"]),
        ("swedish", "filer", []),  # it has no lexicon
    ],
)
def test_words_are_found_in_every_form(language: str, text: str, english: list[str]) -> None:
    assert meanings(language, text) == english


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_lexicon_is_large_and_english_on_its_left(language: str) -> None:
    entries = list(_read_entries(language))
    assert len({word for word, _ in entries}) >= LEAST.get(language, 150)
    for word, english in entries:
        assert english, word
        assert all(meaning.isascii() and meaning.isalpha() for meaning in english), word
        assert WORDS.query(" ".join(english)), word


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_of_a_lexicon_means_something(language: str) -> None:
    lexicon = load_lexicon(language)
    words = {word.strip("*") for word, _ in _read_entries(language) if "_" not in word}
    known = words - get_stop_words(language)
    assert [word for word in known if not lexicon._parts_known(word)] == []
    assert len([word for word in known if [*lexicon.find_meanings([word])]]) > len(known) / 2


def test_words_that_are_english_already_mean_nothing_more() -> None:
    assert meanings("french", "la conversation du client et la page") == []
    assert meanings("german", "die Liste der Parameter im Server") == []


def test_words_that_only_look_english_mean_something() -> None:
    assert meanings("french", "modifier le journal") == ["change", "log"]
