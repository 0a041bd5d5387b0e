"""Markdown: sections by headings."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.brain.conftest import Reading

Read = Callable[[str, str], Reading]


def test_the_markdown_sample_has_exactly_these_sections(
    sample: Callable[[str], Reading],
) -> None:
    found = sample("guide.md")
    assert found.outline.language == "markdown"
    assert found.table == [
        "section guide 1-1",
        "section Guide 3-35",
        "  section Guide > Install 8-17",
        "    section Guide > Install > From source 15-17",
        "  section Guide > Use 19-31",
        "    section Guide > Use > Deep 24-31",
        "  section Guide > Install 33-35",
    ]
    assert found.signature("Guide > Install > From source") == "### From source ###"


def test_a_document_without_headings_is_one_section(read: Read) -> None:
    assert read("docs/notes.md", "\nOne.\n\nTwo.\n\n").table == ["section notes 2-4"]


def test_front_matter_holds_no_headings(read: Read) -> None:
    assert read("a.md", "---\ntitle: x\n# comment\n---\n\n# Real\n").table == [
        "section a 1-4",
        "section Real 6-6",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "- item\n---\n",
        "> quote\n---\n",
        "| a | b |\n---\n",
        "one\ntwo\n---\n",
        "#no space\n",
        "    # indented\n",
        "```\n# code\n",
        "````\n```\n# code\n````\n",
        "~~~ sh\n# code\n```\n~~~\n",
        "####### seven\n",
    ],
)
def test_what_only_looks_like_a_heading_is_none(read: Read, text: str) -> None:
    assert read("a.md", text).table == [f"section a 1-{text.count(chr(10))}"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("# One #\n", "One"),
        ("   ## Two\n", "Two"),
        ("#\n", "a"),
        ("# C#\n", "C#"),
        ("Three\n===\n", "Three"),
        ("Four\n-\n", "Four"),
        ("# Five\r\ntext\r\n", "Five"),
    ],
)
def test_what_is_a_heading_names_its_section(read: Read, text: str, name: str) -> None:
    assert [d.name for d in read("a.md", text).outline.definitions] == [name]
