"""Fuzz: a hundred thousand mutated lines, each allowed one judged by an independent oracle.

The lines are shown to the decider; none is ever run.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

from ragforge.tools.command.decide import decide
from ragforge.tools.command.plan import Allowed
from tests.conftest import Effort
from tests.unit.tools.command.allowed_lines import ALLOWED
from tests.unit.tools.command.oracle import complaints
from tests.unit.tools.command.refused_lines import LINES

COUNT = 100_000
PIECES = [
    *";&|<>(){}$`'\"\\#!~*?[]=,./-:%@^+",
    *"\n\t\r\0",
    *["&&", "||", "|&", ">>", "<<", "<(", "$(", "${", "$'", '$"', "..", "../", "/etc/passwd", "--"],
    *["2>/dev/null", "2>&1", ">/dev/null", ">x", "&>x", "{a,b}", "\\\n", "\u00a0", "\u2003"],
    *[
        "-o",
        "-exec",
        "-delete",
        "-i",
        "-f",
        "-O",
        "--output=x",
        "--pre=x",
        "--ext-diff",
        "-c",
        "-C",
    ],
    *[
        "-L",
        "-R",
        "w x",
        "e id",
        "1e id",
        "s/a/b/e",
        "s/a/b/w x",
        ";w x",
        "system(1)",
        "> x",
        "| x",
    ],
    *[
        "A=1 ",
        "cd .. && ",
        "rm ",
        "git ",
        "sed ",
        "awk ",
        "find ",
        "sort ",
        "xargs ",
        "é",
        " ",
        "  ",
    ],
]
QUOTES = str.maketrans({"'": '"', '"': "'"})


def mutations(chance: random.Random, count: int) -> Iterator[str]:
    """Yield lines that are near to good ones and to bad ones."""
    corpus = [*ALLOWED, *ALLOWED, *LINES]
    for _ in range(count):
        line = chance.choice(corpus)
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            line = mutated(chance, line, corpus)
        yield line


def mutated(chance: random.Random, line: str, corpus: list[str]) -> str:
    at = chance.randint(0, len(line))
    kind = chance.randrange(9)
    if kind == 0:
        return line[:at] + line[at + chance.randint(1, 3) :]
    if kind == 1:
        return line.translate(QUOTES)
    if kind == 2:
        other = chance.choice(corpus)
        return line[:at] + other[chance.randint(0, len(other)) :]
    if kind == 3:
        return line + chance.choice((" | ", " && ", " || ", "; ", "\n")) + chance.choice(corpus)
    if kind == 4:
        words = line.split(" ")
        words.insert(chance.randint(0, len(words)), chance.choice(PIECES))
        return " ".join(words)
    if kind == 5:
        words = line.split(" ")
        chance.shuffle(words)
        return " ".join(words)
    if kind == 6:
        words, others = line.split(" "), chance.choice(corpus).split(" ")
        words[chance.randrange(len(words))] = chance.choice(others)
        return " ".join(words)
    return line[:at] + chance.choice(PIECES) + line[at:]


def test_no_mutated_line_is_allowed_that_an_independent_reader_would_refuse(
    project: Path, effort: Effort
) -> None:
    count = effort(COUNT // 10, COUNT)
    seed = effort(20_240_601, time.time_ns())  # `make test` says the same of the same code
    root = str(project)
    allowed = 0
    for line in mutations(random.Random(seed), count):
        decision = decide(line, root)
        if isinstance(decision, Allowed):
            allowed += 1
            assert complaints(line, decision, project) == [], f"{line!r} (seed {seed})"
    assert allowed > count // 20, "the fuzzer makes too few lines that are allowed"


def test_the_oracle_itself_objects_to_bad_plans(project: Path) -> None:
    from ragforge.tools.command.plan import PipelineStep, Stage

    def plan(program: str, *words: str) -> Allowed:
        return Allowed((PipelineStep(";", (Stage(program, words, str(project)),)),))

    for program, *words in (
        ["rm", "x"],
        ["sort", "-o", "x"],
        ["find", ".", "-delete"],
        ["cat", "--", "/etc/passwd"],
        ["git", "push"],
        ["git", "-c", "alias.x=!id", "x"],
        ["git", "branch", "x"],
        ["sed", "--", "w x"],
        ["sed", "--", "p;1e id"],
        ["sed", "--", "s/a/b/w x"],
        ["awk", "--", '{print | "sh"}'],
        ["uniq", "--", "a", "b"],
    ):
        assert complaints("ls", plan(program, *words), project), (program, words)
    for line in ("ls > x", "ls $(id)", "ls & cat", "rm x", 'ls "$HOME"'):
        assert complaints(line, plan("ls"), project), line
