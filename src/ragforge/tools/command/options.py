"""Options: the words of a program checked against its list, and put in canonical form.

Bundled short options are taken apart, long ones must be written out, values are checked by kind.
What is run is built from what was understood, with `--` before the operands: the program cannot
read it in another way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from ragforge.tools.command.kinds import Kind
from ragforge.tools.command.paths import Place, as_path, check_path, expanded, shown
from ragforge.tools.command.plan import NotAllowed
from ragforge.tools.command.shell import Word


@dataclass(frozen=True, slots=True)
class Option:
    """One option on a list."""

    kind: Kind | None = None  # what its value may be; None: it takes none
    attached: bool = False  # the value is optional and stands in the same word
    default: str | None = None  # for the value where the option is the last word
    given_as: str | None = None  # another option that does the same in a safer way


Options: TypeAlias = dict[str, Option]


def listed(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


def flags(names: str) -> dict[str, Option]:
    """Return options without a value."""
    return {name: Option() for name in names.split()}


def valued(kind: Kind, names: str) -> dict[str, Option]:
    """Return options with a value of a kind."""
    return {name: Option(kind) for name in names.split()}


def maybe(kind: Kind, names: str) -> dict[str, Option]:
    """Return options whose value is optional, and attached where it is there."""
    return {name: Option(kind, attached=True) for name in names.split()}


def instead(given_as: str, names: str) -> dict[str, Option]:
    """Return flags that are given to the program as another one."""
    return {name: Option(given_as=given_as) for name in names.split()}


@dataclass(frozen=True, slots=True)
class Given:
    """An option that is there, and the words that give it to the program."""

    name: str
    words: tuple[str, ...]


@dataclass(slots=True)
class Parsed:
    """The words of one command, sorted."""

    options: list[Given] = field(default_factory=list)
    before: list[Word] = field(default_factory=list)  # operands before `--`
    after: list[Word] | None = None  # operands after `--`, where it is there

    @property
    def operands(self) -> list[Word]:
        return [*self.before, *(self.after or [])]

    def has(self, *names: str) -> bool:
        """Tell whether one of the options is there."""
        return any(given.name in names for given in self.options)

    def option_words(self) -> list[str]:
        """Return the options as arguments of the program."""
        return [word for given in self.options for word in given.words]


Operands: TypeAlias = Callable[[Place, Parsed], list[str]]


@dataclass(frozen=True, slots=True)
class Program:
    """A program on the list: its options, and what else it may be given."""

    options: Options
    operands: Operands
    counts: bool = False  # -20 is a number of lines
    run_as: tuple[str, ...] | None = None  # the program and its first arguments
    dashes: bool = True  # it knows `--`

    def arguments(self, place: Place, words: Sequence[Word]) -> list[str]:
        """Return the arguments in canonical form. Raises NotAllowed."""
        if len(words) == 1 and words[0].text in ("--version", "--help"):
            return [words[0].text]
        parsed = read_options(self, place, words)
        operands = self.operands(place, parsed)
        return [*parsed.option_words(), *(["--"] if self.dashes and operands else []), *operands]


class Listed(Protocol):
    """Whatever checks the words of a program."""

    @property
    def run_as(self) -> tuple[str, ...] | None: ...

    def arguments(self, place: Place, words: Sequence[Word]) -> list[str]:
        """Return the arguments in canonical form. Raises NotAllowed."""


@dataclass(frozen=True, slots=True)
class Special:
    """A program with a grammar of its own."""

    check: Callable[[Place, Sequence[Word]], list[str]]
    run_as: tuple[str, ...] | None = None

    def arguments(self, place: Place, words: Sequence[Word]) -> list[str]:
        """Return the arguments in canonical form. Raises NotAllowed."""
        if len(words) == 1 and words[0].text in ("--version", "--help"):
            return [words[0].text]
        return self.check(place, words)


_COUNT = re.compile(r"-\d{1,9}")


def read_options(program: Program, place: Place, words: Sequence[Word]) -> Parsed:
    """Sort words into options and operands. Raises NotAllowed for an option off the list."""
    parsed = Parsed()
    remaining = list(reversed(words))
    while remaining:
        word = remaining.pop()
        text = word.text
        if text == "--":
            parsed.after = list(reversed(remaining))
            return parsed
        if not text.startswith("-") or text == "-":
            parsed.before.append(word)
        elif program.counts and _COUNT.fullmatch(text):
            parsed.options.append(Given(text, (text,)))
        elif text.startswith("--") or text in program.options:
            _read_long(program, place, word, remaining, parsed)
        else:
            _read_bundle(program, place, word, remaining, parsed)
    return parsed


def _read_long(
    program: Program, place: Place, word: Word, remaining: list[Word], parsed: Parsed
) -> None:
    name, equals, value = word.text.partition("=")
    option = program.options.get(name)
    if option is None:
        raise NotAllowed(f"the option {shown(name)} is not on the list")
    final = option.given_as or name
    if option.kind is None and equals:
        raise NotAllowed(f"the option {shown(name)} takes no value")
    if option.kind is None or (option.attached and not equals):
        parsed.options.append(Given(name, (final,)))
        return
    if not equals and not remaining and option.default is not None:
        remaining.append(Word(option.default))
    checked = option.kind(place, Word(value) if equals else _next(name, remaining))
    long = final.startswith("--")
    parsed.options.append(Given(name, (f"{final}={checked}",) if long else (final, checked)))


def _read_bundle(
    program: Program, place: Place, word: Word, remaining: list[Word], parsed: Parsed
) -> None:
    letters = word.text[1:]
    while letters:
        name, letters = f"-{letters[0]}", letters[1:]
        option = program.options.get(name)
        if option is None:
            raise NotAllowed(f"the option {shown(name)} is not on the list")
        final = option.given_as or name
        if option.kind is None or (option.attached and not letters):
            parsed.options.append(Given(name, (final,)))
            continue
        checked = option.kind(place, Word(letters) if letters else _next(name, remaining))
        words = (final + checked,) if option.attached else (final, checked)
        parsed.options.append(Given(name, words))
        return


def _next(name: str, remaining: list[Word]) -> Word:
    if not remaining:
        raise NotAllowed(f"the option {shown(name)} needs a value")
    return remaining.pop()


def no_operands(place: Place, parsed: Parsed) -> list[str]:
    """Take no operands."""
    if parsed.operands:
        raise NotAllowed(f"{shown(parsed.operands[0].text)} is not expected here")
    return []


def texts(place: Place, parsed: Parsed) -> list[str]:
    """Take operands that are only compared or printed."""
    return [word.text for word in parsed.operands]


def paths(place: Place, parsed: Parsed) -> list[str]:
    """Take files and directories inside the project."""
    return checked_paths(place, parsed.operands)


def at_most(count: int) -> Operands:
    """Take so many files at most: to some programs one more is a file to write."""

    def take(place: Place, parsed: Parsed) -> list[str]:
        found = checked_paths(place, parsed.operands)
        if len(found) > count:
            raise NotAllowed(f"it is given more than {count} file{'s' if count > 1 else ''}")
        return found

    return take


def checked_paths(place: Place, words: Sequence[Word]) -> list[str]:
    """Return the paths of words, patterns expanded, each of them inside the project."""
    found = []
    for word in words:
        for name in expanded(place, word):
            if name != "-":
                check_path(place, name)
            found.append(as_path(name))
    return found


def pattern_then_paths(*given_by: str) -> Operands:
    """Take a pattern, unless one of these options has given it, and then paths."""

    def take(place: Place, parsed: Parsed) -> list[str]:
        words = parsed.operands
        if parsed.has(*given_by):
            return checked_paths(place, words)
        if not words:
            raise NotAllowed("a pattern is missing")
        return [words[0].text, *checked_paths(place, words[1:])]

    return take
