"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import re

import pytest

from ragforge.patterns import compile_on_use


def test_such_a_pattern_finds_what_a_compiled_one_does() -> None:
    pattern = compile_on_use("(a+)b", re.IGNORECASE)

    assert pattern.sub(r"\1", "AAb ab") == re.compile("(a+)b", re.IGNORECASE).sub(r"\1", "AAb ab")
    assert pattern.findall("AAb ab") == ["AA", "a"]


def test_a_wrong_pattern_fails_when_it_is_used() -> None:
    pattern = compile_on_use("(")

    with pytest.raises(re.error):
        pattern.search("a")
