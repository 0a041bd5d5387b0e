"""The language of docs/add-a-language.md: one file and one row give scopes and relations."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ragforge.brain.languages import language, table
from ragforge.brain.languages.table import LanguageRow, LanguageTable, detect_language
from ragforge.brain.parse.read_source import parse
from tests.unit.brain.graph.test_edges import Project

PAGE = Path(__file__).parents[4] / "docs" / "add-a-language.md"
BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)

RULES = '''
"""Rules for libraries."""

def library(name, deps = []):
    """Build a library."""
    return compile(name, deps)

def compile(name, deps):
    return native.compile(name = name, deps = deps)
'''
BUILD = """
load("//tools:rules.bzl", "library", "compile")
load("@rules_python//python:defs.bzl", "py_test")

NAMES = ["shop"]

def shop():
    library("shop")
    py_test("shop_test")
"""


@pytest.fixture(autouse=True)
def starlark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the language of the page as the page says."""
    definitions, uses, code, row = BLOCK.findall(PAGE.read_text("utf-8"))
    queries = {"starlark/definitions": definitions, "starlark/uses": uses}
    monkeypatch.setattr(language, "load_query", queries.__getitem__)
    module = ModuleType("ragforge.brain.languages.starlark")
    exec(compile(code, str(PAGE), "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    [added] = eval(f"[{row}]", {"Row": LanguageRow})
    monkeypatch.setattr(table, "TABLE", LanguageTable([*table.ROWS, added]))


def test_its_files_are_detected() -> None:
    names = ("rules.bzl", "shop/BUILD", "BUILD.bazel", "rules.py")
    assert [detect_language(name) for name in names] == [*["starlark"] * 3, "python"]


def test_its_files_have_scopes() -> None:
    outline = parse("tools/rules.bzl", RULES)
    assert [(d.type, d.qualified_name, d.docstring) for d in outline.definitions[1:]] == [
        ("function", "library", "Build a library."),
        ("function", "compile", ""),
    ]


def test_its_files_have_relations() -> None:
    project = Project({"tools/rules.bzl": RULES, "shop/BUILD": BUILD})
    assert project.imports("shop/BUILD") == {"tools/rules.bzl"}
    assert project.libraries("shop/BUILD") == {"rules_python"}
    assert project.uses("shop/BUILD", "shop") == {"tools/rules.bzl:library"}
    assert project.uses("tools/rules.bzl", "library") == {"compile"}
