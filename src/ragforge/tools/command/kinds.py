"""Kinds: which values an option or an operand may have."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from ragforge.tools.command.line import Word
from ragforge.tools.command.paths import WorkingDirectory, as_path, check_path, quote_short
from ragforge.tools.command.plan import NotAllowed

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
    """Return the kind of values that stand on a list."""

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
