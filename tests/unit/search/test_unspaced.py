"""Unspaced: Chinese and Japanese text is split into known words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragforge.search.words.unspaced import CHINESE, JAPANESE, Segmenter, detect_unspaced


def test_the_longest_known_word_is_taken_and_the_unknown_between_stays_whole() -> None:
    split = Segmenter(["数据", "数据库", "连接", "的"], CHINESE).split

    assert split(["数据库连接的未知词"]) == ["数据库", "连接", "的", "未知词"]


def test_what_is_in_another_script_stays_as_it_is() -> None:
    assert Segmenter(["请求"], CHINESE).split(["json请求", "smtp"]) == ["json", "请求", "smtp"]


def test_hiragana_between_japanese_words_is_left_out() -> None:
    split = Segmenter(["設定", "読み込"], JAPANESE).split

    assert split(["設定はどこで読み込まれるか"]) == ["設定", "読み込"]


def test_katakana_is_known_as_a_whole_or_not_at_all() -> None:
    split = Segmenter(["リスト", "エラー", "ハンドラ"], JAPANESE).split

    assert split(["エラーハンドラー"]) == ["エラー", "ハンドラ"]
    assert split(["リストアする"]) == ["リストア"]


def test_a_single_ideograph_is_a_word_only_by_itself() -> None:
    split = Segmenter(["読"], JAPANESE).split

    assert split(["ファイルを読む"]) == ["ファイル", "読"]
    assert split(["購読する"]) == ["購読"]


def test_a_text_may_end_within_a_word() -> None:
    split = Segmenter(["エ", "エラー", "エラーハンドラ"], JAPANESE).split

    assert split(["エラーハンド"]) == ["エラーハンド"]
    assert split(["エラ", "エラー", "エ"]) == ["エラ", "エラー", "エ"]


def test_a_long_text_without_spaces_is_split_to_its_end() -> None:
    split = Segmenter(["エラー", "ログ"], JAPANESE).split

    assert split(["エラーログ" * 5_000]) == ["エラー", "ログ"] * 5_000
    assert split(["エラーログ" * 5_000 + "ヌ"]) == ["エラーログ" * 5_000 + "ヌ"]


@given(st.lists(st.sampled_from("エラーログ設定のa1"), max_size=40).map("".join))
def test_any_text_is_split_into_words_that_it_holds_in_this_order(text: str) -> None:
    words = ["エラー", "ログ", "エ", "ログの", "設定", "設", "設定エラー"]

    for language in (CHINESE, JAPANESE):
        place = 0
        for word in Segmenter(words, language).split([text]):
            place = text.index(word, place) + len(word)


def test_kana_tells_japanese_from_chinese_and_names_do_not_count() -> None:
    assert detect_unspaced("设置在 config.toml 里") == CHINESE
    assert detect_unspaced("config.toml の設定") == JAPANESE
    assert detect_unspaced("what does the name 数据 mean in this file") is None
