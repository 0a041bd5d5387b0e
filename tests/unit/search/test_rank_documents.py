"""Ranking documents: files that a question names come first."""

from __future__ import annotations

import pytest

from ragforge.brain.search.documents import DocumentScorer, find_named_files, is_named
from ragforge.domain.code import ScopeMatch, ScopeName
from ragforge.domain.vectors import MeaningWeights
from ragforge.search import rank
from ragforge.search.rank import Candidates
from ragforge.search.words.tokenise import WORDS


def match(file: str, heading: str = "part", score: float = 1.0) -> ScopeMatch:
    return ScopeMatch(ScopeName(file, heading, heading, "section", file, 1, 9, ""), score)


def order(question: str, *found: ScopeMatch) -> list[str]:
    candidates = Candidates(by_words=found)
    weights = MeaningWeights()
    scorer = DocumentScorer(question, candidates, WORDS, weights, (), lambda _: False)
    ranked = rank.order(scorer, candidates, 9)
    return [one.id for one in ranked]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("update CLAUDE.md please", ["CLAUDE.md"]),
        ("see @docs/api.md for it", ["docs/api.md"]),
        ("add it to .gitignore", [".gitignore"]),
        ("the hook in .claude/settings.json", [".claude/settings.json"]),
        ("bump go in go.mod, mise.toml", ["go.mod", "mise.toml"]),
        ("see docs/api.md.", ["docs/api.md"]),
        ("as in https://example.org/docs/api.md", []),
        ("why is it so? and how", []),
    ],
)
def test_names_of_files_are_found_in_a_question(question: str, names: list[str]) -> None:
    assert find_named_files(question) == names


def test_a_name_means_every_file_of_that_name_and_a_path_only_one() -> None:
    assert is_named("docs/README.md", ["README.md"])
    assert is_named("README.md", ["/home/ann/shop/README.md"])
    assert not is_named("docs/README.md", ["src/README.md"])
    assert not is_named("docs/OLD_README.md", ["README.md"])


def test_a_file_that_is_named_comes_before_one_that_fits_better() -> None:
    better, named = match("docs/hooks.md", "hooks", 9.0), match("CLAUDE.md", "style", 1.0)

    assert order("describe the hooks in CLAUDE.md", better, named)[0] == "CLAUDE.md"
    assert order("describe the hooks", better, named)[0] == "docs/hooks.md"


def test_a_file_may_be_called_by_its_name_without_the_ending() -> None:
    log, other = match("CHANGELOG.md", "unreleased", 0.9), match("docs/add.md", "page", 1.0)

    assert order("put it into the changelog as well", other, log)[0] == "CHANGELOG.md"


def test_the_outermost_of_files_with_the_same_name_comes_first() -> None:
    inner, outer = match("web/app/.gitignore", ".gitignore"), match(".gitignore", ".gitignore")

    assert order("add the lock file to .gitignore", inner, outer)[0] == ".gitignore"
