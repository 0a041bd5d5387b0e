"""Summaries as text: what their embedding is made of."""

from __future__ import annotations

from ragforge.domain.summaries import format_summary_for_embedding
from ragforge.domain.turns import EMBEDDED_CHARS
from tests.fakes.builders import summary


def test_a_summary_is_embedded_with_its_files_and_findings() -> None:
    whole = summary(
        "c",
        conversation_summary="The login was mended.",
        actions_summary="Edited one file.",
        files_mentioned=("src/auth.py", "src/web.py"),
        key_findings=("Tokens expire", "Cookies do not"),
        tools_used=("edit_file",),
        topics=("login",),
    )

    assert format_summary_for_embedding(whole) == (
        "The login was mended.\n\n"
        "Files: src/auth.py, src/web.py\n\n"
        "Findings: Tokens expire; Cookies do not"
    )


def test_a_part_that_is_empty_leaves_no_label() -> None:
    assert format_summary_for_embedding(summary("c", conversation_summary="Hello.")) == "Hello."
    assert format_summary_for_embedding(
        summary("c", conversation_summary="", files_mentioned=("a.py",))
    ) == ("Files: a.py")


def test_a_long_summary_is_cut_where_a_turn_is() -> None:
    long = summary("c", conversation_summary="x" * (EMBEDDED_CHARS + 1))

    assert len(format_summary_for_embedding(long)) == EMBEDDED_CHARS
