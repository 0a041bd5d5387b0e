"""Programs that describe files: ls, stat, du, diff and similar ones."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace

from ragforge.brain.files.exclusions import VERSION_CONTROL
from ragforge.domain.text import split_words
from ragforge.tools.command.options import (
    CustomProgram,
    GivenOption,
    Kind,
    Option,
    Options,
    Parsed,
    check_paths,
    date,
    layout,
    matching,
    path,
    take_up_to,
)
from ragforge.tools.command.paths import (
    WorkingDirectory,
    check_path,
    check_walks,
    is_directory,
    quote_short,
)
from ragforge.tools.command.plan import NotAllowed, Walk, Word

_NEWER = re.compile(r"-newer[aBcm][aBcmt]")


def take_find(options: Options, place: WorkingDirectory, words: Sequence[Word]) -> list[str]:
    """Take files and directories, and an expression of these options."""
    place = replace(place, describes=True)
    given = list(words)
    while given and given[0].text == "-P":
        del given[0]
    starts = 0
    while starts < len(given) and not _is_expression_start(given[starts].text):
        starts += 1
    found = check_paths(place, given[:starts]) or ["."]
    return [*found, *_check_expression(options, place, given[starts:])]


def _is_expression_start(word: str) -> bool:
    return word.startswith("-") or word in ("!", "(", ")", ",")


def _check_expression(
    options: Options, place: WorkingDirectory, words: Sequence[Word]
) -> list[str]:
    out: list[str] = []
    remaining = list(reversed(words))
    while remaining:
        name = remaining.pop().text
        out.append(name)
        option = options.get(name)
        if option is None and _NEWER.fullmatch(name):
            option = Option(date if name.endswith("t") else path)
        if option is None:
            raise NotAllowed(f"{quote_short(name)} is not on the list of what find may do")
        if option.kind is None:
            continue
        if not remaining:
            raise NotAllowed(f"{quote_short(name)} needs a value")
        out.append(option.kind(place, remaining.pop()))
    return out


_TESTS = split_words("-b -c -d -e -f -g -h -k -L -n -p -r -s -S -u -w -x -z")
_COMPARES = split_words("= == != -eq -ne -lt -le -gt -ge")
_COMPARES_FILES = split_words("-nt -ot -ef")


def _diff(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take two files or directories; in directories, links and secrets are left out."""
    parsed.options.append(_NO_DEREFERENCE)
    found = take_up_to(2)(place, parsed)
    if any(is_directory(place, name) for name in found):
        parsed.walk = Walk(check_walks(place, found), "--exclude=")
        parsed.options += [GivenOption("-x", ("-x", name)) for name in sorted(VERSION_CONTROL)]
        _check_same_name(place, found)
    return found


def _check_same_name(place: WorkingDirectory, found: Sequence[str]) -> None:
    """Check the file that is compared where one name is that of a file, the other a directory's."""
    for file, folder in (found, found[::-1]) if len(found) == 2 else ():
        if is_directory(place, folder) and not is_directory(place, file):
            check_path(place, os.path.join(folder, os.path.basename(file)))


def _test(place: WorkingDirectory, words: Sequence[Word]) -> list[str]:
    place = replace(place, describes=True)
    given = list(words)
    negation = ["!"] if given and given[0].text == "!" else []
    given = given[len(negation) :]
    if len(given) == 2 and given[0].text in ("-n", "-z"):
        return [*negation, given[0].text, given[1].text]
    if len(given) == 2 and given[0].text in _TESTS:
        return [*negation, given[0].text, path(place, given[1])]
    if len(given) == 3 and given[1].text in _COMPARES:
        return [*negation, *(word.text for word in given)]
    if len(given) == 3 and given[1].text in _COMPARES_FILES:
        return [*negation, path(place, given[0]), given[1].text, path(place, given[2])]
    raise NotAllowed("of test only one question or comparison is allowed, as in test -f FILE")


def _take_date(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take a format; anything else would set the clock."""
    for word in parsed.operands:
        if not word.text.startswith("+"):
            raise NotAllowed(f"{quote_short(word.text)} would set the clock")
    return [layout(place, word) for word in parsed.operands]


def _take_names(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take names of programs."""
    if not parsed.operands:
        raise NotAllowed("a name is missing")
    return [_name(place, word) for word in parsed.operands]


def _type(place: WorkingDirectory, words: Sequence[Word]) -> list[str]:
    """Take names of programs, and show where they are."""
    return _take_names(place, Parsed(before=list(words)))


def _take_command(place: WorkingDirectory, words: Sequence[Word]) -> list[str]:
    """Take `command -v NAME`, which asks where a program is; all else runs one."""
    if len(words) != 2 or words[0].text not in ("-v", "-V"):
        raise NotAllowed("of command only `command -v NAME` is allowed")
    return [_name(place, words[1])]


_name = matching(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,60}", "a program's name")
_NO_DEREFERENCE = GivenOption("--no-dereference", ("--no-dereference",))

PROGRAMS = {
    "test": CustomProgram(_test),
    "type": CustomProgram(_type, run_as=("which",)),
    "command": CustomProgram(_take_command, run_as=("which",)),
}
"""Programs with a custom grammar."""
KINDS: dict[str, Kind] = {
    "find_count": matching(r"[+-]?\d{1,12}(\.\d{1,3})?[a-zA-Z]?", "a number"),
    "find_time": matching(r"[+-]?\d{1,12}([smhdw](\d{1,9}[smhdw])*)?", "a number"),
    "find_type": matching(r"[bcdpflsD](,[bcdpflsD]){0,7}", "a file type"),
    "size": matching(r"[+-]?\d{0,12}([kKMGTPE]i?B?)?", "a size"),
    "undashed": matching(r"[^-].*", "a text that does not start with a dash"),
}
OPERANDS = {"diff": _diff, "date": _take_date, "names": _take_names}
