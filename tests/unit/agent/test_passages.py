"""Which places an answer without a model shows."""

from __future__ import annotations

from ragforge.agent.answer import choose_code, choose_documents
from ragforge.context.excerpts import Excerpt


def excerpt(file: str, score: float = 0.8, text: str = "text") -> Excerpt:
    return Excerpt(file, 1, 1, file, text, score, 0.9, ("words",), is_scope=True)


def list_code(question: str, *some: Excerpt) -> list[str]:
    return [one.file for one in choose_code(some, question)]


def list_documents(question: str, *some: Excerpt) -> list[str]:
    return [one.file for one in choose_documents(some, (), question)]


def test_tests_are_left_out_unless_they_are_asked_for_or_all_there_is() -> None:
    some = [excerpt("test_a.py", 0.9), excerpt("a.py")]

    assert list_code("how is it sorted", *some) == ["a.py"]
    assert list_code("which tests sort it", *some) == ["test_a.py", "a.py"]
    assert list_code("how is it sorted", some[0]) == ["test_a.py"]


def test_places_that_are_much_less_likely_than_the_best_are_left_out() -> None:
    some = [excerpt("a.py", 0.9), excerpt("b.py", 0.5), excerpt("c.py", 0.2)]

    assert list_code("how is it sorted", *some) == ["a.py", "b.py"]


def test_configuration_is_shown_if_it_fits_best() -> None:
    assert list_code("how", excerpt("a.py"), excerpt("ci.yml")) == ["a.py"]
    assert list_code("how", excerpt("ci.yml"), excerpt("a.py")) == ["ci.yml", "a.py"]


def test_a_changelog_is_left_out_unless_it_is_asked_for() -> None:
    some = [excerpt("CHANGELOG.md"), excerpt("README.md")]

    assert list_documents("how is it sorted", *some) == ["README.md"]
    assert list_documents("what changed in version 2.0", *some) == ["CHANGELOG.md", "README.md"]


def test_a_section_that_holds_only_facts_about_its_page_is_left_out() -> None:
    facts = excerpt("a.md", text="---\nid: install\n---\n")
    label = excerpt("b.rst", text=".. _loop:\n")

    assert list_documents("how", facts, label, excerpt("c.md")) == ["c.md"]
