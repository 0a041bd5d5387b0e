"""Words: what a query finds, the same on every engine and for everything that is searched."""

from __future__ import annotations

import pytest

from ragforge.domain.code import CodeFilter
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.schema import CONVERSATION, PROJECT, SUMMARY, TURN
from ragforge.domain.summaries import SummaryFilter
from ragforge.ports.store import Store
from tests.fakes.builders import conversation, parsed, project, scope, summary, user
from tests.fakes.code import find_by_words
from tests.fakes.hostile import HOSTILE_QUERIES


class Texts:
    """Texts of one kind by id, and the search over them."""

    def __init__(self, store: Store, kind: str) -> None:
        self._store = store
        self._kind = kind

    async def put(self, **texts: str) -> None:
        talk, code = self._store.timeline, self._store.code
        if self._kind in ("scope", "docstring"):
            await self._store.records.put(PROJECT, project(uuid="p"))
            column = "source" if self._kind == "scope" else "docstring"
            scopes = [scope("x", uuid=name, **{column: text}) for name, text in texts.items()]
            await code.replace_files("p", [parsed("x.py", *scopes)])
            return
        await self._store.records.put(CONVERSATION, conversation(uuid="c"))
        if self._kind == "turn":
            await talk.append("c", [user(text, uuid=name) for name, text in texts.items()])
            return
        for name, text in texts.items():
            await self._store.timeline.save_summary(
                summary("c", uuid=name, conversation_summary=text)
            )

    async def find(self, query: str, limit: int = 9) -> set[str]:
        if self._kind == "turn":
            found = (
                await self._store.index.search(TURN, query, None, MemoryFilter(), limit, read=0)
            ).by_words
        elif self._kind == "summary":
            found = (
                await self._store.index.search(SUMMARY, query, None, SummaryFilter(), limit)
            ).by_words
        else:
            found = await find_by_words(self._store, query, CodeFilter(), limit)
        scores = [match.score for match in found]
        assert scores == sorted(scores, reverse=True)
        return {match.id for match in found}


@pytest.fixture(params=["turn", "summary", "scope"])
def texts(request: pytest.FixtureRequest, store: Store) -> Texts:
    return Texts(store, request.param)


@pytest.fixture(params=["turn", "summary", "docstring"])
def prose(request: pytest.FixtureRequest, store: Store) -> Texts:
    """What people write to each other."""
    return Texts(store, request.param)


async def test_identifiers_are_found_by_their_parts_and_whole(texts: Texts) -> None:
    await texts.put(
        camel="parseConfigFile",
        snake="parse_config_file",
        kebab="parse-config-file",
        other="nothing to see",
    )
    for query in ("config", "parseConfigFile", "parse_config_file", "FILE", "config parser file"):
        assert await texts.find(query) == {"camel", "snake", "kebab"}, query


async def test_words_are_found_by_their_stem(texts: Texts) -> None:
    await texts.put(a="we parse the headers", b="connections were refused")

    assert await texts.find("parsing") == {"a"}
    assert await texts.find("header") == {"a"}
    assert await texts.find("refusing a connection") == {"b"}


async def test_french_is_found_by_its_stems_without_accents_elisions_and_function_words(
    prose: Texts,
) -> None:
    await prose.put(
        deleted="Nous avons supprimé les fichiers de l'utilisateur dans le nœud.",
        sent="La requête est envoyée par le client.",
        how="a comment in the list",
    )
    for question in (
        "Comment sont supprimés les fichiers ?",
        "comment supprimer un fichier",
        "qu’est-ce que l’utilisateur a ?",
        "où est le noeud",
    ):
        assert await prose.find(question) == {"deleted"}, question
    assert await prose.find("envoyer des requetes") == {"sent"}


async def test_what_was_said_in_another_language_is_found_in_english(prose: Texts) -> None:
    await prose.put(
        french="Nous avons supprimé les vieux fichiers.",
        german="Wir haben das Passwort in der Datenbank geändert.",
        chinese="我们把会话保存到缓存里。",
        japanese="サーバーの再起動が必要です。",
        other="Nothing of the kind was said here.",
    )
    assert await prose.find("where were old files deleted?") == {"french"}
    assert await prose.find("is the session kept in a cache?") == {"chinese"}
    assert await prose.find("restart the server") == {"japanese"}
    assert await prose.find("which password did we change") == {"german"}


