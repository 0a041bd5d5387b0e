"""Options: check the words of a program against its list, and put them in canonical form.

Bundled short options are taken apart, long ones must be written out, values are checked by kind.
The command is built from the parsed options, with `--` before the operands, so that the program
cannot read it differently. The lists are in files: see `programs/options.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, TypeAlias

from ragforge.records import dataclass
from ragforge.tools.command.paths import (
    WorkingDirectory,
    as_path,
    check_path,
    expand_pattern,
    quote_short,
)
from ragforge.tools.command.plan import NotAllowed, Walk, Word

Kind: TypeAlias = Callable[[WorkingDirectory, Word], str]
"""Returns the value as it is given to the program. Raises NotAllowed."""


def matching(pattern: str, what: str) -> Kind:
    """Return the kind of values that match a regular expression as a whole."""
    compiled = re.compile(pattern)

    def check(place: WorkingDirectory, word: Word) -> str:
        if compiled.fullmatch(word.text) is None:
            raise NotAllowed(f"{quote_short(word.text)} is not {what}")
        return word.text

    return check


def one_of(*values: str) -> Kind:
    """Return the kind of values that are on a list."""

    def check(place: WorkingDirectory, word: Word) -> str:
        if word.text not in values:
            raise NotAllowed(f"{quote_short(word.text)} is not one of {', '.join(values)}")
        return word.text

    return check


def text(place: WorkingDirectory, word: Word) -> str:
    """Anything: the program only compares or prints it."""
    return word.text


def path(place: WorkingDirectory, word: Word) -> str:
    """A file or directory inside the project."""
    check_path(place, word.text)
    return as_path(word.text)


def pathspec_text(place: WorkingDirectory, word: Word) -> str:
    """A range of lines with a path, as in `10,20:src/app.py`; it may not climb out."""
    last = word.text.rpartition(":")[2]
    if last.startswith("/") or ".." in last.split("/"):
        check_path(place, last)
    return word.text


_WIDE = re.compile(r"%[^A-Za-z%]*(\d{5}|\*)|%w?\([^)]*\d{5}")


def layout(place: WorkingDirectory, word: Word) -> str:
    """A format, also of dates; widths of many digits would make a line of gigabytes."""
    if _WIDE.search(word.text):
        raise NotAllowed(f"the format {quote_short(word.text)} has a width that is too large")
    return word.text


number = matching(r"\d{1,9}", "a number")
signed = matching(r"[+-]?\d{1,12}", "a number")
amount = matching(r"[+-]?\d{1,12}([kKMGTPE]i?B?|b)?", "a number")
ranges = matching(r"[\d,-]{1,200}", "a list of fields")
when = one_of("always", "never", "auto")
# GNU's reader of dates opens the file that TZ="…" names.
date = matching(r"[\w :,.+/@-]{1,100}", "a date")


@dataclass(frozen=True, slots=True)
class Option:
    """One option on a list."""

    kind: Kind | None = None  # what its value may be; None: it takes none
    attached: bool = False  # the value is optional and in the same word
    default: str | None = None  # for the value where the option is the last word
    given_as: str | None = None  # another option that does the same in a safer way


Options: TypeAlias = dict[str, Option]


@dataclass(frozen=True, slots=True)
class GivenOption:
    """An option of a line, and the words that pass it to the program."""

    name: str
    words: tuple[str, ...]


@dataclass(slots=True)
class Parsed:
    """The words of one command, sorted."""

    options: list[GivenOption] = field(default_factory=list)
    before: list[Word] = field(default_factory=list)  # operands before `--`
    after: list[Word] | None = None  # operands after `--`, where it is there
    walk: Walk | None = None

    @property
    def operands(self) -> list[Word]:
        return [*self.before, *(self.after or [])]

    def has(self, *names: str) -> bool:
        """Tell whether one of the options is there."""
        return any(given.name in names for given in self.options)

    def option_words(self) -> list[str]:
        """Return the options as arguments of the program."""
        return [word for given in self.options for word in given.words]


@dataclass(frozen=True, slots=True)
class ProgramArguments:
    """The arguments of a program in canonical form."""

    words: tuple[str, ...]
    walk: Walk | None = None


Operands: TypeAlias = Callable[[WorkingDirectory, Parsed], list[str]]


@dataclass(frozen=True, slots=True)
class ProgramRules:
    """A program on the list: its options, and what else it may be given."""

    options: Options
    operands: Operands
    counts: bool = False  # -20 is a number of lines
    run_as: tuple[str, ...] | None = None  # the program and its first arguments
    dashes: bool = True  # it knows `--`
    describes: bool = False  # it shows names and sizes of files, not their contents

    def arguments(self, place: WorkingDirectory, words: Sequence[Word]) -> ProgramArguments:
        """Return the arguments in canonical form. Raises NotAllowed."""
        if len(words) == 1 and words[0].text in ("--version", "--help"):
            return ProgramArguments((words[0].text,))
        place = replace(place, describes=self.describes)
        parsed = read_options(self, place, words)
        operands = self.operands(place, parsed)
        last = [*(["--"] if self.dashes and operands else []), *operands]
        walk = parsed.walk and replace(parsed.walk, followed_by=len(last))
        return ProgramArguments((*parsed.option_words(), *last), walk)


@dataclass(frozen=True, slots=True)
class CustomProgram:
    """A program with a custom grammar."""

    check: Callable[[WorkingDirectory, Sequence[Word]], list[str]]
    run_as: tuple[str, ...] | None = None

    def arguments(self, place: WorkingDirectory, words: Sequence[Word]) -> ProgramArguments:
        """Return the arguments in canonical form. Raises NotAllowed."""
        if len(words) == 1 and words[0].text in ("--version", "--help"):
            return ProgramArguments((words[0].text,))
        return ProgramArguments(tuple(self.check(place, words)))


ListedProgram: TypeAlias = ProgramRules | CustomProgram
"""A program on the list."""
_Section: TypeAlias = Mapping[str, Any]


def load_rules(
    file: Path, kinds: Mapping[str, Kind], operands: Mapping[str, Operands]
) -> dict[str, ProgramRules]:
    """Return the rules in a file, which names kinds of values and functions for operands."""
    sections = tomllib.loads(file.read_text("utf-8"))
    known = {**sections, **sections.pop("groups", {})}
    rules = {}
    for name, section in sections.items():
        layers = list(_list_layers(section, known))
        facts = {key: value for layer in layers for key, value in layer.items()}
        run_as = facts.get("run_as", "").split()
        rules[name] = ProgramRules(
            {name: option for layer in layers for name, option in _read_section(layer, kinds)},
            operands[facts["operands"]],
            facts.get("counts", False),
            tuple(run_as) or None,
            facts.get("dashes", True),
            facts.get("describes", False),
        )
    return rules


def _list_layers(section: _Section, known: Mapping[str, _Section]) -> Iterator[_Section]:
    """Yield the sections that one is like, and then the section itself."""
    for name in section.get("like", "").split():
        yield from _list_layers(known[name], known)
    yield section


def _read_section(section: _Section, kinds: Mapping[str, Kind]) -> Iterator[tuple[str, Option]]:
    """Yield the options that a section lists, by their names."""
    yield from ((name, Option()) for name in section.get("flags", "").split())
    for given_as, names in section.get("instead", {}).items():
        yield from ((name, Option(given_as=given_as)) for name in names.split())
    pairs = section.get("default", {}).items()
    defaults = {name: value for value, names in pairs for name in names.split()}
    for key, attached in (("takes", False), ("maybe", True)):
        listed = [(kinds[kind], names) for kind, names in section.get(key, {}).items()]
        choices = section.get(f"{key}_one_of", {}).items()
        listed += [(one_of(*values.split()), names) for names, values in choices]
        for kind, names in listed:
            for name in names.split():
                yield name, Option(kind, attached, defaults.get(name))


_COUNT = re.compile(r"-\d{1,9}")


def read_options(program: ProgramRules, place: WorkingDirectory, words: Sequence[Word]) -> Parsed:
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
            parsed.options.append(GivenOption(text, (text,)))
        elif text.startswith("--") or text in program.options:
            _read_long(program, place, word, remaining, parsed)
        else:
            _read_bundle(program, place, word, remaining, parsed)
    return parsed


def _read_long(
    program: ProgramRules,
    place: WorkingDirectory,
    word: Word,
    remaining: list[Word],
    parsed: Parsed,
) -> None:
    name, equals, value = word.text.partition("=")
    option = program.options.get(name)
    if option is None:
        raise NotAllowed(f"the option {quote_short(name)} is not on the list")
    final = option.given_as or name
    if option.kind is None and equals:
        raise NotAllowed(f"the option {quote_short(name)} takes no value")
    if option.kind is None or (option.attached and not equals):
        parsed.options.append(GivenOption(name, (final,)))
        return
    if not equals and not remaining and option.default is not None:
        remaining.append(Word(option.default))
    checked = option.kind(place, Word(value) if equals else _take_next(name, remaining))
    words = (f"{final}={checked}",) if final.startswith("--") else _pass_value(final, checked)
    parsed.options.append(GivenOption(name, words))


def _read_bundle(
    program: ProgramRules,
    place: WorkingDirectory,
    word: Word,
    remaining: list[Word],
    parsed: Parsed,
) -> None:
    letters = word.text[1:]
    while letters:
        name, letters = f"-{letters[0]}", letters[1:]
        option = program.options.get(name)
        if option is None:
            raise NotAllowed(f"the option {quote_short(name)} is not on the list")
        final = option.given_as or name
        if option.kind is None or (option.attached and not letters):
            parsed.options.append(GivenOption(name, (final,)))
            continue
        checked = option.kind(place, Word(letters) if letters else _take_next(name, remaining))
        words = (final + checked,) if option.attached else _pass_value(final, checked)
        parsed.options.append(GivenOption(name, words))
        return


def _pass_value(name: str, value: str) -> tuple[str, ...]:
    """Return the words of an option; a value that looks like another option stays attached."""
    attach = value.startswith("-") and value != "-" and len(name) == len("-x")
    return (name + value,) if attach else (name, value)


def _take_next(name: str, remaining: list[Word]) -> Word:
    if not remaining:
        raise NotAllowed(f"the option {quote_short(name)} needs a value")
    return remaining.pop()


def take_no_operands(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take no operands."""
    if parsed.operands:
        raise NotAllowed(f"{quote_short(parsed.operands[0].text)} is not expected here")
    return []


