"""Lua: a sample file in, its exact outline out."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.brain.conftest import Reading

Sample = Callable[[str], Reading]


def test_the_lua_sample_has_exactly_these_definitions(sample: Sample) -> None:
    found = sample("matrix.lua")
    assert found.outline.language == "lua"
    assert not found.outline.damaged
    assert found.table == [
        "module matrix 1-47",
        "constant MAX_SIZE 7-7",
        "constant M.defaults 9-12",
        "function M.new 17-25",
        "method Matrix.scale 27-30",
        "function check 32-34",
        "function M.map 36-39",
        "function print_all 41-43",
        "function global_one 45-45",
    ]


def test_the_lua_sample_has_exactly_these_imports(sample: Sample) -> None:
    assert sample("matrix.lua").imports == [
        "3: dkjson as json",
        "4: math.vector as vector",
    ]


def test_the_lua_sample_uses_these_names(sample: Sample) -> None:
    found = sample("matrix.lua")
    assert found.calls("M.new") == "setmetatable vector.zeros"
    assert found.uses("M.new") == "Matrix"
    assert found.calls("Matrix.scale") == "M.map"
    assert found.uses("Matrix.scale") == "self.factor self"
    assert found.calls("global_one") == "print_all .scale M.new"
    assert found.uses("global_one") == ""


def test_the_lua_sample_is_signed_and_documented(sample: Sample) -> None:
    found = sample("matrix.lua")
    assert found.signature("M.new") == "function M.new(rows, columns)"
    assert found.signature("Matrix.scale") == "function Matrix:scale(factor)"
    assert found.docstrings == {
        "matrix": "Matrices of numbers.",
        "M.new": "Makes a matrix.\n@param rows how many",
    }
