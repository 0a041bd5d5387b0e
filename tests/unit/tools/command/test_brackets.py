"""Brackets in regular expressions of awk and sed: programs must end them where the decider does.

In each script the rule that exits with 7 comes first. A program that takes the random expression
for an open bracket reads on to the next one, and only the exit with 8 is left of the script. So
nothing but an exit is ever executed.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable, Iterator

import pytest

from ragforge.tools.command.plan import NotAllowed
from ragforge.tools.command.programs.awk import check_program
from ragforge.tools.command.programs.sed import check_script
from tests.conftest import Effort

AWK = "/{}/{{next}} BEGIN{{exit 7}} /]/{{next}} BEGIN{{exit 8}}"
SED = "s/{}/x/;q7;s/]/x/;q8"
READ_AS_DECIDED, READ_ON = 7, 8
MEMBERS = ["a", "b-z", "^", "-", "]", "[", ":", "\\", "\\]", "\\[", "\\/", "/", ".", "é", "\\\\"]
MEMBERS += ["[:alpha:]", "[:x:]", "[:", ":]", "[.a.]", "[=a=]", "[.", ".]", "{", "(", "|", "*"]


def make_expressions(count: int) -> Iterator[str]:
    """Yield expressions that are mostly brackets, many of them strange."""
    chance = random.Random(count)
    for _ in range(count):
        brackets = [_make_bracket(chance) for _ in range(chance.choice((1, 1, 2)))]
        yield chance.choice(("", "", "a", "\\[", "]", "^")).join(["", *brackets])


def _make_bracket(chance: random.Random) -> str:
    members = chance.choices(MEMBERS, k=chance.choice((0, 0, 1, 1, 2, 3)))
    return "[" + chance.choice(("", "^", "]", "^]")) + "".join(members) + "]"


def is_accepted(check: Callable[[str], None], script: str) -> bool:
    try:
        check(script)
    except NotAllowed:
        return False
    return True


@pytest.mark.parametrize("program", ["mawk", "gawk", "original-awk", "busybox awk", "sed"])
def test_a_program_ends_a_bracket_where_the_decider_does(program: str, effort: Effort) -> None:
    command = program.split()
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    check, script = (check_script, SED) if program == "sed" else (check_program, AWK)
    written = [script.format(one) for one in make_expressions(effort(500, 10_000))]
    accepted = {one for one in written if is_accepted(check, one)}

    read = {one: run(command, one) for one in accepted}

    assert len(accepted) > len(written) / 50
    assert [one for one, code in read.items() if code == READ_ON] == []
    assert list(read.values()).count(READ_AS_DECIDED) > len(accepted) / 2


def run(command: list[str], script: str) -> int:
    """Return the exit code; scripts that the program does not understand have another one."""
    done = subprocess.run([*command, script], input=b"\n", capture_output=True, check=False)
    assert b"syntax error" not in done.stderr.replace(b"syntax error in regular", b""), script
    return done.returncode


@pytest.mark.parametrize(("check", "script"), [(check_program, AWK), (check_script, SED)])
def test_the_decider_accepts_no_bracket_that_posix_leaves_open(
    check: Callable[[str], None], script: str
) -> None:
    """Programs that are not installed here, those of BSD among them, follow POSIX."""
    expressions = [
        one for one in make_expressions(10_000) if is_accepted(check, script.format(one))
    ]

    assert [one for one in expressions if leaves_open(one)] == []


def leaves_open(expression: str) -> bool:
    """Read brackets as POSIX does: `]` is a member at the start, and so is `\\` anywhere."""
    at = 0
    while at < len(expression):
        if expression[at] == "\\":
            at += 2
            continue
        if expression[at] == "[":
            at += 2 if expression[at + 1 : at + 2] == "^" else 1
            at += expression[at : at + 1] == "]"
            while at < len(expression) and expression[at] != "]":
                kind = expression[at + 1 : at + 2]
                if expression[at] == "[" and kind and kind in ":.=":
                    at = expression.find(f"{kind}]", at + 2) + 1
                    if at == 0:
                        return True
                at += 1
            if at >= len(expression):
                return True
        at += 1
    return False
