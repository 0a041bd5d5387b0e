"""Programs that describe files: ls, stat, du, diff and similar ones."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from ragforge.brain.files.exclusions import VERSION_CONTROL
from ragforge.domain.text import split_words
from ragforge.tools.command.kinds import (
    amount,
    date,
    layout,
    matching,
    number,
    one_of,
    path,
    text,
    when,
)
from ragforge.tools.command.line import Word
from ragforge.tools.command.options import (
    CustomProgram,
    GivenOption,
    ListedProgram,
    Parsed,
    ProgramRules,
    flags,
    maybe,
    take_at_most,
    take_no_operands,
    take_paths,
    take_texts,
    takes,
)
from ragforge.tools.command.paths import (
    WorkingDirectory,
    check_path,
    check_walks,
    is_directory,
    quote_short,
)
from ragforge.tools.command.plan import NotAllowed, Walk

_size = matching(r"[+-]?\d{0,12}([kKMGTPE]i?B?)?", "a size")
_undashed = matching(r"[^-].*", "a text that does not start with a dash")
_TESTS = split_words("-b -c -d -e -f -g -h -k -L -n -p -r -s -S -u -w -x -z")
_COMPARES = split_words("= == != -eq -ne -lt -le -gt -ge")
_COMPARES_FILES = split_words("-nt -ot -ef")


def _diff(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take two files or directories; in directories, links and secrets are left out."""
    parsed.options.append(_NO_DEREFERENCE)
    found = take_at_most(2)(place, parsed)
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
        take_at_most(2),
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
