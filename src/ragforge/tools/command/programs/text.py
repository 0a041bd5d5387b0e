"""Programs that turn text into other text: cut, sort, wc and similar ones."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragforge.tools.command import options
from ragforge.tools.command.paths import WorkingDirectory, expand_pattern
from ragforge.tools.command.plan import NotAllowed, Word


def _take_echo(place: WorkingDirectory, words: Sequence[Word]) -> list[str]:
    return [name for word in words for name in expand_pattern(place, word)]


def _take_printf(place: WorkingDirectory, words: Sequence[Word]) -> list[str]:
    dashes = ["--"] if words and words[0].text == "--" else []
    given = words[len(dashes) :]
    if not given or (given[0].text.startswith("-") and not dashes):
        raise NotAllowed("printf needs a format; one that starts with a dash needs -- before it")
    return [*dashes, options.layout(place, given[0]), *(word.text for word in given[1:])]


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
            out += ["-f", options.layout(place, remaining.pop())]
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


def _take_strings(place: WorkingDirectory, parsed: options.Parsed) -> list[str]:
    """Take files; @FILE would be a list of further arguments."""
    found = options.take_paths(place, parsed)
    if any(name.startswith("@") for name in found):
        raise NotAllowed("a name that starts with @ would be read as a list of arguments")
    return found


def _take_tail(place: WorkingDirectory, parsed: options.Parsed) -> list[str]:
    """Take files; before them `+5` is an old way to write `-n +5`."""
    first = parsed.before[0].text if parsed.before else ""
    if not parsed.options and re.fullmatch(r"\+\d{1,9}", first):
        del parsed.before[0]
        parsed.options.append(options.GivenOption("-n", ("-n", first)))
    return options.take_paths(place, parsed)


PROGRAMS = {
    "echo": options.CustomProgram(_take_echo),
    "printf": options.CustomProgram(_take_printf),
    "seq": options.CustomProgram(_take_seq),
    "true": options.CustomProgram(lambda place, words: []),
    "false": options.CustomProgram(lambda place, words: []),
}
"""Programs with a custom grammar."""
KINDS: dict[str, options.Kind] = {
    "sort_key": options.matching(r"[\d.,bdfgiMhnRrV]{1,60}", "a sort key"),
    "dump_type": options.matching(r"[acdfouxCSILFDz0-9]{1,30}", "a type"),
}
OPERANDS = {"strings": _take_strings, "tail": _take_tail}
