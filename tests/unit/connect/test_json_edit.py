"""Entries are put into JSON with comments, and taken out, without touching another byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragforge.connect import json_text
from ragforge.connect.config_file import JsonFile
from ragforge.errors import InputError

SERVER = {"command": "/usr/bin/ragforge", "args": ["mcp"]}
HOOK = {"hooks": [{"type": "command", "command": "ragforge hook --agent qwen", "timeout": 5}]}
FILE = JsonFile(
    Path("settings.json"),
    {("mcpServers", "ragforge"): SERVER},
    {("hooks", "Stop"): HOOK, ("hooks", "SessionStart"): HOOK},
)

TEXTS = {
    "empty object": "{}",
    "spread empty object": "{\n}\n",
    "one line": '{"theme": "dark", "list": [1, 2]}',
    "two blanks": '{\n  "theme": "dark"\n}\n',
    "tabs": '{\n\t"theme": "dark",\n\t"mcpServers": {\n\t\t"a": {"command": "a"}\n\t}\n}\n',
    "CRLF": '{\r\n  "theme": "dark"\r\n}\r\n',
    "byte order mark": '\ufeff{\n  "theme": "dark"\n}\n',
    "comments": (
        '// mine\n{\n  // a theme\n  "theme": "dark", // dark\n  /* servers */\n'
        '  "mcpServers": {\n    "a": {"command": "a"} // the last\n'
        "  } // after\n  // end\n}\n// bye\n"
    ),
    "trailing commas": (
        '{\n  "theme": "dark",\n  "hooks": {\n    "Stop": [\n      {"x": 1},\n    ],\n  },\n}\n'
    ),
    "trailing comma on one line": '{"theme": "dark", "hooks": {"Stop": [{"x": 1},],},}',
    "foreign hooks": (
        '{\n  "hooks": {\n    "Stop": [\n      {\n        "matcher": "*",\n        "hooks": [\n'
        '          {"type": "command", "command": "say done"}\n        ]\n      }\n    ]\n  }\n}\n'
    ),
    "text that looks like ours": '{"a": "ragforge hook --agent x", "b": "} // no"}',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_adding_and_removing_gives_the_same_document(text: str) -> None:
    added = FILE.add(text)

    before, after = json_text.parse(text).value, json_text.parse(added).value
    assert after["mcpServers"]["ragforge"] == SERVER
    assert after["hooks"]["Stop"][-1] == HOOK
    assert FILE.add(added) == added
    assert json_text.parse(FILE.remove(added)).value == before


@pytest.mark.parametrize("name", [name for name in TEXTS if "empty" not in name])
def test_removing_restores_every_byte(name: str) -> None:
    assert FILE.remove(FILE.add(TEXTS[name])) == TEXTS[name]


def test_comments_stay_where_they_are() -> None:
    added = FILE.add(TEXTS["comments"])

    assert '"a": {"command": "a"}, // the last\n' in added
    assert "} // after\n" in added.replace("}, //", "} //")


def test_an_older_entry_of_ours_is_replaced() -> None:
    older = FILE.add('{\n  "x": 1\n}\n').replace("/usr/bin/ragforge", "/opt/ragforge")
    older = older.replace('"timeout": 5', '"timeout": 9')

    added = FILE.add(older)

    assert json_text.parse(added).value == json_text.parse(FILE.add('{"x": 1}')).value


def test_a_foreign_hook_next_to_ours_stays() -> None:
    text = FILE.add("{}").replace(
        '"hooks": [\n          {', '"hooks": [\n          {"command": "say done"},\n          {', 1
    )

    left = json_text.parse(FILE.remove(text)).value

    assert left == {"hooks": {"Stop": [{"hooks": [{"command": "say done"}]}]}}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1', "missing"),
        ('{"a": 1 "b": 2}', "line 1: a comma"),
        ('{"a": 1, "a": 2}', "twice"),
        ("[]", "not an object"),
        ('{"mcpServers": 5}', "mcpServers is not an object"),
        ('{"hooks": {"Stop": {}}}', "hooks.Stop is not a list"),
        ('{"mcpServers": {"ragforge": {"command": "other"}}}', "another server"),
        ("[" * 500, "too deeply"),
    ],
)
def test_what_cannot_be_understood_is_refused(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        FILE.add(text)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(st.text(min_size=1, max_size=5), _VALUES, min_size=1, max_size=4),
    st.sampled_from([None, 2, 4, "\t"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_whatever_a_file_holds_it_is_the_same_afterwards(
    document: dict[str, object], indent: int | str | None, newline: str
) -> None:
    text = json.dumps(document, indent=indent).replace("\n", newline)

    added = FILE.add(text)

    assert FILE.add(added) == added
    assert FILE.remove(added) == text
