"""Values: whether a value that is assigned to a name is a secret."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import Literal, TypeAlias

from ragforge.resources import read_word_lists

SecretKind: TypeAlias = Literal["password", "secret", "key"]
"""What a name announces: a password (any literal), a secret (random), a key (very random)."""


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SPLIT = re.compile(r"[^a-z]+")

_PASSWORDS = ("password", "passwd", "passphrase", "passwort", "passcode", "pwd")
_PASS = frozenset({"pass", "passe", "userpass", "dbpass", "rootpass", "mypass", "pgpass"})
_SECRETS = ("secret", "token", "apikey", "secretkey", "accesskey", "privatekey", "credential")
_WORDS = read_word_lists("memory/secrets/words.txt")
_QUALIFIERS = _WORDS["qualifiers"]
_KEYED = _WORDS["keyed"]
_HARMLESS = _WORDS["harmless"]

_STANDS_IN = re.compile(
    r"(?i)your|change.?me|change.?this|replac|insert|placeholder|example|dummy|redacted|todo|fixme"
    r"|goes.?here|xxxx|\*\*\*|•••|<[^>]{0,40}>|\{\{|\{\w*\}|\$\{|%\("
)
_ORDINARY = re.compile(
    r"(?i)(?:non-?|un|in|pre|re)?(?:[a-z-]+(?:ed|ing|ly|able|ible|less|ful|ous|ive|al|ant|ent|é|ée)|"
    r"blank|bogus|bytes|clear|correct|default|encoded|empty|enough|false|falsch|faux|fields?|filter|"
    r"fine|forgotten|gone|hashes|hidden|holds|incorrect|instead|invalid|itself|known|leer|longer|"
    r"nothing|obligatoire|plain-?text|private|public|required?|requis|richtig|right|safe|same|secret|"
    r"secure|shorter|shown|something|somewhere|strings?|stronger?|taken|there|these|those|today|"
    r"unknown|unset|unsafe|unique|users?|valid|vide|weaker?|where|which|wrong|written|yours?)"
)
"""What a sentence says of a password without naming it."""
_ESCAPES = re.compile(r"(?:\\+[nrt])+\Z")
_ELLIPSIS = re.compile(r"\.{3,}|…")
_NO_VALUE = _WORDS["no value"]
_REFERENCE = re.compile(
    r"\$\w+|\$[({].*|\{.*\}|<.*|%\w|%\w+%|%\(.*|\[.*|#\{.*|@[\w.-]+@|[&*][A-Za-z_]+;?"
    r"|!(?:vault|secret|env|ENV|Ref|Sub|GetAtt|reference|include\w*)\b.*|(?:env|vault|ssm|arn):.*"
    r"|[a-z+]+://.*|[.~]{0,2}/[\w./-]+"
    r"|(?:process\.env|os|self|this|env|config|settings|secrets|var|data)\..*",
    re.DOTALL,
)
_SAMPLE = re.compile(r"(?i)x{5}|example|your[-_]|placeholder|change.?me|redacted|\*{3}")
_SAYS_IT = re.compile(
    r"(?i)[a-z _.:?*-]*(?:pass|pwd|secret|token|key|credential|auth|login)[a-z _.:?*-]*"
)
_CODE = re.compile(
    r"[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)*(?:\(|\[|::|->|\?\.|<\w)"
    r"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+[;,)]*$|[&*]+\w+$|[(\[{|=>]|lambda\b|new\b|await\b"
)
_SNAKE = re.compile(r"(?:[A-Z][A-Z0-9]*|[a-z][a-z0-9]*)(?:_[A-Za-z0-9]+)*_[A-Za-z]+")
_HEX = re.compile(r"[0-9a-fA-F]+")
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SAMPLE_UUID = re.compile(
    r"(?i)123e4567-|00000000-|f47ac10b-|([0-9a-f])\1{7}-|(?:12345678|01234567)-"
)
_NOT_RANDOM = re.compile(
    r"(?i)(?:sha\d{1,3}|md5)[-:=]|aws4-|.*/aws4_request|data:|[a-z][a-z0-9+.-]*://|[./~]"
    r"|[a-z]:[\\/]|ssh-|ecdsa-|AAAA[BCE]"
    r"|(?-i:[A-Z0-9]+(?:_[A-Z0-9]+){2,}$)|[-+]?\d[\d.,:/_+TZE-]*$|[\w.+-]+@[\w.-]+$"
)
_SECRET_CHARS = re.compile(r"[!-~]+")
_DIGITS = re.compile(r"\d+")


@lru_cache(4096)  # the same names come again and again
def classify_name(name: str) -> SecretKind | None:
    """Return the kind of secret that a name announces; None for `password_hash` or `tokenizer`."""
    words = [word for word in _SPLIT.split(_CAMEL.sub("_", name).lower()) if word]
    if not words or any(word in _HARMLESS for word in words) or name in ("PWD", "OLDPWD"):
        return None
    while len(words) > 1 and words[-1] in _QUALIFIERS:
        words.pop()
    last = words[-1]
    if last.endswith(_PASSWORDS) or last in _PASS:
        return "password"
    if last.endswith((*_SECRETS, "credentials")) or last == "authorization":
        return "secret"
    if last == "key":
        return "secret" if _KEYED.intersection(words[:-1]) else "key"
    named = any(word.endswith(_SECRETS[:3]) for word in words) or {"api", "key"} <= set(words)
    return "key" if named else None


def choose_label(name: str, kind: SecretKind) -> str:
    """Return the label of a secret with such a name."""
    low = name.lower()
    if kind == "secret":
        known = ("token", "secret", "authorization", "credential", "key")
        return next((word for word in known if word in low), "credentials")
    return kind


def is_placeholder(value: str) -> bool:
    """Tell whether a value is a placeholder: `<your-key>`, `${TOKEN}`, `xxxx`, `changeme`.

    One that was cut with `…` is none if what is left of it looks like a secret.
    """
    bare = _ESCAPES.sub("", value).strip(" \t\r\n\"'`")
    if len(pieces := _ELLIPSIS.split(bare[:200])) > 1:
        bare = max(pieces, key=len)
        if not is_strong(bare):
            return True
    return (
        len(set(bare)) <= 2
        or bare.lower() in _NO_VALUE
        or _REFERENCE.fullmatch(bare) is not None
        or _STANDS_IN.search(bare, 0, 100) is not None
        or (len(bare) <= 80 and (_SAYS_IT.fullmatch(bare) is not None or _is_name(bare)))
    )


def is_sample(key: str) -> bool:
    """Tell whether a key is only a sample: `sk-xxxxxxxx`, `AKIA…EXAMPLE`."""
    often = Counter(key).most_common(1)[0][1]
    return often * 2 > len(key) or _SAMPLE.search(key) is not None


def is_ordinary(word: str) -> bool:
    """Tell whether a word says something of a password and is not one: `required`, `wrong`."""
    return _ORDINARY.fullmatch(word) is not None


def is_code(value: str) -> bool:
    """Tell whether an unquoted value is an expression: `get_password()`, `tokens[0]`, `cfg.key`."""
    return _CODE.match(value) is not None


def is_strong(value: str, min_chars: int = 6) -> bool:
    """Tell whether a value looks like a password: letters with digits or signs, no spaces."""
    return (
        len(value) >= min_chars
        and not any(char.isspace() for char in value)
        and any(not (char.isalpha() or char in "._-:/,;()") for char in value)
        and not _NOT_RANDOM.match(value)
    )


def is_random(value: str, *, strict: bool = False) -> bool:
    """Tell whether a value looks generated; `strict`: with both cases of letters, not a hash."""
    size = len(value)
    if size < (20 if strict else 16) or not _SECRET_CHARS.fullmatch(value):
        return False
    if _NOT_RANDOM.match(value) or _UUID.fullmatch(value):
        return False
    if _HEX.fullmatch(value):
        return not strict and size >= 24 and len(set(value.lower())) >= 7
    if _measure_entropy(value) < (3.0 if size < 24 else 3.4):
        return False
    groups = len(_DIGITS.findall(value))
    changes = sum(_classify_char(a) != _classify_char(b) for a, b in pairwise(value)) / size
    if strict:
        return groups >= 1 and changes >= 0.42 and value.lower() != value != value.upper()
    return groups >= 3 or (groups >= 2 and changes >= 0.3) or (groups >= 1 and changes >= 0.42)


def is_uuid(value: str) -> bool:
    """Tell whether a value is a UUID, which some services use as a key; not one from a manual."""
    return _UUID.fullmatch(value) is not None and not _SAMPLE_UUID.match(value)


def is_login(value: str) -> bool:
    """Tell whether a value is `user:password` in base64, as in Basic authorization."""
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in plain[1:-1] and all(32 <= byte < 127 for byte in plain)


def _is_name(value: str) -> bool:
    """Tell whether a value is the name of a secret: `RAGFORGE_NEO4J_PASSWORD`."""
    return _SNAKE.fullmatch(value) is not None and classify_name(value) is not None


def _measure_entropy(value: str) -> float:
    """Return the entropy in bits per character."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())


def _classify_char(char: str) -> int:
    """Return the class of a character: digit, lower case, upper case or other."""
    return 0 if char.isdigit() else 1 if char.islower() else 2 if char.isupper() else 3
