"""The console: colours for people, plain lines in a pipe, JSON for scripts."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ragforge.domain.instants import format_instant
from ragforge.domain.text import shorten_end
from ragforge.records import dataclass

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# Stored text may come from anywhere: it must not be able to control the terminal.
# Controls except newline and tab, C1 controls, what reverses the direction of text, and what has
# no width: blanks, fillers, tags and selectors that can hide words from who reads them.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028\u2029"
    "\u2060-\u2065\u206a-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    # Joiners belong to emoji and to scripts such as Persian; anywhere else they hide something.
    "|(?<![^\x00-\x7f\u200c\u200d])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f\u200c\u200d])"
)
_SURROGATES = re.compile("[\ud800-\udfff]")


def sanitise(text: str) -> str:
    """Return the text with everything replaced that could control a terminal."""
    unix = text.replace("\r\n", "\n")
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("\ufffd", unix))


def spell_controls(text: str, form: str = "<U+{:04X}>") -> str:
    """Return the text with each of these characters as its number."""
    unix = text.replace("\r\n", "\n")
    return _CONTROLS.sub(lambda found: form.format(ord(found[0])), unix)


def fit_line(text: str, width: int) -> str:
    """Return the text on one line of at most `width` characters."""
    line = " ".join(sanitise(text).split())
    return shorten_end(line, width)


def fit_words(text: str, width: int) -> str:
    """Return the text on one line of at most `width` characters, cut between two words."""
    line = " ".join(sanitise(text).split())
    cut = shorten_end(line, width)
    end = cut.rfind(" ")
    return cut if cut == line or end < width // 2 else f"{cut[:end]}…"


def wants_colours() -> bool:
    """Tell whether the user allows colours; NO_COLOR and a dumb terminal say no."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in ("dumb", "unknown")


def is_plain() -> bool:
    """Tell whether stdout is certainly no terminal: a script need not wait for colours to load."""
    forced = any(os.environ.get(name) for name in ("FORCE_COLOR", "TTY_COMPATIBLE"))
    return not forced and not sys.stdout.isatty()


def open_console(stderr: bool = False, soft_wrap: bool = True) -> Console:
    """Return a console that writes colours to a terminal only.

    With `soft_wrap` long lines are left to the terminal, else they are wrapped at words.
    """
    from rich.console import Console  # help needs no console
    from rich.theme import Theme

    return Console(
        theme=Theme({"markdown.code": "cyan"}),  # without a background: it may be light or dark
        stderr=stderr,
        color_system="auto" if wants_colours() else None,
        markup=False,
        highlight=False,
        emoji=False,
        soft_wrap=soft_wrap,
    )


def print_json(value: object) -> None:
    """Print a value as JSON and nothing else."""
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") not in ("utf8", "utf8sig")
    text = json.dumps(value, ensure_ascii=ascii_only, indent=2)
    sys.stdout.write(_SURROGATES.sub("\ufffd", text) + "\n")


def print_result(as_json: bool, value: object, show: Callable[[], object]) -> None:
    """Print a value as JSON, or show it as text."""
    if as_json:
        print_json(value)
    else:
        show()


def print_error(sentence: str) -> None:
    """Print on stderr what went wrong."""
    _write(sys.stderr, sanitise(sentence))


def print_note(sentence: str) -> None:
    """Print a remark on stderr, where it does not disturb scripts."""
    _write(sys.stderr, sanitise(sentence))


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], one_line_each: Sequence[str] = ()
) -> None:
    """Print rows under headings: a table in a terminal, else aligned lines.

    In a narrow terminal cells are wrapped; with `one_line_each`, these columns are cut
    instead, and the others keep their width. Where too little of them would be left, they follow
    below their row.
    """
    cells = [[sanitise(cell) for cell in row] for row in rows]
    if is_plain() or not (out := open_console()).is_terminal:
        _print_lines([[name.upper() for name in columns], *cells])
        return
    texts = [at for at, name in enumerate(columns) if name in one_line_each]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    room = out.width - sum(width + 2 for at, width in enumerate(widths) if at not in texts)
    minimum = MIN_TEXT_CELLS if len(texts) > 1 else MIN_ONE_TEXT_CELLS
    if any(room < min(minimum, widths[at]) * len(texts) for at in texts):
        _print_stacked(out, columns, cells, texts)
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0), pad_edge=False)
    cut = bool(one_line_each)
    for at, name in enumerate(columns):
        wide = name not in one_line_each if cut else not at and widths[0] <= out.width // 2
        table.add_column(name, overflow="ellipsis" if cut else "fold", no_wrap=wide)
    for row in cells:
        table.add_row(*(Text(c, STATUS_STYLES.get(c, ""), no_wrap=cut) for c in row))
    out.print(table, soft_wrap=False)


