"""Odd files: line ends, marks, emptiness, depth and size."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragforge.brain.parse.read_source import parse
from ragforge.brain.parse.scopes import MAX_DEPTH
from tests.unit.brain.conftest import Reading

Read = Callable[[str, str], Reading]

CODE = "def one():\n    '''Says\n\n    one.'''\n    return two()\n\n\ndef two():\n    return 2\n"


def test_windows_line_ends_change_nothing(read: Read) -> None:
    assert read("a.py", CODE.replace("\n", "\r\n")).outline == read("a.py", CODE).outline


def test_a_byte_order_mark_changes_nothing(read: Read) -> None:
    assert read("a.py", "\ufeff" + CODE).table == read("a.py", CODE).table
    assert read("a.md", "\ufeff# Title\n").table == ["section Title 1-1"]


def test_a_comment_after_a_byte_order_mark_leads_its_definition(read: Read) -> None:
    found = read("a.py", "\ufeff# One.\ndef one(): pass\n")
    assert found.table == ["module a 1-2", "function one 1-2"]
    assert found.docstrings == {"one": "One."}


@pytest.mark.parametrize("path", ["a.py", "a.rs", "a.md", "a.txt", "a"])
@pytest.mark.parametrize("text", ["", "\n", " \n\t\n", "\ufeff"])
def test_an_empty_file_defines_nothing(path: str, text: str) -> None:
    assert parse(path, text).definitions == ()


@pytest.mark.parametrize(
    ("path", "text", "docstring"),
    [
        ("a.py", "# Only\n# words.\n", "Only\nwords."),
        ("a.ts", "/**\n * Only\n * words.\n */\n", "Only\nwords."),
        ("a.go", "// Only words.", "Only words."),
        ("a.rs", "//! Only words.\n", "Only words."),
        ("a.lua", "--[[ Only words. ]]\n", "Only words."),
        ("a.hs", "{- | Only words. -}\n", "Only words."),
    ],
)
def test_a_file_of_comments_is_a_module_with_a_docstring(
    read: Read, path: str, text: str, docstring: str
) -> None:
    found = read(path, text)
    assert [d.type for d in found.outline.definitions] == ["module"]
    assert found.docstrings == {"a": docstring}


def test_a_licence_is_not_a_docstring_but_what_follows_it_is(read: Read) -> None:
    licence = "# Copyright 2024 Somebody\n# All rights reserved.\n"
    assert read("a.py", f"{licence}import os\n").docstrings == {}
    assert read("a.py", f"{licence}def f(): pass\n").docstrings == {}
    assert read("a.py", f"{licence}def f(): pass\n").get("f").start_line == 3
    assert read("a.py", f"{licence}\n# About it.\n\nx = 1\n").docstrings == {"a": "About it."}


def test_lines_are_those_that_end_with_a_newline_only(read: Read) -> None:
    text = "x = 1\f\n\f\ndef one():\n    return '\u2028\x0b'\n\n\ndef two():\r    pass\n"
    found = read("a.py", text)
    assert found.get("one").start_line == 3
    assert found.get("two").start_line == 7
    assert found.get("a").end_line == 7


def test_a_file_that_ends_without_a_newline_ends_on_its_last_line(read: Read) -> None:
    assert read("a.py", "def f():\n    pass").table == ["module a 1-2", "function f 1-2"]


def test_a_nul_does_not_end_the_file(read: Read) -> None:
    assert read("a.py", "x = 1\0\ndef f(): pass\n").get("f").start_line == 2
    assert read("a.c", "int x;\0\nint f() { return 1; }\n").get("f").start_line == 2


def test_half_a_surrogate_pair_is_accepted(read: Read) -> None:
    assert read("a.py", "x = '\ud800'\ndef f(): pass\n").get("f").start_line == 2


def test_names_in_other_scripts_are_names(read: Read) -> None:
    found = read("a.py", "class Größe:\n    def 計算(self):\n        return Ñandú.мера(self)\n")
    assert found.table == ["module a 1-3", "class Größe 1-3", "  method Größe.計算 2-3"]
    assert found.calls("Größe.計算") == "Ñandú.мера"


def test_tabs_and_form_feeds_indent_and_separate(read: Read) -> None:
    found = read("a.py", "class A:\n\tdef f(self):\n\t\tpass\n\f\nclass B:\n\tpass\n")
    assert found.table == ["module a 1-6", "class A 1-3", "  method A.f 2-3", "class B 5-6"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "def f(): return " + "(" * 10_000 + "1" + ")" * 10_000 + "\n"),
        ("a.py", "def f(): return " + "[" * 10_000 + "\n"),
        ("a.js", "function f() { return " + "[" * 10_000 + "]" * 10_000 + "; }\n"),
        ("a.js", "function f(x) { if (x) {} " + "else if (x) {} " * 10_000 + "}\n"),
        ("a.ts", "function f() { return " + "g(" * 10_000 + ")" * 10_000 + "; }\n"),
        ("a.go", "func f() { " + "{" * 10_000 + "}" * 10_000 + "}\n"),
        ("a.rs", "fn f() { " + "(" * 10_000 + ")" * 10_000 + "; }\n"),
        ("a.java", "class A { void f() { x = " + "(" * 10_000 + "1" + ")" * 10_000 + "; } }\n"),
        ("a.c", "void f() { if (1) {} " + "else if (1) {} " * 10_000 + "}\n"),
        ("a.cpp", "int f() { return " + "(" * 10_000 + "1" + ")" * 10_000 + "; }\n"),
    ],
)
def test_ten_thousand_nested_brackets_are_read(path: str, text: str) -> None:
    assert "f" in {d.name for d in parse(path, text).definitions}


def test_functions_nested_very_deeply_are_read() -> None:
    depth = 300
    text = "".join(f"{' ' * level}def f{level}(a{level}):\n" for level in range(depth))
    found = parse("a.py", text + " " * depth + "return a0 + outside()\n")
    assert len(found.definitions) == MAX_DEPTH + 1  # deeper ones are a part of the last
    assert found.definitions[-1].calls == ("outside",)


def test_a_chain_of_thousands_of_calls_is_read() -> None:
    found = parse("a.js", "start()" + ".then(step)" * 5_000 + ";\n")
    assert {name.rpartition(").")[2] for name in found.definitions[0].calls} == {
        "start",
        "then",
        ".then",
        "step",
    }
    assert len(found.definitions[0].calls) < 50


def test_signatures_and_docstrings_are_bounded() -> None:
    arguments = ", ".join(f"argument_{number}: int" for number in range(500))
    found = parse("a.py", f'def f({arguments}):\n    """{"word " * 5_000}"""\n').definitions[1]
    assert len(found.signature) <= 300
    assert len(found.docstring) <= 2_000
    assert "\n" not in found.signature


def test_calls_and_other_uses_are_listed_once_in_their_order(read: Read) -> None:
    found = read("a.py", "def f():\n    g()\n    k()\n    g()\n    h: int = g\n    g()\n")
    assert found.get("f").calls == ("g", "k")
    assert found.get("f").uses == ("int",)


def test_names_bound_in_a_function_are_not_uses_there(read: Read) -> None:
    found = read(
        "a.py",
        "def outer(given):\n    made = given\n    def inner():\n        return made(given)\n"
        "    return [each for each in made]\n\ndef other():\n    return made\n",
    )
    assert found.uses("outer") == ""
    assert found.calls("outer.inner") == ""
    assert found.calls("other") == "made"
