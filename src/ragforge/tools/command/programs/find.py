"""find: starting points inside the project, and tests and actions that only look."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ragforge.domain.text import split_words
from ragforge.tools.command.kinds import Kind, date, layout, matching, number, one_of, path, text
from ragforge.tools.command.line import Word
from ragforge.tools.command.options import CustomProgram, ListedProgram, check_paths
from ragforge.tools.command.paths import WorkingDirectory, quote_short
from ragforge.tools.command.plan import NotAllowed

_ALONE = split_words(
    "! ( ) , -a -and -daystart -depth -d -empty -executable -false -ignore_readdir_race -ls -mount "
    "-nogroup -noignore_readdir_race -noleaf -not -nouser -nowarn -o -or -print -print0 -prune "
    "-quit -readable -true -warn -writable -xdev"
)
_count = matching(r"[+-]?\d{1,12}(\.\d{1,3})?[a-zA-Z]?", "a number")
_types = matching(r"[bcdpflsD](,[bcdpflsD]){0,7}", "a file type")
_time = matching(r"[+-]?\d{1,12}([smhdw](\d{1,9}[smhdw])*)?", "a number")
_VALUED: dict[str, Kind] = {
    **dict.fromkeys(
        split_words(
            "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -user "
            "-group -fstype -perm"
        ),
        text,
    ),
    **dict.fromkeys(split_words("-maxdepth -mindepth"), number),
    **dict.fromkeys(split_words("-atime -ctime -mtime"), _time),
    **dict.fromkeys(split_words("-amin -cmin -mmin -size -used -uid -gid -links -inum"), _count),
    **dict.fromkeys(split_words("-type -xtype"), _types),
    **dict.fromkeys(split_words("-newer -anewer -cnewer -samefile"), path),
    "-printf": layout,
    "-regextype": one_of(
        "emacs", "posix-awk", "posix-basic", "posix-egrep", "posix-extended", "egrep", "sed"
    ),
}
_NEWER = re.compile(r"-newer[aBcm][aBcmt]")


def _find(place: WorkingDirectory, words: Sequence[Word]) -> list[str]:
    place = replace(place, describes=True)
    given = list(words)
    while given and given[0].text == "-P":
        del given[0]
    starts = 0
    while starts < len(given) and not _is_expression_start(given[starts].text):
        starts += 1
    found = check_paths(place, given[:starts]) or ["."]
    return [*found, *_check_expression(place, given[starts:])]


def _is_expression_start(word: str) -> bool:
    return word.startswith("-") or word in ("!", "(", ")", ",")


def _check_expression(place: WorkingDirectory, words: Sequence[Word]) -> list[str]:
    out: list[str] = []
    remaining = list(reversed(words))
    while remaining:
        name = remaining.pop().text
        out.append(name)
        if name in _ALONE:
            continue
        kind = _VALUED.get(name)
        if kind is None and _NEWER.fullmatch(name):
            kind = date if name.endswith("t") else path
        if kind is None:
            raise NotAllowed(f"{quote_short(name)} is not on the list of what find may do")
        if not remaining:
            raise NotAllowed(f"{quote_short(name)} needs a value")
        out.append(kind(place, remaining.pop()))
    return out


PROGRAMS: dict[str, ListedProgram] = {"find": CustomProgram(_find)}
