"""Enriching: from a line to the text that explains it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from ragforge.context.excerpts import Location, enrich_locations
from ragforge.domain.code import FileLine, Scope
from ragforge.ports.code_graph import CodeGraph
from tests.fakes.builders import scope

LINES = [f"line {number}" for number in range(1, 301)]


class Scopes:
    """A store that knows one scope, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def scopes_at(self, project_id: str, places: Sequence[FileLine]) -> list[Scope | None]:
        self.asked += 1
        known = scope("Cart.add", "a.py", lines=(100, 120), source="def add(): ...")
        return [known if 100 <= place.line <= 120 else None for place in places]


def location(line: int, file: str = "a.py") -> Location:
    return Location(file, line, 0.9, 0.8, "grep")


async def test_a_line_in_a_scope_brings_the_whole_scope_and_more_confidence(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("\n".join(LINES))

    [excerpt] = await enrich_locations([location(110)], cast(CodeGraph, Scopes()), "p", tmp_path)

    assert (excerpt.place, excerpt.name, excerpt.text) == (
        "a.py:100-120",
        "Cart.add",
        "def add(): ...",
    )
    assert (excerpt.score, round(excerpt.confidence, 2), excerpt.is_scope) == (0.9, 0.9, True)


async def test_a_line_in_no_scope_brings_fifty_lines_above_and_below(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("\n".join(LINES))

    [excerpt] = await enrich_locations([location(200)], cast(CodeGraph, Scopes()), "p", tmp_path)

    assert (excerpt.place, excerpt.is_scope) == ("a.py:150-250", False)
    assert excerpt.text.split("\n") == LINES[149:250]
    assert (round(excerpt.score, 2), excerpt.confidence) == (0.81, 0.8)


async def test_each_line_is_enriched_on_its_own_merits_with_one_question_to_the_store(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.py").write_text("\n".join(LINES))
    store = Scopes()

    excerpts = await enrich_locations(
        [location(2), location(110), location(290)], cast(CodeGraph, store), "p", tmp_path
    )

    assert [excerpt.place for excerpt in excerpts] == ["a.py:1-52", "a.py:100-120", "a.py:240-300"]
    assert store.asked == 1


async def test_without_a_store_lines_come_only_from_files(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("\n".join(LINES))

    [excerpt] = await enrich_locations([location(110)], None, "p", tmp_path)

    assert (excerpt.place, excerpt.is_scope) == ("a.py:60-160", False)


async def test_a_file_that_cannot_be_read_drops_its_lines_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("\n".join(LINES))
    (tmp_path / "binary.py").write_bytes(b"a\0b\n")
    (tmp_path / "folder.py").mkdir()
    names = ("gone.py", "binary.py", "folder.py", "a.py")

    excerpts = await enrich_locations([location(1, name) for name in names], None, "p", tmp_path)

    assert [excerpt.file for excerpt in excerpts] == ["a.py"]
