"""Patterns: secrets that are recognised only by their form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
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


def _is_credential(value: str) -> bool:
    return not is_placeholder(value) and (len(value) >= 20 or any(c.isdigit() for c in value))


def _is_password(value: str) -> bool:
    return not is_placeholder(value) and not value.isdigit()


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


PATTERNS: tuple[SecretPattern, ...] = (
    *_read_keys(),
    SecretPattern(
        "Azure client secret",
        ("Q~",),
        r"(?a)(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,34}+(?![\w~-])",
        _is_key,
        back=4,
    ),
    SecretPattern(
        "password",
        ("://",),
        (
            r"(?<=[A-Za-z0-9])://[^\s/:@\"'`<>\[\](){},;|\\]*+(?::|%3[Aa])"
            r"(?!\d{1,5}[^\w@%.~!$*+=-])([^\s/\"'`<>|\\]+)@(?=[\w\[{$%<*.-])"
        ),
        lambda value: not is_placeholder(value),
        group=1,
    ),
    SecretPattern(
        "authorization",
        ("authorization",),
        (
            r"(?ai:authorization(?:_header)?[\\\"'\]]{0,6}\s{0,4}(?::|=>?|,)\s{0,4}[\\\"'`]{0,4}"
            r"(?:bearer|token|bot|basic|apikey|api-key|key|genie ?key|oauth)[ :=]\s{0,4})"
            r"([A-Za-z0-9._~+/=|:-]{8,}+)"
        ),
        _is_credential,
        group=1,
        any_case=True,
    ),
    SecretPattern(
        "bearer token",
        ("bearer",),
        r"(?ai:bearer)[ \t]{1,4}([A-Za-z0-9._~+/=|-]{16,}+)",
        is_random,
        group=1,
        any_case=True,
    ),
    SecretPattern(
        "basic credentials",
        ("basic",),
        r"(?ai:basic)[ \t]{1,4}([A-Za-z0-9+/]{8,}+={0,2})",
        is_login,
        group=1,
        any_case=True,
    ),
    SecretPattern(
        "password",
        ("IDENTIFIED BY ",),
        r"IDENTIFIED BY ['\"]([^'\"\n]{3,200}+)",
        _is_password,
        group=1,
    ),
    SecretPattern(
        "password",
        ("identified by ",),
        r"(?i:identified by )['\"]([^'\"\n]{3,200}+)",
        is_strong,
        group=1,
        any_case=True,
    ),
    SecretPattern(
        "password",
        ("curl ",),
        (
            r"curl (?:[^\n]{0,400}? )?(?:-u|--user|--proxy-user)[ =]{0,2}[\"']?"
            r"[^\s:\"'$]{1,100}+:([^\s\"']{3,200}+)"
        ),
        _is_password,
        group=1,
    ),
    SecretPattern(
        "password",
        ("sshpass",),
        r"sshpass[ \t]{1,4}-p[ \t]{0,4}['\"]?([^\s'\"]{3,200}+)",
        _is_password,
        group=1,
    ),
    SecretPattern(  # -pPASSWORD, where a space would name a database
        "password",
        ("mysql", "mariadb"),
        r"(?:mysql|mariadb)\w*+(?:-dump|-admin)? (?:[^\n]{0,300}? )?-p['\"]?"
        r"([^\s'\"=-][^\s'\"]{2,200}+)",
        _is_password,
        group=1,
    ),
    SecretPattern(  # the password after a separate flag
        "password",
        ("redis-cli ", "docker login ", "mongosh ", "mongodump "),
        r"(?:redis-cli (?:[^\n]{0,200}? )?-a|docker login (?:[^\n]{0,200}? )?-p"
        r"|mongo(?:sh|dump) (?:[^\n]{0,200}? )?-p)[ \t]{1,4}['\"]?([^\s'\"-][^\s'\"]{2,200}+)",
        _is_password,
        group=1,
    ),
    SecretPattern(
        "password",
        ("pass:",),
        r"(?<=[ =\"'])pass:([^\s\"'`<>]{4,200}+)(?![\"'`]?\s*[,:)])",
        lambda value: is_strong(value) and not is_placeholder(value),
        group=1,
    ),
    SecretPattern(  # a line of .pgpass
        "password",
        (":5432:", ":5433:", ":6432:", ":*:*:"),
        r":(?:\d{4}|\*):[^\s:\"'`/]{1,63}+:[^\s:\"'`/]{1,63}+:([^\s\"'`]{3,200}+)(?=[\s\"'`]|\Z)",
        _is_password,
        group=1,
    ),
    SecretPattern(  # a token in the place of a user
        "token",
        ("://",),
        r"(?<=[A-Za-z0-9])(?<!ssh)://([A-Za-z0-9_.~-]{16,200}+)(?::(?:x-oauth-basic)?)?@(?=[\w\[-])",
        is_random,
        group=1,
    ),
    SecretPattern(
        "Airtable key",
        ("airtable",),
        r"(?ai:airtable)[^\n]{0,80}?(?<![A-Za-z0-9])(key[A-Za-z0-9]{14})(?![A-Za-z0-9])",
        lambda value: any(char.isdigit() for char in value) and value.lower() != value,
        group=1,
        any_case=True,
    ),
    SecretPattern(
        "Azure function key",
        ("AzFu", "AzSe", "AzCa"),
        r"(?a)(?<![\w+/-])[\w+/-]{44}Az(?:Fu|Se|Ca)[\w+/-]{4,8}={0,2}(?![\w+/=-])",
        _is_key,
        back=44,
        long=True,
    ),
    SecretPattern(
        "Mailchimp key",
        ("-us",),
        r"(?<![0-9A-Za-z])[0-9a-f]{32}-us\d{1,2}(?![0-9A-Za-z])",
        _is_key,
        back=32,
        long=True,
    ),
    SecretPattern(
        "Google Chat webhook",
        ("chat.googleapis.com/v1/spaces/",),
        r"chat\.googleapis\.com/v1/spaces/[^\s\"'<>]{1,200}?[?&]token=([\w%-]{20,}+)",
        _is_key,
        group=1,
    ),
    SecretPattern(
        "application key",
        ("base64:",),
        r"(?<![\w/;,])base64:([A-Za-z0-9+/]{43}=)(?![A-Za-z0-9+/=])",
        _is_key,
        group=1,
    ),
)

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
