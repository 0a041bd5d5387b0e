"""Rust: a sample file in, its exact outline out."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.brain.conftest import Reading

Sample = Callable[[str], Reading]


def test_the_rust_sample_has_exactly_these_definitions(sample: Sample) -> None:
    found = sample("shapes.rs")
    assert found.outline.language == "rust"
    assert not found.outline.damaged
    assert found.table == [
        "module shapes 1-82",
        "constant MAX_SIDES 11-11",
        "constant NAMES 13-16",
        "trait Shape 18-28",
        "  constant Shape.SIDES 20-20",
        "  method Shape.area 22-23",
        "  method Shape.describe 25-27",
        "struct Square 30-35",
        "enum Kind 37-40",
        "  variant Kind.Round 38-38",
        "  variant Kind.Flat 39-39",
        "type Table 42-42",
        "impl Square 44-51",
        "  method Square.new 45-50",
        "impl Square 53-60",
        "  constant Square.SIDES 54-54",
        "  method Square.area 56-59",
        "macro shape 62-66",
        "function largest 68-70",
        "module tests 72-82",
        "  function tests.a_square_has_an_area 76-81",
    ]


def test_the_rust_sample_has_exactly_these_imports(sample: Sample) -> None:
    assert sample("shapes.rs").imports == [
        "3: std::collections::hash_map Entry=Entry",
        "3: std::collections HashMap=Map",
        "4: std fmt=fmt",
        "5: crate::draw *",
        "6: super color=paint",
        "7: self::circle as circle",
        "7: self::circle Circle=Circle",
        "9: self::circle as circle",
        "74: super *",
    ]


def test_the_rust_sample_has_exactly_these_bases_and_decorators(sample: Sample) -> None:
    found = sample("shapes.rs")
    assert found.bases == {"Shape": "Draw fmt.Debug", "Square": "Shape"}
    assert found.decorators == {
        "Square": "derive",
        "Square.new": "inline",
        "tests": "cfg",
        "tests.a_square_has_an_area": "test",
    }


def test_the_rust_sample_uses_these_names(sample: Sample) -> None:
    found = sample("shapes.rs")
    assert found.calls("Square.new") == "paint.Color.default Square"
    assert found.uses("Square.new") == "T Self"
    assert found.calls("largest") == "shapes.iter().max_by shapes.iter compare a.area b.area"
    assert found.uses("largest") == "Shape Option"
    assert (
        found.calls("tests.a_square_has_an_area")
        == "assert_eq new area Table.new().insert Table.new .into"
    )
    assert found.uses("tests.a_square_has_an_area") == "Square Kind.Flat"


def test_the_rust_sample_is_signed_and_documented(sample: Sample) -> None:
    found = sample("shapes.rs")
    assert found.signature("Shape") == "pub trait Shape: Draw + fmt::Debug"
    assert found.signature("Square") == "pub struct Square<T>"
    assert (
        found.signature("largest")
        == "pub fn largest<'a, S: Shape>(shapes: &'a [S]) -> Option<&'a S>"
    )
    assert found.docstrings == {
        "shapes": "Shapes and their areas.",
        "Shape": "Something flat.",
        "Shape.area": "Its area.",
        "Square": "A square.",
        "Square.new": "Makes one.",
    }
