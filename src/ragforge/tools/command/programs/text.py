"""Programs that turn text into other text: cut, sort, wc and similar ones."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragforge.tools.command.options import (
    CustomProgram,
    GivenOption,
    ListedProgram,
    Parsed,
    ProgramRules,
    amount,
    flags,
    layout,
    matching,
    maybe,
    number,
    one_of,
    ranges,
    signed,
    take_paths,
    take_texts,
    take_up_to,
    takes,
    text,
)
from ragforge.tools.command.paths import WorkingDirectory, expand_pattern
from ragforge.tools.command.plan import NotAllowed, Word

_sort_key = matching(r"[\d.,bdfgiMhnRrV]{1,60}", "a sort key")
_digest = ProgramRules(flags("-b -t -z --binary --text --tag --zero"), take_paths)


def _take_echo(place: WorkingDirectory, words: Sequence[Word]) -> list[str]:
    return [name for word in words for name in expand_pattern(place, word)]


def _take_printf(place: WorkingDirectory, words: Sequence[Word]) -> list[str]:
    dashes = ["--"] if words and words[0].text == "--" else []
    given = words[len(dashes) :]
    if not given or (given[0].text.startswith("-") and not dashes):
        raise NotAllowed("printf needs a format; one that starts with a dash needs -- before it")
    return [*dashes, layout(place, given[0]), *(word.text for word in given[1:])]


def _take_seq(place: WorkingDirectory, words: Sequence[Word]) -> list[str]:
    out = []
    numbers = 0
    remaining = list(reversed(words))
    while remaining:
        word = remaining.pop()
        if word.text in ("-w", "--equal-width"):
            out.append(word.text)
        elif word.text == "-s" and remaining:
            out += ["-s", remaining.pop().text]
        elif word.text == "-f" and remaining:
            out += ["-f", layout(place, remaining.pop())]
        elif word.text.startswith("-s") and len(word.text) > 2:
            out += ["-s", word.text[2:]]
        elif re.fullmatch(r"-?\d{1,9}(\.\d{1,3})?", word.text):
            out.append(word.text)
            numbers += 1
        else:
            raise NotAllowed(f"{word.text!r} is not expected after seq")
    if not 1 <= numbers <= 3:
        raise NotAllowed("seq needs one to three numbers")
    return out


def _take_strings(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take files; @FILE would be a list of further arguments."""
    found = take_paths(place, parsed)
    if any(name.startswith("@") for name in found):
        raise NotAllowed("a name that starts with @ would be read as a list of arguments")
    return found


