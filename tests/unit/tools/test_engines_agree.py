"""Both engines find the same, in random trees with random patterns."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ragforge.tools.engine import InPython, best_engine
from ragforge.tools.grep_files import GrepArguments, grep_files
from ragforge.tools.search_files import SearchArguments, search_files
from ragforge.tools.workspace import Workspace
from tests.unit.tools.conftest import write

WORDS = [
    "alpha",
    "beta_gamma",
    "GammaDelta",
    "été",
    "naïve",
    "x1",
    "foo(bar)",
    "a.b",
    "  ",
    "中文",
    "",
]
ENDS = ["\n", "\n", "\n", "\r\n"]
NAMES = [
    "a.py",
    "b c.ts",
    "-d.md",
    "é.txt",
    "lib/x.py",
    "lib/deep/y.ts",
    "out/z.py",
    "new\nline.py",
]
ENCODINGS = ["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16"]
RULES = ["", "out/\n", "*.ts\n", "lib/*\n!lib/deep/\n"]
PIECES = ["alpha", "beta", r"\w+", "é", ".", "^", "$", "[a-g]+", r"\d", r"\b", "(?:foo|bar)", r"\s"]
REPEATS = ["", "", "", "*", "+?", "{2}", "|"]


def tree(root: Path, dice: random.Random) -> None:
    """Write a random project."""
    for name in NAMES:
        lines = [" ".join(dice.choices(WORDS, k=dice.randrange(5))) for _ in range(8)]
        text = "".join(line + dice.choice(ENDS) for line in lines)
        data = dice.choice([text, text.rstrip()]).encode(dice.choice(ENCODINGS))
        write(root, {name: b"\0" + data if dice.random() < 0.05 else data})
    write(root, {".gitignore": dice.choice(RULES), "lib/.ragforgeignore": dice.choice(RULES)})


def regex(dice: random.Random) -> str:
    """Return a pattern that means the same to both."""
    parts = [dice.choice(PIECES) for _ in range(dice.randrange(1, 4))]
    return "".join(f"(?:{part}){dice.choice(REPEATS)}" for part in parts)


@pytest.mark.parametrize("seed", range(6))
async def test_a_regex_finds_the_same_with_and_without_ripgrep(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    tree(tmp_path, dice)
    either = [Workspace.at(tmp_path, best_engine()), Workspace.at(tmp_path, InPython())]

    for _ in range(10):
        given = GrepArguments(
            pattern=dice.choice(["**", "*.py", "lib/", "**/*.{ts,md}"]),
            regex=regex(dice),
            ignore_case=dice.random() < 0.5,
            max_results=dice.choice([3, 1000]),
            context_lines=dice.choice([0, 2]),
        )
        rust, python = [await grep_files(workspace, given, 60) for workspace in either]
        assert rust == python, given


@pytest.mark.parametrize("seed", range(4))
async def test_words_are_found_alike_with_and_without_ripgrep(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    tree(tmp_path, dice)
    either = [Workspace.at(tmp_path, best_engine()), Workspace.at(tmp_path, InPython())]

    for query in ("alpah", "gamma delta", "betagama", "naive", "étés", "foo bar"):
        given = SearchArguments(pattern="**", query=query, threshold=dice.choice([0.6, 0.8]))
        rust, python = [await search_files(workspace, given, 60) for workspace in either]
        assert rust == python, given
        assert list(rust.matches) == sorted(
            rust.matches, key=lambda match: (-(match.similarity or 0), match.file, match.line)
        )
