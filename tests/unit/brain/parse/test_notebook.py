"""Notebook: what was typed into the cells, under their headings, without the output."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ragforge.brain.parse.outline import build_scopes, make_scope_ids
from ragforge.brain.parse.read_source import parse
from ragforge.domain.code import Scope


def cell(kind: str, text: str, output: str = "") -> dict[str, Any]:
    made: dict[str, Any] = {"cell_type": kind, "metadata": {}}
    if kind == "code":
        outputs = [{"output_type": "stream", "text": [output], "source": "x"}]
        made |= {"execution_count": 1, "outputs": outputs}
    return made | {"source": text.splitlines(keepends=True)}


def notebook(*cells: dict[str, Any], indent: int | None = 1) -> str:
    whole = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=indent) + "\n"


def sections(text: str, path: str = "analysis/churn.ipynb") -> list[Scope]:
    outline = parse(path, text)
    assert outline.language == "notebook"
    return list(build_scopes(path, outline, text, make_scope_ids("p", path, outline)))


CHURN = notebook(
    cell("code", "import pandas as pd", "secret output"),
    cell("markdown", "# Churn\n\nWho leaves, and when."),
    cell("code", "df = pd.read_csv('churn.csv')\ndf.head()", "a table\nof numbers"),
    cell("markdown", "## Cohorts"),
    cell("code", "cohorts = df.groupby('month')"),
    cell("markdown", "# Next"),
)


def test_cells_are_sections_under_their_headings_without_what_came_out() -> None:
    found = sections(CHURN)

    assert [s.qualified_name for s in found] == ["churn", "Churn", "Churn > Cohorts", "Next"]
    assert found[1].source == (
        "# Churn\n\nWho leaves, and when.\n\ndf = pd.read_csv('churn.csv')\ndf.head()"
    )
    assert all("secret" not in s.source and "numbers" not in s.source for s in found)


def test_the_lines_are_those_of_the_file() -> None:
    lines = CHURN.split("\n")

    for section in sections(CHURN):
        first = section.source.split("\n")[0]
        shown = "\n".join(lines[section.start_line - 1 : section.end_line])
        assert lines[section.start_line - 1].lstrip().startswith('"source"')
        assert first in shown


def test_cells_without_a_heading_are_parted_when_they_are_many() -> None:
    found = sections(notebook(*(cell("code", "x = 1\n" * 30) for _ in range(6))))

    assert len(found) == 3
    assert {s.name for s in found} == {"churn"}
    assert len({s.uuid for s in found}) == 3


def test_a_notebook_on_one_line_is_read_as_well() -> None:
    assert sections(notebook(cell("markdown", "# One"), indent=None))[0].name == "One"


def test_a_file_that_is_not_a_notebook_is_cut_into_chunks() -> None:
    assert {d.type for d in parse("a.ipynb", '{"cells": [').definitions} == {"chunk"}
    assert {d.type for d in parse("a.ipynb", "not json").definitions} == {"chunk"}


@given(st.text())
def test_any_text_has_an_outline_within_its_lines(text: str) -> None:
    for source in (text, '{"cells": [' + text):
        lines = source.count("\n") + 1
        for found in parse("a.ipynb", source).definitions:
            assert 1 <= found.start_line <= found.end_line <= lines