async def test_german_and_russian_are_found_by_their_stems(prose: Texts) -> None:
    await prose.put(
        german="Die Größe der Dateien wird beim Öffnen geprüft.",
        russian="Мы удалили временные файлы из каталога.",
    )
    assert await prose.find("wie groesse und datei") == {"german"}
    assert await prose.find("где временный файл?") == {"russian"}


async def test_case_does_not_matter(texts: Texts) -> None:
    await texts.put(a="ZEBRA", b="Straße", c="ΑΘΗΝΑ")

    assert await texts.find("zebra") == {"a"}
    assert await texts.find("STRAßE") == {"b"}
    assert await texts.find("αθηνα") == {"c"}


async def test_scripts_without_spaces_are_found_by_their_middle(texts: Texts) -> None:
    await texts.put(
        chinese="我们需要修复数据库连接的问题",
        japanese="データベース接続を直す",
        kana="ひらがなで書く",
        thai="ฐานข้อมูลมีปัญหา",
        korean="데이터베이스연결을 고친다",
        mixed="fix 線路cable now",
        other="какой-то другой текст",
    )
    wanted = {"数据库": "chinese", "修": "chinese", "接続": "japanese", "がな": "kana"}
    wanted |= {"ข้อมูล": "thai", "베이스": "korean", "cable": "mixed", "другой": "other"}
    for query, name in wanted.items():
        assert await texts.find(query) == {name}, query


async def test_accents_do_not_matter_however_they_are_written(texts: Texts) -> None:
    spellings = {"composed": "caf\u00e9", "apart": "cafe\u0301", "capital": "CAFÉ", "bare": "cafe"}
    await texts.put(**spellings, other="the tea house")

    for query in ("café", "cafe\u0301", "cafe", "Café"):
        assert await texts.find(query) == set(spellings), query


async def test_scripts_written_from_right_to_left_are_found(texts: Texts) -> None:
    await texts.put(hebrew="שלום עולם", arabic="مرحبا بالعالم")

    assert await texts.find("עולם") == {"hebrew"}
    assert await texts.find("مرحبا") == {"arabic"}


@pytest.mark.parametrize(
    "query", ["", " ", "\n\t", "?!.,;", "-- // ()", "👍🏽", "\x00", "___", "%"]
)
async def test_a_query_without_words_finds_nothing(texts: Texts, query: str) -> None:
    await texts.put(a="zebra ?!.,; -- 👍🏽", b="")
    assert await texts.find(query) == set()


async def test_any_of_the_words_is_enough(texts: Texts) -> None:
    await texts.put(a="zebra", b="giraffe", c="lion")
    assert await texts.find("zebra unknown giraffe") == {"a", "b"}


async def test_part_of_a_word_is_not_the_word(texts: Texts) -> None:
    await texts.put(a="zebracrossing", b="catalogue")
    assert await texts.find("zebra") == set()
    assert await texts.find("cat") == set()


async def test_the_syntax_of_search_engines_means_nothing(texts: Texts) -> None:
    await texts.put(wanted="zebra crossing", other="giraffe")

    for query in HOSTILE_QUERIES:
        expected = {"wanted"} if "zebra" in query else set()
        assert await texts.find(query) == expected, query


async def test_a_text_of_search_syntax_is_found_by_its_words(texts: Texts) -> None:
    await texts.put(wanted='NEAR("zebra" AND) OR NOT col:giraffe*', other="nothing")

    assert await texts.find("zebra") == {"wanted"}
    assert await texts.find("giraffe") == {"wanted"}


async def test_a_very_long_query_is_answered(texts: Texts) -> None:
    await texts.put(wanted="zebra crossing", other="giraffe")
    filler = " ".join(f"unknown{i}word" for i in range(20_000))

    assert await texts.find("zebra " + "?" * 100_000) == {"wanted"}
    assert await texts.find("zebra " * 20_000) == {"wanted"}
    assert "other" not in await texts.find(filler)


async def test_a_query_that_is_not_unicode_does_no_harm(texts: Texts) -> None:
    await texts.put(wanted="zebra crossing", other="giraffe")
    assert await texts.find("\ud83d zebra \udc00") == {"wanted"}


async def test_a_query_of_only_a_common_word_still_finds_texts(texts: Texts) -> None:
    await texts.put(wanted="what is this", other="giraffe")
    assert await texts.find("what") == {"wanted"}
