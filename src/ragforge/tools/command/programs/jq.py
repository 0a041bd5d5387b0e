"""jq: filters over JSON from files inside the project; no modules, no environment."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragforge.domain.text import split_words
from ragforge.tools.command.line import Word
from ragforge.tools.command.options import CustomProgram, ListedProgram, check_paths
from ragforge.tools.command.paths import WorkingDirectory, quote_short
from ragforge.tools.command.plan import NotAllowed
from ragforge.tools.command.programs.jq_filter import check_filter

_LETTERS = frozenset("acCejMnrRsS")
_LONG = split_words(
    "--ascii-output --color-output --compact-output --exit-status --join-output "
    "--monochrome-output --null-input --raw-input --raw-output --slurp --sort-keys --tab"
)


def _take_jq(place: WorkingDirectory, words: Sequence[Word]) -> list[str]:
    options: list[str] = []
    operands: list[Word] = []
    remaining = list(reversed(words))
    while remaining:
        word = remaining.pop()
        if not word.text.startswith("-"):
            operands.append(word)
        elif word.text in _LONG:
            options.append(word.text)
        elif word.text == "--indent":
            options += ["--indent", _take_value(remaining, r"[0-7]")]
        elif word.text in ("--arg", "--argjson"):
            options += [
                word.text,
                _take_value(remaining, r"[A-Za-z_]\w*"),
                _take_value(remaining, r"[^-].*"),
            ]
        elif re.fullmatch(r"-[A-Za-z]+", word.text) and _LETTERS.issuperset(word.text[1:]):
            options += [f"-{letter}" for letter in word.text[1:]]
        else:
            raise NotAllowed(f"the option {quote_short(word.text)} is not on the list")
    if not operands:
        raise NotAllowed("a jq filter is missing")
    check_filter(operands[0].text)
    return [*options, operands[0].text, *check_paths(place, operands[1:])]


def _take_value(remaining: list[Word], pattern: str) -> str:
    value = remaining.pop().text if remaining else ""
    if not re.fullmatch(pattern, value, re.DOTALL):
        raise NotAllowed(f"{quote_short(value)} is not a value that jq may be given")
    return value


PROGRAMS: dict[str, ListedProgram] = {"jq": CustomProgram(_take_jq)}
