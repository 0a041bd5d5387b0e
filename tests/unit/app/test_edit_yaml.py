"""One key of a configuration file is set; every other line stays as it is."""

from __future__ import annotations

import pytest

from ragforge.app.features.configure import set_key

FILE = """\
# mine
llm:
  # the fast one
  model: openai:gpt-x  # for now
  thinking: low

agent:
    memory:
        max_result_chars: 100
# the end
"""


def test_a_value_is_replaced_and_its_comment_stays() -> None:
    changed = set_key(FILE, ["llm", "model"], "ollama:qwen3")
    assert changed == FILE.replace("openai:gpt-x", "ollama:qwen3")


def test_a_new_key_goes_to_the_end_of_its_section() -> None:
    changed = set_key(FILE, ["llm", "tools"], "schema")
    assert changed == FILE.replace("thinking: low\n", "thinking: low\n  tools: schema\n")


def test_a_new_key_is_indented_as_its_neighbours() -> None:
    changed = set_key(FILE, ["agent", "memory", "subdirectory_only"], "true")
    line = "        max_result_chars: 100\n"
    assert changed == FILE.replace(line, f"{line}        subdirectory_only: true\n")


def test_a_new_section_goes_to_the_end() -> None:
    changed = set_key(FILE, ["hook", "budget"], "6000")
    assert changed == FILE + "hook:\n  budget: 6000\n"
    assert set_key("", ["hook", "budget"], "6000") == "hook:\n  budget: 6000\n"


def test_a_key_is_removed_and_one_that_is_not_there_changes_nothing() -> None:
    assert set_key(FILE, ["llm", "thinking"], None) == FILE.replace("  thinking: low\n", "")
    assert set_key(FILE, ["hook", "budget"], None) == FILE
    assert set_key(FILE, ["llm", "tools"], None) == FILE


@pytest.mark.parametrize(
    "text", ["llm: {model: none}\n", "llm:\n  model: >\n    openai:\n    gpt\n"]
)
def test_a_value_on_one_line_or_on_several_is_left_to_a_person(text: str) -> None:
    assert set_key(text, ["llm", "model"], "none") is None