def _print_stacked(
    out: Console, columns: Sequence[str], cells: Sequence[Sequence[str]], texts: Sequence[int]
) -> None:
    """Print rows with their texts below: one text is wrapped, several share a line."""
    from rich.padding import Padding
    from rich.text import Text

    others = [at for at in range(len(columns)) if at not in texts]
    widths = [max(len(columns[at]), *(len(row[at]) for row in cells)) for at in others]
    for number, row in enumerate((columns, *cells)):
        facts = "  ".join(row[at].ljust(size) for at, size in zip(others, widths, strict=True))
        out.print(Text(facts.rstrip(), style="" if number else "bold"), soft_wrap=False)
        said = [row[at] for at in texts if row[at]] if number else []
        if said:
            text = said[0] if len(texts) == 1 else shorten_end("  ".join(said), out.width - 3)
            out.print(Padding(Text(text), (0, 0, 0, 2), expand=False), soft_wrap=False)


MIN_TEXT_CELLS, MIN_ONE_TEXT_CELLS = 24, 45
"""Of columns whose texts are cut, and of a single one; in less, they say too little."""
STATUS_STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}


def _print_lines(rows: Sequence[Sequence[str]]) -> None:
    flat = [[cell.replace("\n", " ") for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*flat, strict=True)]
    for row in flat:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        _write(sys.stdout, "  ".join(padded).rstrip())


def _write(stream: TextIO, line: str) -> None:
    stream.write(line + "\n")


class Fields:
    """Makes a JSON object of frozen data: the named fields, in this order.

    A field `turn=touch.first_turn` has another name in JSON, and may be below other fields; below
    one that is None it is None. `chars=start,end` is a list of several fields. Of a field with a
    function, its value is passed to that, element by element if there are several; None stays
    None.
    """

    def __init__(self, names: str, **functions: Callable[[Any], object]) -> None:
        pairs = (name.partition("=") for name in names.split())
        self._paths = {key: (path or key).split(",") for key, _, path in pairs}
        self._functions = functions

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the fields in JSON."""
        return tuple(self._paths)

    def __call__(self, data: object) -> dict[str, Any]:
        return {key: self._read(data, key, paths) for key, paths in self._paths.items()}

    def _read(self, data: object, key: str, paths: list[str]) -> object:
        values = [_follow(data, path) for path in paths]
        value = values[0] if len(values) == 1 else values
        function = self._functions.get(key)
        if function is None or value is None:
            return _to_plain(value)
        if isinstance(value, list | tuple):
            return [function(one) for one in value]
        return function(value)


def _follow(data: object, path: str) -> object:
    for name in path.split("."):
        data = None if data is None else getattr(data, name)
    return data


def _to_plain(value: object) -> object:
    if isinstance(value, datetime):
        return format_instant(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def round_score(score: float) -> float:
    """Return a score with as many digits as it is worth."""
    return round(score, 4)


def or_none(value: object) -> object:
    """Return a value, or None for one that is empty."""
    return value or None


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of code, and of lines that a change adds and takes away."""

    code: str
    added: str
    removed: str


# Each background sets the colour of its text: a terminal may differ from what it reports.
DARK = Theme("ansi_dark", "color(252) on color(22)", "color(252) on color(52)")
LIGHT = Theme("ansi_light", "color(235) on color(194)", "color(235) on color(224)")
LIGHT_NUMBERS = (7, 15)
"""The light backgrounds, as a terminal names them in COLORFGBG."""


class _Chosen:
    """How this process shows things; a command of the terminal changes it for all later ones."""

    name = "auto"
    is_plain = False


def use_theme(name: str) -> None:
    """Use the dark or the light theme from now on; auto: as the terminal reports."""
    _Chosen.name = name


def use_plain(wanted: bool) -> None:
    """Show everything so that a screen reader can read it, or as usual, from now on."""
    _Chosen.is_plain = wanted


def is_for_reader() -> bool:
    """Tell whether a screen reader reads: words, not symbols or colours, and nothing is redrawn."""
    return _Chosen.is_plain


def get_theme() -> Theme:
    """Return the theme in use; a terminal that does not name its background counts as dark."""
    if (name := _Chosen.name) != "auto":
        return LIGHT if name == "light" else DARK
    last = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT if last.isdecimal() and int(last) in LIGHT_NUMBERS else DARK


def colour_lines(lines: Sequence[str], path: str) -> list[Text]:
    """Return lines of code with the colours of their language."""
    from rich.syntax import Syntax  # slow to load
    from rich.text import Text

    code = "\n".join(lines)
    syntax = Syntax(code, Syntax.guess_lexer(path, code), theme=get_theme().code)
    coloured = list(syntax.highlight(code).split("\n", allow_blank=True))[: len(lines)]
    return coloured + [Text()] * (len(lines) - len(coloured))
