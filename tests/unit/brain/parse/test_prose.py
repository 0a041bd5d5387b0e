"""Prose: documents that are not Markdown are cut at their headings too."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragforge.brain.parse.documents import is_prose
from ragforge.brain.parse.read_source import parse
from tests.unit.brain.conftest import Reading

Read = Callable[[str, str], Reading]

RST = """\
============
The handbook
============

Opening words.

Install
=======

Steps.

From source
-----------

More steps::

    not a heading
    -------------

+-----+-----+
| a   | b   |
+=====+=====+

Use
===

Text that ends in a line
"""


def test_titles_of_restructured_text_are_underlined(read: Read) -> None:
    assert read("docs/handbook.rst", RST).table == [
        "section The handbook 1-27",
        "  section The handbook > Install 7-22",
        "    section The handbook > Install > From source 12-22",
        "  section The handbook > Use 24-27",
    ]


def test_a_plain_text_may_be_written_so_or_like_markdown(read: Read) -> None:
    assert read("docs/handbook.txt", RST).table == read("docs/handbook.rst", RST).table
    marked = "# One\n\ntext\n\n## Two\n\nmore\n"
    assert read("MANUAL.txt", marked).table == ["section One 1-7", "  section One > Two 5-7"]


def test_asciidoc_and_org_mark_titles_with_signs(read: Read) -> None:
    adoc = "= Guide\n\n== Install\n\n----\n== no title\n----\n\n== Use\n\nText.\n"
    org = "* Guide\n** Install\n#+begin_src sh\n* no title\n#+end_src\n** Use\n"

    names = ["Guide", "Guide > Install", "Guide > Use"]
    for path, text in (("a.adoc", adoc), ("a.org", org)):
        assert [d.qualified_name for d in read(path, text).outline.definitions] == names


def test_a_text_without_titles_is_cut_into_sections_of_sixty_lines(read: Read) -> None:
    assert read("README", "line\n" * 130).table == [
        "section README:1-60 1-60",
        "section README:61-130 61-130",
    ]


def test_a_long_section_has_parts(read: Read) -> None:
    found = read("a.md", "# One\n\n" + "line\n\n" * 100 + "## Two\n\nmore\n").outline

    parts = [d for d in found.definitions if d.name.startswith("One")]
    assert [d.name for d in parts] == ["One", "One (2)", "One (3)"]
    assert all(d.end_line - d.start_line <= 120 for d in parts[1:])
    assert found.definitions[-1].qualified_name == "One > Two"


@pytest.mark.parametrize(
    "path",
    ["requirements.txt", "dev-requirements.txt", "run.log", "Procfile", ".gitignore", "VERSION"],
)
def test_data_that_looks_like_text_is_not_a_document(path: str) -> None:
    assert not is_prose(path)
    assert {d.type for d in parse(path, "one\ntwo\n").definitions} == {"chunk"}


@pytest.mark.parametrize("path", ["README", "docs/LICENSE", "CHANGES", "notes.txt", "a/b.rst"])
def test_what_people_wrote_to_be_read_is_one(path: str) -> None:
    assert {d.type for d in parse(path, "one\ntwo\n").definitions} == {"section"}
