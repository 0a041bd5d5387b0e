"""Haskell: a sample file in, its exact outline out."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.brain.conftest import Reading

Sample = Callable[[str], Reading]


def test_the_haskell_sample_has_exactly_these_definitions(sample: Sample) -> None:
    found = sample("Parser.hs")
    assert found.outline.language == "haskell"
    assert not found.outline.damaged
    assert found.table == [
        "module Parser 1-46",
        "type Expr 12-16",
        "type Parser 18-18",
        "type Env 20-20",
        "trait Pretty 22-24",
        "  method Pretty.pretty 23-24",
        "impl Expr 26-28",
        "  method Expr.pretty 27-28",
        "function eval 30-35",
        "  function eval.go 35-35",
        "function parse 37-40",
        "function limit 42-43",
        "function <+> 45-46",
    ]


def test_the_haskell_sample_has_exactly_these_imports(sample: Sample) -> None:
    assert sample("Parser.hs").imports == [
        "8: Control.Monad as Control.Monad void=void when=when",
        "9: Data.Map.Strict as Map",
        "10: Data.Char as Data.Char *",
    ]


def test_the_haskell_sample_has_exactly_these_bases_and_decorators(sample: Sample) -> None:
    found = sample("Parser.hs")
    assert found.bases == {"Expr": "Pretty"}
    assert found.decorators == {}


def test_the_haskell_sample_uses_these_names(sample: Sample) -> None:
    found = sample("Parser.hs")
    assert found.calls("eval") == "Number Add go"
    assert found.uses("eval") == "Env Expr Int"
    assert found.calls("parse") == "runParser Just simplify"
    assert found.uses("parse") == "String Maybe Expr expr Nothing"


def test_the_haskell_sample_is_signed_and_documented(sample: Sample) -> None:
    found = sample("Parser.hs")
    assert found.signature("eval") == "eval :: Env -> Expr a -> Int"
    assert (
        found.signature("Expr")
        == "data Expr a = Number Int | Add (Expr a) (Expr a) deriving (Show, Eq)"
    )
    assert found.docstrings == {
        "Parser": "Parses arithmetic.",
        "Expr": "An expression.",
        "eval": "Evaluates an expression.",
    }
