"""Ruby: a sample file in, its exact outline out."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.brain.conftest import Reading

Sample = Callable[[str], Reading]


def test_the_ruby_sample_has_exactly_these_definitions(sample: Sample) -> None:
    found = sample("library.rb")
    assert found.outline.language == "ruby"
    assert not found.outline.damaged
    assert found.table == [
        "module library 1-58",
        "module Library 8-56",
        "  constant Library.MAX_BOOKS 9-9",
        "  class Library.Book 11-49",
        "    attribute Library.Book.title 16-16",
        "    constant Library.Book.STATES 18-18",
        "    method Library.Book.initialize 20-23",
        "    method Library.Book.find 25-29",
        "    method Library.Book.create 32-34",
        "    method Library.Book.lend! 37-42",
        "    method Library.Book.available? 46-48",
        "  class Library.Shelf 51-55",
        "    attribute Library.Shelf.books 51-51",
        "    method Library.Shelf.full? 52-54",
    ]


def test_the_ruby_sample_has_exactly_these_imports(sample: Sample) -> None:
    assert sample("library.rb").imports == [
        "5: json *",
        "6: ../lib/author *",
    ]


def test_the_ruby_sample_has_exactly_these_bases_and_decorators(sample: Sample) -> None:
    found = sample("library.rb")
    assert found.bases == {"Library.Book": "Catalog.Item Comparable Searchable"}
    assert found.decorators == {}


def test_the_ruby_sample_uses_these_names(sample: Sample) -> None:
    found = sample("library.rb")
    assert (
        found.calls("Library.Book.find")
        == "all all.select book.title JSON.parse books.first.to_json"
    )
    assert found.uses("Library.Book.find") == ""
    assert found.calls("Library.Book.lend!") == "available? Loan.create notify"
    assert found.uses("Library.Book.lend!") == ""
    assert found.calls("library") == "Library.Book.create"
    assert found.uses("library") == ""


def test_the_ruby_sample_is_signed_and_documented(sample: Sample) -> None:
    found = sample("library.rb")
    assert found.signature("Library.Book") == "class Book < Catalog::Item"
    assert found.signature("Library.Book.find") == "def self.find(title)"
    assert found.docstrings == {
        "library": "Keeps books.",
        "Library.Book": "A book.",
        "Library.Book.find": "Finds one by its title.",
    }