def take_texts(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take operands that are only compared or printed."""
    return [word.text for word in parsed.operands]


def take_paths(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take files and directories inside the project."""
    return check_paths(place, parsed.operands)


def take_up_to(count: int) -> Operands:
    """Take at most `count` files: to some programs one more is a file to write."""

    def take(place: WorkingDirectory, parsed: Parsed) -> list[str]:
        found = check_paths(place, parsed.operands)
        if len(found) > count:
            raise NotAllowed(f"it is given more than {count} file{'s' if count > 1 else ''}")
        return found

    return take


def check_paths(place: WorkingDirectory, words: Sequence[Word]) -> list[str]:
    """Return the paths of words, patterns expanded, each of them inside the project."""
    found = []
    for word in words:
        for name in expand_pattern(place, word):
            if name != "-":
                check_path(place, name)
            found.append(as_path(name))
    return found


def take_pattern_then_paths(*given_by: str) -> Operands:
    """Take a pattern, unless one of these options has given it, and then paths."""

    def take(place: WorkingDirectory, parsed: Parsed) -> list[str]:
        words = parsed.operands
        if parsed.has(*given_by):
            return check_paths(place, words)
        if not words:
            raise NotAllowed("a pattern is missing")
        return [words[0].text, *check_paths(place, words[1:])]

    return take
