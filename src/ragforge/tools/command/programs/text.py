"""Programs that turn text into other text: cut, sort, wc and their kin."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragforge.tools.command.kinds import (
    amount,
    layout,
    matching,
    number,
    one_of,
    ranges,
    signed,
    text,
)
from ragforge.tools.command.options import (
    Given,
    Listed,
    Parsed,
    Program,
    Special,
    at_most,
    flags,
    maybe,
    paths,
    texts,
    valued,
)
from ragforge.tools.command.paths import Place, expanded
from ragforge.tools.command.plan import NotAllowed
from ragforge.tools.command.shell import Word

_sort_key = matching(r"[\d.,bdfgiMhnRrV]{1,60}", "a sort key")
_digest = Program(flags("-b -t -z --binary --text --tag --zero"), paths)


def _echo(place: Place, words: Sequence[Word]) -> list[str]:
    return [name for word in words for name in expanded(place, word)]


def _printf(place: Place, words: Sequence[Word]) -> list[str]:
    dashes = ["--"] if words and words[0].text == "--" else []
    given = words[len(dashes) :]
    if not given or (given[0].text.startswith("-") and not dashes):
        raise NotAllowed("printf needs a format; one that starts with a dash needs -- before it")
    return [*dashes, layout(place, given[0]), *(word.text for word in given[1:])]


def _seq(place: Place, words: Sequence[Word]) -> list[str]:
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


def _strings(place: Place, parsed: Parsed) -> list[str]:
    """Take files; @FILE would be a list of further arguments."""
    found = paths(place, parsed)
    if any(name.startswith("@") for name in found):
        raise NotAllowed("a name that starts with @ would be read as a list of arguments")
    return found


def _tail(place: Place, parsed: Parsed) -> list[str]:
    """Take files; before them `+5` is an old way to write `-n +5`."""
    first = parsed.before[0].text if parsed.before else ""
    if not parsed.options and re.fullmatch(r"\+\d{1,9}", first):
        del parsed.before[0]
        parsed.options.append(Given("-n", ("-n", first)))
    return paths(place, parsed)


PROGRAMS: dict[str, Listed] = {
    "cat": Program(
        flags(
            "-A -b -e -E -n -s -t -T -u -v --show-all --number --number-nonblank --show-ends "
            "--squeeze-blank --show-tabs --show-nonprinting"
        ),
        paths,
    ),
    "head": Program(
        flags("-q -v -z --quiet --silent --verbose --zero-terminated")
        | valued(amount, "-n -c --lines --bytes"),
        paths,
        counts=True,
    ),
    "tail": Program(
        flags("-q -v -z --quiet --silent --verbose --zero-terminated")
        | valued(amount, "-n -c --lines --bytes"),
        _tail,
        counts=True,
    ),
    "wc": Program(flags("-c -l -L -m -w --bytes --chars --lines --max-line-length --words"), paths),
    "sort": Program(
        flags(
            "-b -c -C -d -f -g -h -i -m -M -n -r -R -s -u -V -z --reverse --numeric-sort --unique "
            "--ignore-case --human-numeric-sort --version-sort --general-numeric-sort --stable "
            "--month-sort --dictionary-order --ignore-leading-blanks --check --merge "
            "--zero-terminated --random-sort"
        )
        | valued(_sort_key, "-k --key")
        | valued(text, "-t --field-separator"),
        paths,
    ),
    "uniq": Program(
        flags(
            "-c -d -D -i -u -z --count --repeated --unique --ignore-case --zero-terminated "
            "--all-repeated"
        )
        | valued(number, "-f -s -w --skip-fields --skip-chars --check-chars"),
        at_most(1),
    ),
    "cut": Program(
        flags("-n -s -z --complement --only-delimited --zero-terminated")
        | valued(ranges, "-b -c -f --bytes --characters --fields")
        | valued(text, "-d --delimiter --output-delimiter"),
        paths,
    ),
    "tr": Program(flags("-c -C -d -s -t --complement --delete --squeeze-repeats"), texts),
    "nl": Program(
        flags("-p --no-renumber")
        | valued(text, "-b -d -f -h -s --body-numbering --number-separator")
        | valued(signed, "-i -l -v -w --line-increment --starting-line-number --number-width")
        | valued(one_of("ln", "rn", "rz"), "-n --number-format"),
        paths,
    ),
    "tac": Program(flags("-b -r --before --regex") | valued(text, "-s --separator"), paths),
    "rev": Program({}, paths),
    "column": Program(
        flags("-t -x -e -J --table --json --fillrows")
        | valued(text, "-s -o -N -R -H --separator --output-separator --table-columns")
        | valued(number, "-c -l --output-width --table-columns-limit"),
        paths,
    ),
    "paste": Program(flags("-s -z --serial") | valued(text, "-d --delimiters"), paths),
    "join": Program(
        flags("-i --ignore-case --header --check-order --nocheck-order")
        | valued(number, "-1 -2 -j -a -v")
        | valued(text, "-t -e -o"),
        at_most(2),
    ),
    "fold": Program(
        flags("-b -s --bytes --spaces") | valued(number, "-w --width"), paths, counts=True
    ),
    "fmt": Program(
        flags("-c -s -t -u --split-only --uniform-spacing") | valued(number, "-w --width"),
        paths,
        counts=True,
    ),
    "expand": Program(flags("-i --initial") | valued(ranges, "-t --tabs"), paths),
    "unexpand": Program(flags("-a --all --first-only") | valued(ranges, "-t --tabs"), paths),
    "comm": Program(
        flags("-1 -2 -3 -z --total --check-order --nocheck-order --zero-terminated")
        | valued(text, "--output-delimiter"),
        at_most(2),
    ),
    "md5sum": _digest,
    "sha1sum": _digest,
    "sha224sum": _digest,
    "sha256sum": _digest,
    "sha384sum": _digest,
    "sha512sum": _digest,
    "b2sum": _digest,
    "shasum": Program(flags("-b -t") | valued(number, "-a --algorithm"), paths),
    "cksum": Program({}, paths),
    "sum": Program(flags("-r -s"), paths),
    "base64": Program(flags("-d --decode") | valued(number, "-w --wrap"), at_most(1)),
    "xxd": Program(
        flags("-a -b -C -e -E -i -p -ps -plain -u -bits -include -uppercase")
        | valued(amount, "-c -g -l -s -o -cols -groupsize -len -seek"),
        at_most(1),
        dashes=False,
    ),
    "od": Program(
        flags("-a -b -c -d -f -i -l -o -s -v -x --output-duplicates")
        | valued(one_of("d", "o", "x", "n"), "-A --address-radix")
        | valued(matching(r"[acdfouxCSILFDz0-9]{1,30}", "a type"), "-t --format")
        | valued(amount, "-j -N --skip-bytes --read-bytes")
        | maybe(number, "-w --width"),
        paths,
    ),
    "hexdump": Program(
        flags("-b -c -C -d -o -v -x --canonical --no-squeezing")
        | valued(amount, "-n -s --length --skip"),
        paths,
    ),
    "strings": Program(
        flags("-a --all -f --print-file-name -w")
        | valued(number, "-n --bytes")
        | valued(one_of("o", "x", "d"), "-t --radix"),
        _strings,
    ),
    "echo": Special(_echo),
    "printf": Special(_printf),
    "seq": Special(_seq),
    "true": Special(lambda place, words: []),
    "false": Special(lambda place, words: []),
}
