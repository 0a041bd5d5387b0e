"""Patterns: secrets that are recognised only by their form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache

from ragforge.memory.secrets.values import (
    is_login,
    is_placeholder,
    is_random,
    is_sample,
    is_strong,
)
from ragforge.patterns import compile_on_use
from ragforge.records import dataclass
from ragforge.resources import read_resource


@dataclass(frozen=True, slots=True)
class SecretPattern:
    """A kind of secret. Each one contains one of the hints.

    The pattern is tried only at a hint, so that other text costs only a substring search. It never
    backtracks over a long run: classes are possessive and match from the left edge of a run.
    """

    what: str
    hints: tuple[str, ...]
    regex: str
    is_secret: Callable[[str], bool]
    group: int = 0  # what to redact; the rest of the match stays
    any_case: bool = False  # the hints are in lower case, the text may be in any case
    back: int = 0  # how far before the hint the pattern begins
    long: bool = False  # has a run of RUN characters, with its hint at most REACH before it

    @property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern. Most are never needed, and all of them take long to compile."""
        return _compile(self.regex)


@cache
def _compile(regex: str) -> re.Pattern[str]:
    return re.compile(regex)


def _is_key(value: str) -> bool:
    return not is_sample(value)


def _build(what: str, prefixes: str, body: str, *, edge: str, long: bool) -> SecretPattern:
    """Return the pattern of a key that begins with one of the space-separated prefixes."""
    hints = tuple(prefixes.split())
    starts = "|".join(map(re.escape, hints))
    pattern = f"(?a)(?<![{edge}])(?:{starts})(?:{body})(?![A-Za-z0-9])"
    return SecretPattern(what, hints, pattern, _is_key, long=long)


def _read_keys() -> Iterator[SecretPattern]:
    for line in read_resource("memory/secrets/keys.txt").splitlines():
        if line and not line.startswith("#"):
            what, prefixes, body, *options = re.split(" {2,}", line)
            given = dict(option.split("=", 1) for option in options)
            edge = given.get("edge", "A-Za-z0-9")
            yield _build(what, prefixes, body, edge=edge, long=given.get("long") != "no")


_TESTS: Mapping[str, Callable[[str], bool]] = {
    "key": _is_key,
    "credential": lambda value: (
        not is_placeholder(value) and (len(value) >= 20 or any(c.isdigit() for c in value))
    ),
    "password": lambda value: not is_placeholder(value) and not value.isdigit(),
    "filled": lambda value: not is_placeholder(value),
    "strong": is_strong,
    "strong-and-filled": lambda value: is_strong(value) and not is_placeholder(value),
    "random": is_random,
    "login": is_login,
    "mixed": lambda value: any(char.isdigit() for char in value) and value.lower() != value,
}
"""What the value of a form has to be, by the names in forms.txt."""


def _read_forms() -> Iterator[SecretPattern]:
    lines = read_resource("memory/secrets/forms.txt").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#"))
    for entry in text.strip().split("\n\n"):
        head, *regex = entry.strip().splitlines()
        what, *hints, rest = head.split('"')
        test, *options = rest.split()
        given = dict(option.partition("=")[::2] for option in options)
        yield SecretPattern(
            what.strip(),
            tuple(hints[::2]),
            "".join(map(str.strip, regex)),
            _TESTS[test],
            group=int(given.get("group", 0)),
            any_case="any_case" in given,
            back=int(given.get("back", 0)),
            long="long" in given,
        )


PATTERNS = (*_read_keys(), *_read_forms())

COOKIES = compile_on_use(
    r"(?i)\b(?:set-)?cookie[\"']?\s{0,4}[:=,]\s{0,4}[\"']?([^\n\"'<>]{3,8000}+)"
)
COOKIE = compile_on_use(r"(?:\A|;)\s*([^\s=;,\"']{1,80}+)=([^\s;,\"'\\]{6,4000}+)")
SESSION = compile_on_use(r"(?i)sess|sid\b|auth|token|jwt|csrf|xsrf|remember|login|identity|secret")
"""Names of cookies that authenticate a user."""

_EDGE, _END = r"(?a)(?<![\w.-])", r"(?![\w.-])"
NEXT_TO_WORD = (
    (
        "discord",
        "Discord token",
        compile_on_use(rf"{_EDGE}([MNO][\w-]{{23,27}}+\.[\w-]{{6}}\.[\w-]{{27,40}}+){_END}"),
    ),
    ("okta", "Okta token", compile_on_use(rf"{_EDGE}(00[\w-]{{40}}){_END}")),
    ("ssws", "Okta token", compile_on_use(rf"{_EDGE}(00[\w-]{{40}}){_END}")),
    (
        "asana",
        "Asana token",
        compile_on_use(r"(?<![\w/])([12]/\d{13,17}(?:/\d{13,17})?:[0-9a-f]{32})"),
    ),
    ("twitter", "Twitter token", compile_on_use(rf"{_EDGE}(A{{20,}}[\w%]{{60,}}+)")),
)
"""They have no prefix, so they are searched for only in a text with such a word."""

PEM_MARK = compile_on_use(r"-----(BEGIN|END) [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?-----")
_GAP = r"(?:\\{1,4}[nrt]|[\s\"'`+>|#,*\\-]|\d{1,6}[\t:|→])"
PEM_HEADERS = (
    rf"(?:{_GAP}*+(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):[^\n\\]{{0,200}}+)*+"
)
KEY_STARTS = compile_on_use(  # how the bodies of private keys begin
    r"(?<![A-Za-z0-9+/])(?:b3BlbnNzaC1rZXktdjEA|MII[A-Z][\w+/]{2}IBAAKCA|MII[A-Z][\w+/]{2}IBADANBgkqhkiG9w0BAQ"
    r"|MHcCAQEEI|MHQCAQEEI|MIGkAgEBBD|MIGHAgEAMBMGByqGSM49|MC4CAQAwBQYDK2VwBCIEI|MIGTAgEAMBMGByqGSM49"
    r"|lQ(?:OYB|VYB|dGB|IGB)[A-Za-z0-9+/])[A-Za-z0-9+/]{8,}+"
)
KEY_HINTS = ("b3BlbnNzaC1rZXktdjEA", "AKCA", "BADANBgkqhkiG9w0BAQ", "CAQEEI", "MIG", "MC4CAQ", "lQ")
KEY_LINE = compile_on_use(
    r"(?<![A-Za-z0-9+/=])([A-Za-z0-9+/]{4,}={0,2})(?:\\[nr])*[\"'`,;)+ \t\r]*$"
)
"""The end of a line of such a body, whatever precedes it: `server.txt:3:MIIE…`."""
FULL_LINE = 40
PEM_BODY = compile_on_use(rf"{PEM_HEADERS}(?:{_GAP}*+[A-Za-z0-9+/=]{{16,}}+)+")
KEY_RUN = compile_on_use(r"[A-Za-z0-9+/=]{16,}+")
PUTTY = compile_on_use(
    r"(Private-Lines: \d{1,3}(?:\s{1,2}|\\n))((?:[A-Za-z0-9+/=]{4,}+(?:\r?\n|(?:\\r)?\\n|\Z))+)"
)