def _take_tail(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take files; before them `+5` is an old way to write `-n +5`."""
    first = parsed.before[0].text if parsed.before else ""
    if not parsed.options and re.fullmatch(r"\+\d{1,9}", first):
        del parsed.before[0]
        parsed.options.append(GivenOption("-n", ("-n", first)))
    return take_paths(place, parsed)


PROGRAMS: dict[str, ListedProgram] = {
    "cat": ProgramRules(
        flags(
            "-A -b -e -E -n -s -t -T -u -v --show-all --number --number-nonblank --show-ends "
            "--squeeze-blank --show-tabs --show-nonprinting"
        ),
        take_paths,
    ),
    "head": ProgramRules(
        flags("-q -v -z --quiet --silent --verbose --zero-terminated")
        | takes(amount, "-n -c --lines --bytes"),
        take_paths,
        counts=True,
    ),
    "tail": ProgramRules(
        flags("-q -v -z --quiet --silent --verbose --zero-terminated")
        | takes(amount, "-n -c --lines --bytes"),
        _take_tail,
        counts=True,
    ),
    "wc": ProgramRules(
        flags("-c -l -L -m -w --bytes --chars --lines --max-line-length --words"), take_paths
    ),
    "sort": ProgramRules(
        flags(
            "-b -c -C -d -f -g -h -i -m -M -n -r -R -s -u -V -z --reverse --numeric-sort --unique "
            "--ignore-case --human-numeric-sort --version-sort --general-numeric-sort --stable "
            "--month-sort --dictionary-order --ignore-leading-blanks --check --merge "
            "--zero-terminated --random-sort"
        )
        | takes(_sort_key, "-k --key")
        | takes(text, "-t --field-separator"),
        take_paths,
    ),
    "uniq": ProgramRules(
        flags(
            "-c -d -D -i -u -z --count --repeated --unique --ignore-case --zero-terminated "
            "--all-repeated"
        )
        | takes(number, "-f -s -w --skip-fields --skip-chars --check-chars"),
        take_up_to(1),
    ),
    "cut": ProgramRules(
        flags("-n -s -z --complement --only-delimited --zero-terminated")
        | takes(ranges, "-b -c -f --bytes --characters --fields")
        | takes(text, "-d --delimiter --output-delimiter"),
        take_paths,
    ),
    "tr": ProgramRules(flags("-c -C -d -s -t --complement --delete --squeeze-repeats"), take_texts),
    "nl": ProgramRules(
        flags("-p --no-renumber")
        | takes(text, "-b -d -f -h -s --body-numbering --number-separator")
        | takes(signed, "-i -l -v -w --line-increment --starting-line-number --number-width")
        | takes(one_of("ln", "rn", "rz"), "-n --number-format"),
        take_paths,
    ),
    "tac": ProgramRules(
        flags("-b -r --before --regex") | takes(text, "-s --separator"), take_paths
    ),
    "rev": ProgramRules({}, take_paths),
    "column": ProgramRules(
        flags("-t -x -e -J --table --json --fillrows")
        | takes(text, "-s -o -N -R -H --separator --output-separator --table-columns")
        | takes(number, "-c -l --output-width --table-columns-limit"),
        take_paths,
    ),
    "paste": ProgramRules(flags("-s -z --serial") | takes(text, "-d --delimiters"), take_paths),
    "join": ProgramRules(
        flags("-i --ignore-case --header --check-order --nocheck-order")
        | takes(number, "-1 -2 -j -a -v")
        | takes(text, "-t -e -o"),
        take_up_to(2),
    ),
    "fold": ProgramRules(
        flags("-b -s --bytes --spaces") | takes(number, "-w --width"), take_paths, counts=True
    ),
    "fmt": ProgramRules(
        flags("-c -s -t -u --split-only --uniform-spacing") | takes(number, "-w --width"),
        take_paths,
        counts=True,
    ),
    "expand": ProgramRules(flags("-i --initial") | takes(ranges, "-t --tabs"), take_paths),
    "unexpand": ProgramRules(
        flags("-a --all --first-only") | takes(ranges, "-t --tabs"), take_paths
    ),
    "comm": ProgramRules(
        flags("-1 -2 -3 -z --total --check-order --nocheck-order --zero-terminated")
        | takes(text, "--output-delimiter"),
        take_up_to(2),
    ),
    "md5sum": _digest,
    "sha1sum": _digest,
    "sha224sum": _digest,
    "sha256sum": _digest,
    "sha384sum": _digest,
    "sha512sum": _digest,
    "b2sum": _digest,
    "shasum": ProgramRules(flags("-b -t") | takes(number, "-a --algorithm"), take_paths),
    "cksum": ProgramRules({}, take_paths),
    "sum": ProgramRules(flags("-r -s"), take_paths),
    "base64": ProgramRules(flags("-d --decode") | takes(number, "-w --wrap"), take_up_to(1)),
    "xxd": ProgramRules(
        flags("-a -b -C -e -E -i -p -ps -plain -u -bits -include -uppercase")
        | takes(amount, "-c -g -l -s -o -cols -groupsize -len -seek"),
        take_up_to(1),
        dashes=False,
    ),
    "od": ProgramRules(
        flags("-a -b -c -d -f -i -l -o -s -v -x --output-duplicates")
        | takes(one_of("d", "o", "x", "n"), "-A --address-radix")
        | takes(matching(r"[acdfouxCSILFDz0-9]{1,30}", "a type"), "-t --format")
        | takes(amount, "-j -N --skip-bytes --read-bytes")
        | maybe(number, "-w --width"),
        take_paths,
    ),
    "hexdump": ProgramRules(
        flags("-b -c -C -d -o -v -x --canonical --no-squeezing")
        | takes(amount, "-n -s --length --skip"),
        take_paths,
    ),
    "strings": ProgramRules(
        flags("-a --all -f --print-file-name -w")
        | takes(number, "-n --bytes")
        | takes(one_of("o", "x", "d"), "-t --radix"),
        _take_strings,
    ),
    "echo": CustomProgram(_take_echo),
    "printf": CustomProgram(_take_printf),
    "seq": CustomProgram(_take_seq),
    "true": CustomProgram(lambda place, words: []),
    "false": CustomProgram(lambda place, words: []),
}
