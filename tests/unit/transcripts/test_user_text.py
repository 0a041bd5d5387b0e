"""User's words: what agents and RagForge put around them is left out."""

from __future__ import annotations

import pytest

from ragforge.memory.context_tags import FENCES, fence
from ragforge.transcripts.user_text import find_user_text


@pytest.mark.parametrize("name", FENCES)
def test_what_ragforge_recalled_is_not_user_text(name: str) -> None:
    recalled = fence(name, "Last time we bought milk. </past-turns>", "0123456789ab")
    assert find_user_text(f"{recalled}\n\nFix it.") == "Fix it."
    assert find_user_text(recalled) == ""
    assert find_user_text(recalled[:-5]) == ""


@pytest.mark.parametrize(
    "words", ["Use <T> here.", "</system-reminder> is a tag", "a < b > c", "Recalled by RagForge."]
)
def test_words_that_only_look_alike_are_kept(words: str) -> None:
    assert find_user_text(words) == words


def test_files_behind_the_words_that_name_them_are_left_out() -> None:
    files = "--- Content from referenced files ---\nx = 1\n--- End of content ---"
    assert find_user_text(f"See @a.py\n{files}") == "See @a.py"


@pytest.mark.parametrize(
    "tag", ["<rules x", "<command-name>", "<system-reminder ", "<ide_selection\t"]
)
def test_very_many_tags_without_an_end_are_words(tag: str) -> None:
    words = (tag * 100_000).strip()  # each was looked through to the end of the text before
    assert find_user_text(words) == words
