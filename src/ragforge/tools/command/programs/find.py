"""find: starting points inside the project, and tests and actions that only look."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragforge.tools.command.kinds import Kind, layout, matching, number, one_of, path, text
from ragforge.tools.command.options import Listed, Special, checked_paths, listed
from ragforge.tools.command.paths import Place, shown
from ragforge.tools.command.plan import NotAllowed
from ragforge.tools.command.shell import Word

_ALONE = listed(
    "! ( ) , -a -and -daystart -depth -d -empty -executable -false -ignore_readdir_race -ls -mount "
    "-nogroup -noignore_readdir_race -noleaf -not -nouser -nowarn -o -or -print -print0 -prune "
    "-quit -readable -true -warn -writable -xdev"
)
_count = matching(r"[+-]?\d{1,12}(\.\d{1,3})?[a-zA-Z]?", "a number")
_types = matching(r"[bcdpflsD](,[bcdpflsD]){0,7}", "a file type")
_time = matching(r"[+-]?\d{1,12}([smhdw](\d{1,9}[smhdw])*)?", "a number")
_VALUED: dict[str, Kind] = {
    **dict.fromkeys(
        listed(
            "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -user "
            "-group -fstype -perm"
        ),
        text,
    ),
    **dict.fromkeys(listed("-maxdepth -mindepth"), number),
    **dict.fromkeys(listed("-atime -ctime -mtime"), _time),
    **dict.fromkeys(listed("-amin -cmin -mmin -size -used -uid -gid -links -inum"), _count),
    **dict.fromkeys(listed("-type -xtype"), _types),
    **dict.fromkeys(listed("-newer -anewer -cnewer -samefile"), path),
    "-printf": layout,
    "-regextype": one_of(
        "emacs", "posix-awk", "posix-basic", "posix-egrep", "posix-extended", "egrep", "sed"
    ),
}
_NEWER = re.compile(r"-newer[aBcm][aBcmt]")


def _find(place: Place, words: Sequence[Word]) -> list[str]:
    given = list(words)
    while given and given[0].text == "-P":
        del given[0]
    starts = 0
    while starts < len(given) and not _starts_expression(given[starts].text):
        starts += 1
    found = checked_paths(place, given[:starts]) or ["."]
    return [*found, *_expression(place, given[starts:])]


def _starts_expression(word: str) -> bool:
    return word.startswith("-") or word in ("!", "(", ")", ",")


def _expression(place: Place, words: Sequence[Word]) -> list[str]:
    out: list[str] = []
    remaining = list(reversed(words))
    while remaining:
        name = remaining.pop().text
        out.append(name)
        if name in _ALONE:
            continue
        kind = _VALUED.get(name)
        if kind is None and _NEWER.fullmatch(name):
            kind = text if name.endswith("t") else path
        if kind is None:
            raise NotAllowed(f"{shown(name)} is not on the list of what find may do")
        if not remaining:
            raise NotAllowed(f"{shown(name)} needs a value")
        out.append(kind(place, remaining.pop()))
    return out


PROGRAMS: dict[str, Listed] = {"find": Special(_find)}
