"""Language: which one a text is in, and what that says about its words."""

from __future__ import annotations

import pytest

from ragforge.search.words import language
from ragforge.search.words.foreign import _WORDS, ENGLISH, may_be_foreign
from ragforge.search.words.language import detect_language, get_stop_words, stem_word
from ragforge.search.words.scripts import split_runs
from ragforge.search.words.tokenise import WORDS
from ragforge.search.words.unspaced import holds_unspaced

QUESTIONS = {
    "french": [
        "Comment supprimer un cookie de la session ?",
        "ou est gere le timeout",
        "gestion des erreurs",
        "suppression fichiers temporaires",
        "l'utilisateur n'est pas connecté",
        "j’ai une erreur d’encodage",
        "la fonction authenticate",
    ],
    "german": [
        "Wie wird ein Cookie gelöscht?",
        "wo werden die Header gesetzt",
        "Datei löschen",
        "die Funktion authenticate",
        "warum schlaegt der Test fehl",
    ],
    "spanish": ["¿Cómo se elimina una cookie?", "donde se valida la contraseña"],
    "italian": ["come viene eliminato un cookie", "dov'è la funzione che legge i file"],
    "portuguese": ["como remover um cookie da sessão", "onde fica a função que lê arquivos"],
    "dutch": ["hoe wordt een cookie verwijderd", "waar worden de headers gezet"],
    "russian": ["Как удалить cookie?", "где проверяется пароль"],
    "chinese": ["会话保存在哪里", "通过 smtp 发送电子邮件"],
    "japanese": ["セッションはどこに保存されるか", "SMTPでメールを送信する"],
    "swedish": ["hur tar man bort en cookie"],
    "danish": ["hvordan sletter jeg en cookie"],
    "polish": ["jak usunąć plik"],
    "czech": ["jak smazat soubor a kde je"],
    "turkish": ["bir dosya nasıl silinir"],
    "finnish": ["miten tiedosto poistetaan"],
    "hungarian": ["hogyan lehet egy fájlt törölni"],
    "romanian": ["cum se șterge un fișier"],
    "greek": ["πώς διαγράφεται ένα αρχείο"],
    "indonesian": ["bagaimana cara menghapus file"],
    "arabic": ["كيف يتم حذف الملف"],
    "hindi": ["फ़ाइल को कैसे हटाएं"],
}
ENGLISH_QUESTIONS = [
    "how are cookies deleted",
    "comment parsing",
    "user's cookies",
    "what's the session's name, and why doesn't it expire",
    "send mail over smtp",
    "MigrationAutodetector",
    "naïve bayes classifier",
    "I've been to the café",
    "n s t d l j",
    "de facto standard of the la timezone",
    "how is 数据 written to the file",
    "plus operator",
    "die roll",
    "",
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [(question, name) for name, questions in QUESTIONS.items() for question in questions],
)
def test_function_words_tell_the_language(question: str, expected: str) -> None:
    assert WORDS.detect_language(question) == expected


@pytest.mark.parametrize("question", ENGLISH_QUESTIONS)
def test_everything_else_is_english(question: str) -> None:
    assert WORDS.detect_language(question) == ENGLISH


def test_english_reads_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def read() -> object:
        raise AssertionError("the table of languages was read")

    monkeypatch.setattr(language, "_load_table", read)
    for question in ("how does parseHTTPHeader work?", "prefetch related objects", "Paginator"):
        WORDS.query(question)
        assert WORDS.prose(question) == WORDS.document(question)


def test_every_word_that_makes_look_closer_tells_a_language() -> None:
    elided = {"l", "qu", "dell"}
    known = language._load_table().languages
    assert [w for w in _WORDS if w.lower() not in known and w.lower() not in elided] == []


@pytest.mark.parametrize(
    "name", [name for name in language._load_table().stop_words if name != ENGLISH]
)
def test_every_language_has_a_stemmer_and_is_looked_for(name: str) -> None:
    assert stem_word("abc", name)
    words = sorted(get_stop_words(name))
    assert may_be_foreign(words) or holds_unspaced("".join(words))
    assert detect_language(" ".join(words)) == name


@pytest.mark.parametrize(
    ("language_name", "words"),
    [
        ("french", "supprimé supprimée supprimer supprime supprimes"),
        ("french", "sécurité securite sécurités"),
        ("german", "Größe groesse Größen"),
        ("spanish", "configuración configuracion configuraciones"),
        ("portuguese", "configuração configurações"),
        ("russian", "файл файлы файлов файлами"),
        ("swedish", "filer filerna"),
    ],
)
def test_forms_of_a_word_share_a_stem(language_name: str, words: str) -> None:
    first, *others = (set(stem_word(word, language_name)) for word in words.split())
    assert all(first & other for other in others)


def test_accents_and_ligatures_are_folded() -> None:
    assert WORDS.document("nœud Œuvre ŒUVRE Straße søren łódź") == (
        "noeud oeuvr oeuvr strass soren lodz"
    )
    assert WORDS.query("où est le nœud de l’arbre")[:2] == ["noeud", "arbr"]


def test_elisions_and_function_words_are_not_looked_for() -> None:
    question = "Comment l'utilisateur n'est-il pas déconnecté d’office quand qu'il s'en va ?"
    telling = [word for word in WORDS.query(question) if not word.startswith("0")]
    assert telling == ["utilisateur", "deconnect", "offic"]


def test_identifiers_in_a_foreign_question_stay_what_they_are() -> None:
    question = "Où est appelée parseHTTPHeader dans la classe SessionKey ?"
    words = WORDS.query(question)
    assert {"parsehttpheader", "pars", "http", "header", "sessionkey"} <= set(words)
    assert not any(word.startswith("0") and "http" in word for word in words)


def test_a_text_in_another_language_is_also_found_by_its_stems_and_in_english() -> None:
    said = "Nous avons supprimé les fichiers.\nTraceback: the file is missing"
    words = WORDS.prose(said).split()
    assert words[: len(split_runs(said))] == WORDS.document(said).split()
    assert {"0supprim", "0fichi", "delet", "file"} <= set(words)
    assert "0traceback" not in words  # each line has its language
