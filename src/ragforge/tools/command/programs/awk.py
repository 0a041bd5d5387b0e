"""awk: a small part of the language, which cannot write, run programs or read other files."""

from __future__ import annotations

import os
import re

from ragforge.domain.text import split_words
from ragforge.tools.command.options import Parsed, check_paths, layout, matching
from ragforge.tools.command.paths import WorkingDirectory, quote_short
from ragforge.tools.command.plan import NotAllowed, Word
from ragforge.tools.confine import Root

_TOKEN = re.compile(
    r"""(?P<space>[ \t\n]+)
    |(?P<string>"(?:[^"\\\n]|\\[^\n])*")
    |(?P<number>\d{1,12}(?:\.\d{1,12})?)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<operator>&&|\|\||\+\+|--|[-+*%^=!<>]=|!~|[-+*%^=!<>~?:,;(){}\[\]$])
    """,
    re.VERBOSE,
)
# Quantifiers inside brackets are possessive: in [^] and [] the bracket is still open for awk.
_REGEX = re.compile(r"/(?!=)(?:[^/\\\n\[]|\\[^\n]|\[\^?+(?:\[:\w+:\]|[^\[\]\\/\n])++\])+/")
_KEYWORDS = split_words("BEGIN END if else print printf next exit in delete")
_VARIABLES = split_words("NR NF FNR FS OFS RS ORS FILENAME RSTART RLENGTH SUBSEP")
_FUNCTIONS = split_words("length substr index split sub gsub match sprintf tolower toupper int")
_FOR_IN = re.compile(r"for[ \t]*\([ \t]*[a-z_]\w*[ \t]+in[ \t]+[a-z_]\w*[ \t]*\)")
# What else awks know. Any other name is a variable of the program.
_REFUSED = split_words(
    "getline system close fflush nextfile function func return while do for break continue switch "
    "case default include load namespace srand rand sin cos atan2 exp log sqrt strftime systime "
    "mktime gensub strtonum asort asorti and or xor not compl lshift rshift patsplit isarray "
    "typeof mkbool bindtextdomain dcgettext dcngettext extension adump stopme intdiv0 fflush "
    "readfile writea reada chdir stat fts fork wait waitpid exec"
)
# After which tokens a slash starts a regular expression, or divides. After others it is unclear.
_BEFORE_REGEX = frozenset(["", "(", ",", ";", "{", "}", "!", "~", "!~", "&&", "||", "=", "=="])


def check_program(program: str) -> None:
    """Raise NotAllowed unless the program only looks at its input and prints."""
    _AwkReader(program).read()


def choose_options(path: str) -> tuple[str, ...]:
    """Return the options of the awk at a path: gawk can refuse to run programs and to write."""
    is_gawk = os.path.basename(os.path.realpath(path)).startswith("gawk")
    return ("--sandbox",) if is_gawk else ()


class _AwkReader:
    """Reads tokens; tells a condition's parentheses, in which `>` compares, from others."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._at = 0
        self._previous = ""
        self._kind = ""
        self._braces = 0
        self._opened_after: list[str] = []  # what stood before each open parenthesis

    def read(self) -> None:
        while self._at < len(self._program):
            if self._program[self._at] == "/":
                self._slash()
            elif found := _FOR_IN.match(self._program, self._at):
                self._move(found, "for", "")
            else:
                self._token()
        if self._braces or self._opened_after:
            raise self._unclear()

    def _slash(self) -> None:
        if self._kind in ("number", "variable", "closed"):
            self._at += 1
            if "/" in self._program[self._at :]:  # two could enclose a regular expression
                raise self._unclear()
            self._previous, self._kind = "/", "operator"
            return
        found = _REGEX.match(self._program, self._at)
        if found is None or self._kind == "for" or self._previous not in _BEFORE_REGEX:
            raise self._unclear()
        self._move(found, "regex", "regex")

    def _token(self) -> None:
        found = _TOKEN.match(self._program, self._at)
        if found is None:
            raise self._unclear()
        token, kind = found[0], found.lastgroup or ""
        if kind == "space":
            self._at = found.end()
            if "\n" in token:
                if self._opened_after:
                    raise self._unclear()
                self._previous, self._kind = ";", "operator"
            return
        if kind == "name":
            kind = self._name(token, found.end())
        elif kind == "string":
            layout(_NOWHERE, Word(token))
        elif kind == "operator":
            kind = self._operator(token)
        self._move(found, kind, token)

    def _operator(self, token: str) -> str:
        may_write = self._braces and self._opened_after[:1] != ["if"]
        if (token == ">" and may_write) or (token in (">", ">=") and self._previous == ">"):
            raise NotAllowed("the awk program may write to a file with >")
        if token in ("{", "}"):
            self._braces += 1 if token == "{" else -1
            if self._braces < 0 or self._opened_after:
                raise self._unclear()
        elif token == "(":
            self._opened_after.append(self._previous)
        elif token == ")":
            if not self._opened_after:
                raise self._unclear()
            return "condition" if self._opened_after.pop() == "if" else "closed"
        elif token == "]":
            return "closed"
        return "operator"

    def _name(self, name: str, end: int) -> str:
        if name in _KEYWORDS:
            return "keyword"
        if name in _FUNCTIONS:
            return "function"
        if name in _VARIABLES:
            return "variable"
        if name in _REFUSED or not re.fullmatch(r"[a-z_]\w*", name):
            raise NotAllowed(f"of awk, {quote_short(name)} is not on the list")
        if self._program[end:].lstrip(" \t").startswith("("):
            raise NotAllowed(f"of awk, the function {quote_short(name)} is not on the list")
        return "variable"

    def _move(self, found: re.Match[str], kind: str, token: str) -> None:
        self._at, self._kind, self._previous = found.end(), kind, token

    def _unclear(self) -> NotAllowed:
        return NotAllowed(f"the awk program {quote_short(self._program)} is not understood")


_NOWHERE = WorkingDirectory(Root(""), "")


def _take_operands(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    words = parsed.operands
    if not words:
        raise NotAllowed("an awk program is missing")
    check_program(words[0].text)
    found = check_paths(place, words[1:])
    for name in found:
        if "=" in name:
            raise NotAllowed(f"awk would take {quote_short(name)} for an assignment")
    return [words[0].text, *found]


_plain = matching(
    r"([a-z_]\w*|O?FS|O?RS)=([^\\]|\\[tn])*", "an assignment of a plain value to a plain name"
)


def _check_assignment(place: WorkingDirectory, word: Word) -> str:
    """Take a value for a variable; it may become a format."""
    return layout(place, Word(_plain(place, word)))


KINDS = {"awk_assignment": _check_assignment}
OPERANDS = {"awk": _take_operands}
