"""Secret files: keys, passwords and histories of shells, which no part of RagForge shows.

One list for all: the walk of an ingestion, the watcher, the tools and read-only commands. By path
where that is enough, by content where a name is used for both.
"""

from __future__ import annotations

import re
from functools import cache

from ragforge.domain.text import split_words
from ragforge.resources import read_word_lists

_SAMPLES = split_words("example examples sample samples template tmpl tpl dist")
_ENV = re.compile(r"\.env(?:rc)?(?:[._-].*)?|.+\.env")
_PARTS = re.compile(r"[._-]")

_LISTS = read_word_lists("brain/files/names.txt")
_NAMES = _LISTS["secret names"]
_ENDINGS = _LISTS["secret endings"]
_PLACES = _LISTS["secret places"]
_PLACE_NAMES = frozenset(place.partition("/")[2] for place in _PLACES)
_FOLDERS = frozenset((".ssh", ".gnupg", ".password-store"))
_PUBLIC = frozenset(("config", "known_hosts", "authorized_keys", "environment"))
SECRET_FOLDERS = _FOLDERS | {".aws", ".kube", ".azure", ".snowflake", "gcloud"}
"""Folders that are made for credentials, although not every file in them is secret."""
_COPIES = frozenset(("bak", "backup", "old", "orig", "save", "swp", "tmp"))

# What may come before is possessive: else a long beginning would be read again and again.
_PRIVATE_KEY = re.compile(
    rb"(?:#[^\n]*\n|Bag Attributes|[ \t]+\w[^\n]*\n|[A-Za-z][\w -]*:[^\n]*\n|\s)*+"
    rb"-----? ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY"
)
_OTHER_BLOCK = re.compile(rb"-----BEGIN ((?:(?!PRIVATE)[A-Z0-9 ])+)-----[^-]*-----END \1-----\s*")
_ACCOUNT = re.compile(
    rb'"private_key"\s*:\s*"-----BEGIN|"client_secret"\s*:\s*"[\w-]{16}'
    rb'|"refresh_token"\s*:\s*"[\w./-]{16}|"auth"\s*:\s*"[\w+/=]{12}|"lineage"\s*:\s*"[\w-]{36}"'
)
_CREDENTIALS = re.compile(  # of AWS, Kubernetes, netrc, age, PuTTY and htpasswd
    rb"""(?:[#;][^\n]*\n|\s)*+(?:
        PuTTY-User-Key-File-\d
        |AGE-SECRET-KEY-1[0-9A-Z]{20}
        |machine\s+\S+\s+login\s+\S+\s+password\s+\S
        |\[[\w .-]+\]\s(?:[^\n]*\n){0,50}?[ \t]*aws_secret_access_key[ \t]*=[ \t]*[\w/+]{20}
        |apiVersion:(?:[^\n]*\n)+?[ \t]*client-key-data:[ \t]*[\w+/=]{40}
        |[\w.-]+:\$(?:2[aby]|apr1|[156y])\$
    )""",
    re.VERBOSE,
)
MARKS = (
    b"PRIVATE KEY|PuTTY-User-Key-File-|AGE-SECRET-KEY-1|machine |aws_secret_access_key"
    b'|client-key-data:|"private_key"|"client_secret"|"refresh_token"|"auth"|"lineage"'
    b"|:$2|:$apr1$|:$1$|:$5$|:$6$|:$y$"
).split(b"|")
"""One of these is in each file that `has_secret_content` knows by its content only."""
_SETTINGS = re.compile(  # of npm, yarn and pip, with a value, not a reference
    rb"(?m)^[^#\n]*(?:(?:_auth|_authToken|_password|npmAuthToken|npmAuthIdent)[\"']?\s*[=:]\s*"
    rb"[\"']?(?!\s|\$).|://[^\s:@/]+:[^\s:@/$<{]+@)"
)
_WITH_SETTINGS = frozenset((".npmrc", ".yarnrc", ".yarnrc.yml", "pip.conf", "pip.ini", ".condarc"))
HEAD_BYTES = 16_384
"""How much of a file is examined."""


def is_secret_file(path: str) -> bool:
    """Tell whether a file holds secrets by its name and folder; the path has `/`.

    `.env.example` and the like hold none: they are there to be read.
    """
    folder, _, name = path.lower().rpartition("/")
    # A walk calls this for every file, so rare cases are checked last.
    if ".env" in name and _ENV.fullmatch(name):
        return _SAMPLES.isdisjoint(_PARTS.split(name))
    stem, dot, ending = name.rpartition(".")
    if name in _NAMES or (dot and ending in _ENDINGS) or name.endswith(".tfvars.json"):
        return True
    if "." in folder and not _FOLDERS.isdisjoint(folder.split("/")):
        return not name.endswith(".pub") and name not in _PUBLIC
    if name in _PLACE_NAMES and f"{folder.rpartition('/')[2]}/{name}" in _PLACES:
        return True
    if name.endswith("~"):
        stem = name.rstrip("~")
    elif not (stem and (ending in _COPIES or ending.isdigit())):
        return False
    return is_secret_file(f"{folder}/{stem}")


def has_secret_content(path: str, data: bytes) -> bool:
    """Tell whether a file is a key, or the credentials of an account, by its first 16 kB."""
    head = data[:HEAD_BYTES]
    if b"\0" in head:  # UTF-16
        head = head.replace(b"\0", b"")
    if may_have_credentials(path):
        return _SETTINGS.search(head) is not None
    text = head.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
    if b"PRIVATE KEY" in text and _PRIVATE_KEY.match(_OTHER_BLOCK.sub(b"", text)):
        return True
    if text.startswith((b"{", b"[")) and _ACCOUNT.search(text):
        return True
    return _CREDENTIALS.match(text) is not None


def may_have_credentials(path: str) -> bool:
    """Tell whether a file has settings of a package manager, by its name."""
    return path.rpartition("/")[2].lower() in _WITH_SETTINGS


@cache
def list_path_patterns() -> tuple[str, ...]:
    """Return the list as patterns for git's attributes; they match in any case."""
    plain = [".env", ".env[._-]*", "*.env", ".envrc*", "*.tfvars.json"]
    with_copies = [*sorted(_NAMES), *(f"*.{ending}" for ending in sorted(_ENDINGS))]
    with_copies += [f"**/{place}" for place in sorted(_PLACES)]
    copies = [f"{one}{end}" for one in with_copies for end in ("", ".ba*", ".o[lr]*", ".save", "~")]
    folders = [f"**/{folder}/**" for folder in sorted(_FOLDERS)]
    return tuple(_fold_case(pattern) for pattern in (*plain, *copies, *folders))


def _fold_case(pattern: str) -> str:
    """Return a pattern that matches letters in both cases; those in brackets stay."""
    pieces = re.split(r"(\[[^]]*\])", pattern)
    return "".join(
        piece if piece.startswith("[") else re.sub(r"[a-z]", _both_cases, piece) for piece in pieces
    )


def _both_cases(letter: re.Match[str]) -> str:
    return f"[{letter[0]}{letter[0].upper()}]"
