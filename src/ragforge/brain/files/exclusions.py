"""Exclusions: which files are not indexed, and which secret files no part of RagForge shows.

One list of secret files for all: the walk of an ingestion, the watcher, the tools and read-only
commands. By path where that is enough, by content where a name is used for both.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Collection
from functools import cache
from typing import Literal, TypeAlias

from ragforge.domain.text import split_words
from ragforge.records import dataclass
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
SkipReason: TypeAlias = Literal[
    "ignored",
    "version control",
    "vendored",
    "secret",  # keys and passwords: never read
    "binary",
    "too large",
    "minified",
    "generated",
    "translation",
    "unreadable",
    "special",  # a pipe, a socket, a device: never opened
    "link",  # its target is found under its own name
    "outside",  # a link that leaves the project
    "name",  # not valid UTF-8, or too long for the store
    "too many",
    "outline",  # too many scopes for the size of its text, which is stored in chunks
    "costly",  # parsing it took too much time or memory; if only time, its text is in chunks
    "no grammar",  # that of its language is not installed; its text is in chunks
    "depth",  # what is nested too deeply in it is missing
]

VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".jj", ".bzr", "CVS", "_darcs"})
VENDORED = _LISTS["vendored folders"]
# A name is not enough: CPython has a package `venv`, Rails keeps its own code in `vendor`.
FOREIGN_ANYWHERE = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})
FOREIGN_IN_VENDOR = frozenset({"modules.txt", "autoload.php"})

BINARY = _LISTS["binary endings"]
MESSAGES = "/LC_MESSAGES/"
# They repeat the texts of the code in each language, and would hide the code in searches.
TRANSLATIONS = frozenset({"po", "xlf", "xliff"})
MINIFIED = (".min.js", ".min.mjs", ".min.cjs", ".min.css")
GENERATED = _LISTS["generated names"]
DRAFT = ".ragforge-"
"""How files begin that RagForge writes before it puts them in their place."""
GENERATED_ENDS = tuple(_LISTS["generated endings"])

NOTEBOOK = ".ipynb"

HEAD = 8192
HEADER_BYTES = 1024
HEADER_LINES = 5
LONG_LINE = 5_000
WIDE_LINES = 300  # on average, in a script or style sheet
PROSE = (".md", ".markdown", ".mdx", ".rst", ".adoc", ".org", ".tex", ".ipynb")
SCRIPTS = (".js", ".mjs", ".cjs", ".css")
MARKUP = (".html", ".htm", ".svg", ".xml", ".json")

# Only in a comment, and "generated by" only at the start of a sentence: a parser of reports
# "generated by pytest" is written by hand. So are files that a tool only started: Django's
# migrations and settings, Gradle's `init`. A generated database schema is kept as the only copy.
_GENERATED_COMMENT = re.compile(
    rb"""
    ^\s* (?: \#|//|/?\*|<!--|--|;|%|\(\*|\{-|rem\b|dnl\b )
    (?! .* \b(?: begin | Django | init | new | database )\b )
    (?: [^\w\n]*
        (?: (?:this|the)\s (?:\w+\s)? (?:file|code|module|class|script)\s (?:is|was|has\sbeen)\s )?
        (?: (?:file|code)\s )?
        (?: auto-? | auto\s | automatically\s | machine[- ] )? generated
        \s(?: by | from | with | using | via | file | code )\b
      | .* @generated (?![\w(])
      | .* do\snot\s(?:edit|modify) (?!\s(?:this\s(?:section|block|line)|below|above))
    )
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)


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


def check_filename(path: str) -> SkipReason | None:
    """Return why a file of this name is not indexed, or None."""
    if is_secret_file(path):
        return "secret"
    lower = path.rpartition("/")[2].lower()
    if lower.startswith(DRAFT):
        return "generated"
    _, dot, extension = lower.rpartition(".")
    if dot and (extension in BINARY or (extension == "mo" and MESSAGES in path)):
        return "binary"
    if dot and extension in TRANSLATIONS:
        return "translation"
    if lower.endswith(MINIFIED):
        return "minified"
    if lower in GENERATED or lower.endswith(GENERATED_ENDS):
        return "generated"
    return None


def check_directory_name(name: str) -> SkipReason | None:
    """Return why nothing in a directory of this name is the project's own, or None."""
    if name in VERSION_CONTROL:
        return "version control"
    return "vendored" if name in VENDORED else None


def is_foreign(name: str, children: Collection[str]) -> bool:
    """Tell whether a directory with these children was created by a package manager."""
    if not FOREIGN_ANYWHERE.isdisjoint(children):
        return True
    return name == "vendor" and not FOREIGN_IN_VENDOR.isdisjoint(children)


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Larger files, and more of them, are left out."""

    max_bytes: int = 1_000_000
    max_files: int = 200_000
    notebook_factor: int = 10
    """The outputs in a notebook make it large; they are not kept."""

    def is_too_large(self, path: str, size: int) -> bool:
        """Tell whether a file is larger than one of its kind may be."""
        return size > self.max_bytes and (
            not path.endswith(NOTEBOOK) or size > self.max_bytes * self.notebook_factor
        )


def check_content(path: str, data: bytes) -> SkipReason | None:
    """Return why this content is not worth indexing, or None."""
    if is_binary(data):
        return "binary"
    if has_secret_content(path, data):
        return "secret"
    lower = path.lower()
    if lower.endswith(PROSE):
        return None
    first_lines = data[:HEADER_BYTES].split(b"\n", HEADER_LINES)[:HEADER_LINES]
    if _GENERATED_COMMENT.search(b"\n".join(first_lines)):
        return "generated"
    return "minified" if is_minified(lower, data) else None


def is_binary(data: bytes) -> bool:
    """Tell whether the beginning has a NUL that is not part of UTF-16 text."""
    head = data[:HEAD]
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "\0" in decode(head)
    return b"\0" in head


def is_minified(path: str, data: bytes) -> bool:
    """Tell whether the lines are too long to be written by hand.

    In a program, a few endless lines are only data between lines that matter.
    """
    if len(data) <= LONG_LINE:
        return False
    average = len(data) / (data.count(b"\n") + 1)
    if average > LONG_LINE or (average > WIDE_LINES and path.endswith(SCRIPTS)):
        return True
    if not path.endswith(SCRIPTS + MARKUP):
        return False
    long = sum(length for length in map(len, data.split(b"\n")) if length > LONG_LINE)
    return long > len(data) / 2


def decode(data: bytes) -> str:
    """Return the text with its line ends unchanged. Any bytes can be decoded."""
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace")
    for encoding in ("utf-8", "cp1252"):
        try:
            return data.removeprefix(BOM_UTF8).decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")
