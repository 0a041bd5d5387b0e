"""jq: filters over JSON from files inside the project; no modules, no environment."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragforge.domain.text import split_words
from ragforge.tools.command.options import CustomProgram, check_paths
from ragforge.tools.command.paths import WorkingDirectory, quote_short
from ragforge.tools.command.plan import NotAllowed, Word

_LETTERS = frozenset("acCejMnrRsS")
_LONG = split_words(
    "--ascii-output --color-output --compact-output --exit-status --join-output "
    "--monochrome-output --null-input --raw-input --raw-output --slurp --sort-keys --tab"
)

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
    |(?P<number>\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)
    |(?P<field>\.[A-Za-z_]\w*)
    |(?P<variable>\$[A-Za-z_]\w*)
    |(?P<format>@[a-z0-9]+)
    |(?P<name>[A-Za-z_]\w*(?:::\w+)*)
    |(?P<operator>\?//=?|//=|\.\.|[-+*/%|]=|[=!<>]=|//|[-+*/%|=<>,;:.?()\[\]{}])
    """,
    re.VERBOSE,
)
_KEYWORDS = split_words(
    "if then elif else end as reduce foreach try catch label break and or not null true false"
)
_FUNCTIONS = split_words(
    "length utf8bytelength keys keys_unsorted values nulls booleans numbers strings arrays objects "
    "iterables scalars empty error add any all flatten floor ceil round sqrt pow log log2 log10 "
    "exp exp2 exp10 abs fabs trunc min max min_by max_by unique unique_by group_by sort sort_by "
    "reverse contains inside startswith endswith ltrimstr rtrimstr trimstr trim ltrim rtrim "
    "explode implode split splits join ascii ascii_downcase ascii_upcase tostring tonumber "
    "tojson fromjson toarray type infinite nan isinfinite isnan isnormal isvalid has in map "
    "map_values path paths leaf_paths del delpaths to_entries from_entries with_entries select "
    "getpath setpath pick recurse recurse_down walk transpose first last nth limit skip range "
    "test match capture scan sub gsub index rindex indices tostream fromstream truncate_stream "
    "todate fromdate now localtime gmtime mktime strftime strptime todateiso8601 "
    "fromdateiso8601 dateadd datesub date combinations bsearch input inputs input_line_number "
    "IN INDEX"
)
_FORMATS = split_words(
    "@text @json @html @uri @urid @csv @tsv @sh @base64 @base64d @base32 @base32d"
)
_LARGE = re.compile(r"\d{8}|[eE]")
# With range, these make numbers that no list can hold.
_MAKES_LARGE = split_words("infinite pow exp exp2 exp10 now")
_DESCENT = re.compile(r"\(\s*(?:\.[A-Za-z_]\w*\??)*\.?\[\]\??\s*\)")
_MAX_DEPTH = 50


def _take_jq(place: WorkingDirectory, words: Sequence[Word]) -> list[str]:
    options: list[str] = []
    operands: list[Word] = []
    remaining = list(reversed(words))
    while remaining:
        word = remaining.pop()
        if not word.text.startswith("-"):
            operands.append(word)
        elif word.text in _LONG:
            options.append(word.text)
        elif word.text == "--indent":
            options += ["--indent", _take_value(remaining, r"[0-7]")]
        elif word.text in ("--arg", "--argjson"):
            options += [
                word.text,
                _take_value(remaining, r"[A-Za-z_]\w*"),
                _take_value(remaining, r"[^-].*"),
            ]
        elif re.fullmatch(r"-[A-Za-z]+", word.text) and _LETTERS.issuperset(word.text[1:]):
            options += [f"-{letter}" for letter in word.text[1:]]
        else:
            raise NotAllowed(f"the option {quote_short(word.text)} is not on the list")
    if not operands:
        raise NotAllowed("a jq filter is missing")
    check_filter(operands[0].text)
    return [*options, operands[0].text, *check_paths(place, operands[1:])]


def _take_value(remaining: list[Word], pattern: str) -> str:
    value = remaining.pop().text if remaining else ""
    if not re.fullmatch(pattern, value, re.DOTALL):
        raise NotAllowed(f"{quote_short(value)} is not a value that jq may be given")
    return value


PROGRAMS = {"jq": CustomProgram(_take_jq)}


def check_filter(text: str) -> None:
    """Raise NotAllowed unless a filter reads nothing but its input, and ends."""
    _FilterReader(text).read()


def _is_plain(token: str) -> bool:
    """Tell whether a variable is one of the filter, and a format one that exists."""
    if token.startswith("@"):
        return token in _FORMATS
    return token != "$ENV" and not token.startswith("$__")


class _FilterReader:
    """Reads tokens, and what is interpolated in strings."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._open: list[str] = []  # brackets; `"` where a string is interpolated
        self._before = ""  # the token before
        self._names: set[str] = set()
        self._large = False

    def read(self) -> None:
        while self._at < len(self._text):
            if self._text[self._at] == '"':
                self._at += 1
                self._string()
            else:
                self._token()
            if len(self._open) > _MAX_DEPTH:
                raise self._unclear()
        if self._open:
            raise self._unclear()
        if "range" in self._names and (self._large or self._names & _MAKES_LARGE):
            raise NotAllowed("of jq, range is only allowed with numbers below ten million")

    def _string(self) -> None:
        """Read to the end of a string, or to what is interpolated in it."""
        while self._at < len(self._text):
            character = self._text[self._at]
            self._at += 1
            if character == '"':
                self._before = '"'
                return
            if character == "\\":
                escaped = self._text[self._at : self._at + 1]
                self._at += 1
                if escaped == "(":
                    self._open.append('"')
                    self._before = "("
                    return
        raise self._unclear()

    def _token(self) -> None:
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            raise self._unclear()
        self._at = found.end()
        token, kind = found[0], found.lastgroup
        if kind == "space":
            return
        if kind == "name":
            self._name(token)
        elif kind in ("variable", "format") and not _is_plain(token):
            raise NotAllowed(f"of jq, {quote_short(token)} is not on the list")
        elif kind == "number":
            self._large |= _LARGE.search(token) is not None
        elif kind == "operator":
            self._operator(token)
            return
        self._before = token

    def _operator(self, token: str) -> None:
        if token in ("(", "[", "{"):
            self._open.append(token)
        elif token in (")", "]", "}"):
            opened = self._open.pop() if self._open else ""
            if opened == '"' and token == ")":
                self._string()  # what follows in the string
                return
            if opened + token not in ("()", "[]", "{}"):
                raise self._unclear()
        self._before = token

    def _name(self, name: str) -> None:
        is_key = self._open[-1:] == ["{"] and self._before in ("{", ",")
        if is_key or name in _KEYWORDS:
            return
        if name not in _FUNCTIONS:
            raise NotAllowed(f"of jq, {quote_short(name)} is not on the list")
        self._names.add(name)
        rest = self._text[self._at :].lstrip(" \t\r\n")
        if name.startswith("recurse") and rest.startswith("(") and not _DESCENT.match(rest):
            raise NotAllowed(
                "of jq, recurse is only allowed into lists, as in recurse(.children[])"
            )

    def _unclear(self) -> NotAllowed:
        return NotAllowed(f"the jq filter {quote_short(self._text)} is not understood")
