"""Each: xargs and `find -exec`, done by RagForge itself.

The names that they add to a command are not known when a line is decided. So a command is decided
with a name that means nothing, and again with each name that arrives.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from ragforge.tools.command.paths import WorkingDirectory, as_path, expand_pattern, quote_short
from ragforge.tools.command.plan import ForEachName, NotAllowed, Stage, Word

MAX_NAMES = 20_000
_MAX_CHARS = 100_000
_SOME_NAME = "some-name-that-arrives"
_ACTIONS = frozenset({"-print", "-print0", "-printf", "-ls", "-exec", "-execdir", "-ok", "-okdir"})
_ENDS = frozenset({";", "+"})

PlanOne: TypeAlias = Callable[[WorkingDirectory, Sequence[Word]], Stage]
"""Returns the only program that words run. Raises NotAllowed."""


def read_xargs(place: WorkingDirectory, words: Sequence[Word], plan: PlanOne) -> ForEachName:
    """Return what `xargs …` does with each name. Raises NotAllowed."""
    separator, placeholder, per = "blank", None, None
    remaining = list(reversed(words))
    while remaining and remaining[-1].text.startswith("-"):
        name, value = _split_option(remaining)
        if name in ("-0", "--null"):
            separator = "nul"
        elif name == "-d" and value in (r"\n", "\n"):
            separator = "line"
        elif name == "-I" and value and not value.startswith("-"):
            separator, placeholder, per = "line", value, 1
        elif name in ("-n", "--max-args") and re.fullmatch(r"[1-9]\d{0,3}", value):
            per = int(value)
        elif name == "-P" and re.fullmatch(r"\d{1,3}", value):
            pass  # one after the other: that changes nothing but the time it takes
        elif name not in ("-r", "--no-run-if-empty"):
            raise NotAllowed(f"the option {quote_short(name)} of xargs is not on the list")
    command = _expand(place, list(reversed(remaining))) or ("echo",)
    each = ForEachName(command, separator, placeholder, per)  # type: ignore[arg-type]
    _check(place, each, plan)
    return each


def _split_option(remaining: list[Word]) -> tuple[str, str]:
    text = remaining.pop().text
    if text.startswith("--"):
        name, _, value = text.partition("=")
        return name, value
    name, value = text[:2], text[2:]
    if name in ("-n", "-I", "-d", "-P"):
        return name, value or (remaining.pop().text if remaining else "")
    if value:
        remaining.append(Word(f"-{value}"))
    return name, ""


def split_exec(
    place: WorkingDirectory, words: Sequence[Word], plan: PlanOne
) -> tuple[list[Word], ForEachName] | None:
    """Return the words of find that print the names, and what its -exec does with each.

    None if there is no -exec. Raises NotAllowed.
    """
    texts = [word.text for word in words]
    if "-exec" not in texts:
        return None
    start = texts.index("-exec")
    end = next((at for at in range(start, len(texts)) if texts[at] in _ENDS), None)
    rest = [] if end is None else texts[end + 1 :]
    others = _ACTIONS.intersection([*texts[:start], *rest])
    if end is None or others or any(text != ")" for text in rest):
        raise NotAllowed("-exec is only allowed as the last and only action of find")
    command = _expand(place, words[start + 1 : end])
    if texts[end] == "+" and (command[-1:] != ("{}",) or command.count("{}") > 1):
        raise NotAllowed("-exec … + needs one {} before the +")
    if texts[end] == "+":
        each = ForEachName(command[:-1], "nul", failure=1)
    else:
        each = ForEachName(command, "nul", "{}", per=1, failure=0)
    _check(place, each, plan)
    return [*words[:start], Word("-print0"), *words[end + 1 :]], each


def _expand(place: WorkingDirectory, words: Sequence[Word]) -> tuple[str, ...]:
    if words and (not words[0].plain or words[0].glob is not None):
        raise NotAllowed("the program's name is quoted or a pattern")
    return tuple(name for word in words for name in expand_pattern(place, word))


def _check(place: WorkingDirectory, each: ForEachName, plan: PlanOne) -> None:
    """Decide on the command with a name that means nothing."""
    if not each.words or (each.placeholder and each.placeholder in each.words[0]):
        raise NotAllowed("the program is missing, or would be one of the names")
    plan(place, _fill(each, [_SOME_NAME]))


def split_names(each: ForEachName, output: bytes) -> list[str]:
    """Return the names in an output. Raises NotAllowed if their quotes do not match."""
    text = output.decode(errors="surrogateescape")
    if each.separator == "nul":
        names = text.split("\0")
    elif each.separator == "line":
        names = [line.lstrip(" \t") for line in text.split("\n")]
    else:
        try:
            names = [name for line in text.split("\n") for name in shlex.split(line)]
        except ValueError:
            raise NotAllowed("xargs: unmatched quotes in the names; use -0 or -d") from None
    return [name for name in names if name]


def plan_commands(
    place: WorkingDirectory, each: ForEachName, names: Sequence[str], plan: PlanOne
) -> tuple[list[Stage], list[str]]:
    """Return the programs to run, and a note for each name that is left out."""
    fit: list[str] = []
    notes: list[str] = []
    for name in names[:MAX_NAMES]:
        try:
            plan(place, _fill(each, [name]))
        except NotAllowed as refusal:
            notes.append(f"{name}: left out: {refusal}")
        else:
            fit.append(name)
    if len(names) > MAX_NAMES:
        notes.append(f"only the first {MAX_NAMES:,} of {len(names):,} names were taken")
    return [plan(place, _fill(each, batch)) for batch in _batch(each, fit)], notes


def _batch(each: ForEachName, names: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    chars = 0
    for name in names:
        if batch and (len(batch) == each.per or chars + len(name) > _MAX_CHARS):
            yield batch
            batch, chars = [], 0
        batch.append(name)
        chars += len(name) + 1
    if batch:
        yield batch


def _fill(each: ForEachName, names: Sequence[str]) -> list[Word]:
    """Return the command with names in it. A name is never an option."""
    if each.placeholder is None:
        return [*map(Word, each.words), *(Word(as_path(name)) for name in names)]
    filled = []
    for word in each.words:
        text = word.replace(each.placeholder, names[0])
        filled.append(Word(text if word.startswith("-") else as_path(text)))
    return filled
