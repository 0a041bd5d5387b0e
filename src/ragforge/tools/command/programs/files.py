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
    ListedProgram,
    Parsed,
    ProgramRules,
    amount,
    check_paths,
    date,
    flags,
    layout,
    matching,
    maybe,
    number,
    one_of,
    path,
    take_no_operands,
    take_paths,
    take_texts,
    take_up_to,
    takes,
    text,
    when,
)
from ragforge.tools.command.paths import (
    WorkingDirectory,
    check_path,
    check_walks,
    is_directory,
    quote_short,
)
from ragforge.tools.command.plan import NotAllowed, Walk, Word

_WITHOUT_VALUE = split_words(
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
        if name in _WITHOUT_VALUE:
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


_size = matching(r"[+-]?\d{0,12}([kKMGTPE]i?B?)?", "a size")
_undashed = matching(r"[^-].*", "a text that does not start with a dash")
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

PROGRAMS: dict[str, ListedProgram] = {
    "find": CustomProgram(_find),
    "ls": ProgramRules(
        flags(
            "-1 -a -A -b -B -c -C -d -f -F -g -G -h -i -k -l -m -n -N -o -p -q -Q -r -R -s -S -t "
            "-u -U -v -x -X -Z --all --almost-all --author --directory --classify --dired "
            "--escape --file-type --full-time --group-directories-first --human-readable --si "
            "--inode --literal --no-group --numeric-uid-gid --quote-name --recursive --reverse "
            "--size --zero"
        )
        | maybe(when, "--color")
        | takes(one_of("none", "size", "time", "version", "extension", "width"), "--sort")
        | takes(text, "-I --ignore --hide --time --format --block-size")
        | takes(layout, "--time-style")
        | takes(one_of("slash", "none", "classify", "file-type"), "--indicator-style")
        | takes(number, "-w -T --width"),
        take_paths,
        describes=True,
    ),
    "stat": ProgramRules(
        flags("-f -L -t -x -s --dereference --file-system --terse")
        | takes(layout, "-c --format --printf"),
        take_paths,
        describes=True,
    ),
    "du": ProgramRules(
        flags(
            "-0 -a -b -c -h -H -k -l -m -s -S -x --all --apparent-size --bytes --count-links "
            "--human-readable --null --one-file-system --separate-dirs --si --summarize --total "
            "--inodes --time"
        )
        | takes(number, "-d --max-depth")
        | takes(_size, "-B -t --block-size --threshold")
        | takes(text, "--exclude")
        | takes(layout, "--time-style"),
        take_paths,
        describes=True,
    ),
    "df": ProgramRules(
        flags(
            "-a -h -H -i -k -l -P -T --human-readable --inodes --local --portability --si "
            "--print-type --total"
        ),
        take_paths,
        describes=True,
    ),
    "tree": ProgramRules(
        flags(
            "-a -A -C -d -D -f -F -g -h -i -J -n -N -p -q -Q -r -s -S -t -u -U -v -x -X "
            "--dirsfirst --filesfirst --noreport --prune --du --gitignore --ignore-case --inodes "
            "--device --matchdirs --metafirst --nolinks --si --fflinks"
        )
        | takes(number, "-L --filelimit")
        | takes(_undashed, "-I -P --charset --timefmt")
        | takes(one_of("name", "size", "mtime", "ctime", "version", "none"), "--sort"),
        take_paths,
        dashes=False,
        describes=True,
    ),
    "file": ProgramRules(
        flags(
            "-0 -b -E -h -i -I -k -L -n -N -r --brief --dereference --keep-going --mime "
            "--mime-encoding --mime-type --no-buffer --no-dereference --no-pad --print0 --raw "
            "--extension"
        )
        | takes(text, "-F --separator"),
        take_paths,
        describes=True,
    ),
    "diff": ProgramRules(
        flags(
            "-a -b -B -c -d -e -E -H -i -n -N -p -q -r -s -t -T -u -w -y -Z --brief --ed "
            "--expand-tabs --ignore-all-space --ignore-blank-lines --ignore-case "
            "--ignore-space-change --ignore-tab-expansion --ignore-trailing-space "
            "--left-column --minimal --new-file --no-dereference --no-ignore-file-name-case "
            "--normal --rcs --recursive --report-identical-files --show-c-function --side-by-side "
            "--speed-large-files --strip-trailing-cr --suppress-blank-empty "
            "--suppress-common-lines --text --unidirectional-new-file"
        )
        | takes(number, "-C -U -W --width --tabsize --horizon-lines")
        | maybe(number, "--context --unified")
        | maybe(when, "--color")
        | takes(text, "-F -I -L -x --exclude --ignore-matching-lines --label --show-function-line")
        | takes(path, "-X --exclude-from"),
        _diff,
    ),
    "cmp": ProgramRules(
        flags("-b -l -s -x -z --print-bytes --quiet --silent --verbose")
        | takes(amount, "-i -n --bytes --ignore-initial"),
        take_up_to(2),
    ),
    "basename": ProgramRules(
        flags("-a -z --multiple --zero") | takes(text, "-s --suffix"), take_texts
    ),
    "dirname": ProgramRules(flags("-z --zero"), take_texts),
    "realpath": ProgramRules(
        flags(
            "-e -L -m -P -q -s -z --canonicalize-existing --canonicalize-missing --logical "
            "--physical --quiet --strip --no-symlinks --zero"
        )
        | takes(path, "--relative-to --relative-base"),
        take_paths,
        describes=True,
    ),
    "readlink": ProgramRules(
        flags(
            "-e -f -m -n -q -s -v -z --canonicalize --canonicalize-existing "
            "--canonicalize-missing --no-newline --quiet --silent --verbose --zero"
        ),
        take_paths,
        describes=True,
    ),
    "test": CustomProgram(_test),
    "pwd": ProgramRules(flags("-L -P --logical --physical"), take_no_operands, dashes=False),
    "which": ProgramRules(flags("-a -s --all"), _take_names, dashes=False),
    "type": CustomProgram(_type, run_as=("which",)),
    "command": CustomProgram(_take_command, run_as=("which",)),
    "date": ProgramRules(
        flags("-u -R --utc --universal --rfc-email --debug")
        | takes(date, "-d --date")
        | takes(path, "-r --reference")
        | maybe(one_of("date", "hours", "minutes", "seconds", "ns"), "-I --iso-8601")
        | takes(one_of("date", "seconds", "ns"), "--rfc-3339"),
        _take_date,
        dashes=False,
        describes=True,
    ),
    "uname": ProgramRules(
        flags(
            "-a -i -m -n -o -p -r -s -v --all --machine --kernel-name --kernel-release "
            "--operating-system --processor"
        ),
        take_no_operands,
    ),
    "whoami": ProgramRules({}, take_no_operands),
    "id": ProgramRules(flags("-g -G -n -r -u --group --groups --name --user"), take_no_operands),
    "nproc": ProgramRules(flags("--all"), take_no_operands),
    "arch": ProgramRules({}, take_no_operands),
    "hostname": ProgramRules({}, take_no_operands),
}
