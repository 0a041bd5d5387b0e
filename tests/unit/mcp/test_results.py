"""What other agents see of tools: their definitions, checked arguments, results within budgets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragforge.errors import InputError
from ragforge.mcp.catalog import check_arguments, fit_result
from ragforge.mcp.definitions import PROMPTS, TOOLS
from ragforge.mcp.projects import _read_roots, find_named
from ragforge.mcp.tools import RUN, _split_pages

RECALL = TOOLS[0]["inputSchema"]


def test_eight_tools_and_two_prompts_take_at_most_1500_tokens() -> None:
    assert [tool["name"] for tool in TOOLS] == list(RUN)
    assert len(TOOLS) == 8
    assert [prompt["name"] for prompt in PROMPTS] == ["resume", "why"]
    assert len(json.dumps(TOOLS)) / 4 <= 1_500


def test_only_what_changes_something_is_not_marked_as_reading() -> None:
    reading = [one["name"] for one in TOOLS if one["annotations"].get("readOnlyHint")]
    assert set(RUN) - set(reading) == {"remember", "forget"}
    assert TOOLS[-1]["annotations"]["destructiveHint"]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "query is missing"),
        ({"query": None}, "query is missing"),
        ({"query": " "}, "query is empty"),
        ({"query": 3}, "query is not of the type string"),
        ({"query": "x", "limit": "8"}, "limit is not of the type integer"),
        ({"query": "x", "limit": True}, "limit is not of the type integer"),
        ({"query": "x", "limit": 0}, "limit is not from 1 to 50"),
        ({"query": "x", "budget": 10}, "budget is not from 1000 to 100000"),
        ({"query": "x", "colour": "red"}, "there is no argument 'colour'"),
        ([], "they are not an object"),
    ],
)
def test_a_wrong_argument_is_named_with_what_it_should_be(given: object, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        check_arguments("recall", RECALL, given)


def test_arguments_that_are_null_count_as_not_given() -> None:
    assert check_arguments("recall", RECALL, {"query": "x", "file": None}) == {"query": "x"}


@pytest.mark.parametrize(
    "found",
    [
        [{"id": str(n), "text": "long " * 2_000} for n in range(8)],
        {"code": {"source": "x" * 9_000}, "sessions": [{"title": "t" * 300}] * 40},
        [{"touched": [{"since": {"text": "changed since"}}] * 50}] * 10,
        {"text": '"' * 20_000},
    ],
)
@pytest.mark.parametrize("budget", [500, 2_000, 8_000])
def test_a_result_is_cut_to_its_budget_and_says_so(found: Any, budget: int) -> None:
    content, text = fit_result("/work/shop", found, budget)
    assert len(text) <= budget
    assert json.loads(text) == content
    assert (content["project"], content["cut"]) == ("/work/shop", True)
    assert content["result"]


def test_all_results_are_shortened_before_one_is_left_out() -> None:
    found = [{"id": str(n), "text": "long " * 400} for n in range(8)]
    content, _ = fit_result("/work/shop", found, 8_000)
    assert [one["id"] for one in content["result"]] == [str(n) for n in range(8)]


def test_what_fits_is_not_marked_as_cut_and_what_is_empty_is_left_out() -> None:
    content, _ = fit_result("/p", {"a": None, "b": [], "c": 0, "d": False, "e": {"f": ""}}, 500)
    assert content == {"project": "/p", "result": {"c": 0, "d": False}}


def test_pages_together_are_the_text_and_each_fits_as_json() -> None:
    text = 'a "quoted" line\n\\ and ünïcode\n' * 200
    pages = _split_pages(text, 300)
    assert "".join(pages) == text
    assert all(len(json.dumps(page, ensure_ascii=False)) <= 300 for page in pages)


def test_roots_are_folders_of_this_machine(tmp_path: Path) -> None:
    spaced = tmp_path / "my shop"
    spaced.mkdir()
    uris = [
        spaced.as_uri(),
        "https://example.org/",
        "file://otherhost/tmp",
        "file:///not/there",
        f"file://localhost{tmp_path}",
        7,
    ]
    answer = {"roots": [*({"uri": uri} for uri in uris), "x"]}
    assert _read_roots(answer) == [spaced.resolve(), tmp_path.resolve()]
    assert _read_roots({"roots": None}) == []


def test_a_home_directory_is_not_a_project_even_if_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for folder in ("~", str(tmp_path), str(tmp_path.parent), "/tmp"):
        with pytest.raises(InputError, match="more than a project"):
            find_named(Path(folder))
    with pytest.raises(InputError, match="is not a folder"):
        find_named(tmp_path / "gone")


def test_a_boolean_is_neither_a_number_nor_a_text() -> None:
    schema = {"properties": {"rule": {"type": "boolean"}}}
    assert check_arguments("remember", schema, {"rule": True}) == {"rule": True}
    for wrong in (1, "true"):
        with pytest.raises(InputError, match="rule is not of the type boolean"):
            check_arguments("remember", schema, {"rule": wrong})
