"""Chunks: text of about sixty lines, cut at blank lines."""

from __future__ import annotations

from collections.abc import Callable

from ragforge.brain.parse.read_source import parse
from tests.unit.brain.conftest import Reading


def test_the_text_sample_is_cut_at_blank_lines(sample: Callable[[str], Reading]) -> None:
    found = sample("services.yaml")
    assert found.outline.language == "yaml"
    assert found.table == [
        "chunk services.yaml:1-57 1-57",
        "chunk services.yaml:59-138 59-138",
    ]
    assert found.signature("services.yaml:1-57") == "# Services and what they need."


def test_a_text_without_blank_lines_is_cut_every_sixty_lines() -> None:
    found = parse("data/log", "line\n" * 200)
    assert found.language == "text"
    assert [(d.start_line, d.end_line) for d in found.definitions] == [
        (1, 60),
        (61, 120),
        (121, 200),
    ]
    assert found.definitions[0].name == "log:1-60"


def test_a_short_text_is_one_chunk_without_the_blank_lines_around_it() -> None:
    found = parse("requirements.txt", "\n\nOne.\n\nTwo.\n\n")
    assert [(d.type, d.start_line, d.end_line) for d in found.definitions] == [("chunk", 3, 5)]


def test_every_line_that_is_not_blank_is_in_exactly_one_chunk() -> None:
    lines = ["text" if number % 7 else "" for number in range(1_000)]
    found = parse("a.sql", "\n".join(lines))
    covered = [number for d in found.definitions for number in range(d.start_line - 1, d.end_line)]
    assert len(covered) == len(set(covered))
    assert {number for number, line in enumerate(lines) if line} <= set(covered)
    assert found.language == "sql"
