"""Assignments: find secrets by the name that they are assigned to, in any syntax."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragforge.memory.secrets.text_view import TextView
from ragforge.memory.secrets.values import (
    SecretKind,
    choose_label,
    classify_name,
    is_code,
    is_login,
    is_ordinary,
    is_placeholder,
    is_random,
    is_strong,
    is_uuid,
)

_KEYWORDS = ("pass", "pwd", "secret", "token", "key", "cred", "auth")
_NAME_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_QUOTE = r"(?=[bBrRuUfFL@]{0,2}\\{0,3}[\"'`])"
_TYPE = r"(?:&(?:'\w{1,20} )?)?[\w.]{1,40}(?:[\[<][\w., |]{0,40}[\]>])?(?: ?\| ?[\w.]{1,40}){0,3}"

_OF_WHAT = (  # `the password for the database is`
    r"(?:[ \t]{1,4}(?:for|of|on|to|de|du|pour|von|für)[ \t][^\n\"'`=:;.,!?<>(){}\[\]]{1,40}?)"
)
_IS = r"(?:(?:is |was )?(?:set|changed|reset) to|will be|should be|is|was|ist|war|est|était|es|era)"

_BETWEEN = re.compile(  # the rest of the name, and what joins it to its value
    r"[\w-]{0,40}+(?P<close>\\{0,3}[\"'`]?[\])]{0,2})(?:"
    rf"(?P<typed>(?:\??: ?{_TYPE}| \*?\w{{1,20}}) ?= ?{_QUOTE})"
    r"|(?P<sets>[ \t]{0,20}+\??(?::=|=>|={1,3}|!={1,2}|::?|->)[ \t]{0,20}+)"
    r"|(?P<sibling>,?\s{1,40}[\"']?[vV]alue[\"']?[ \t]{0,4}[:=][ \t]{0,4})"
    rf"|(?P<says>{_OF_WHAT}?[ \t]{{1,4}}{_IS}(?: now)?:?[ \t]{{1,4}}|{_OF_WHAT}:[ \t]{{1,4}})"
    rf"|(?P<loose>(?:[ \t]{{0,4}}[,(]\s{{0,40}}|[ \t]{{1,4}}){_QUOTE})"
    r"|(?P<bare>[ \t]{1,4}(?=[^\s=:-]))"
    r"|(?P<element>>)"
    r")",
    re.ASCII,
)
_QUOTED = re.compile(
    r"[bBrRuUfFL@]{0,2}(?P<quote>\"\"\"|'''|\\{0,3}[\"'`])"
    r"(?P<value>(?:[^\\\n\"'`]++|(?!(?P=quote))(?:\\.|[\"'`]))++)"
)
_LOOK = 256  # of a value: enough to judge it
_LINE = re.compile(
    r"(?:[^\s\"'`<>\\&;]{1,64}+|[&;](?![ \w]{1,40}=)|\\(?![nrt\"'\\])){1,8}+", re.ASCII
)
_WORD = re.compile(r"(?:[^\s\"'`<>\\,;&)\]}|]{1,64}+|\\(?![nrt\"'\\])){1,8}+")
_ENDS = re.compile(
    r"[,;.!?]{0,2}(?:[ \t]{0,8}(?:\Z|[\r\n#}&<)\]\\\"'`|]|//)|[,;&])|[.,;!?]? (?![=+*/<>|&?-])"
)
_PATH_OR_NAME = re.compile(r".*/.*|[A-Za-z]\w*_\w*|[a-z]\w*(?:-\w+)+|\w+=\w*|\\.*")
_CLAUSE_END = re.compile(r"[.,;!?]*(?:\s*\Z|[ \t]*[\r\n]|[.,;!?)])|\\n")
_NETRC = re.compile(r"login\s+\S+\s+\Z")
_VERB = re.compile(r"[Pp]ass(?!word|wd|phrase|code|wort|e\b)\w*")
_NEXT_ARGUMENT = re.compile(r"\\{0,3}[\"'`]+\s*,")
_FIRST = re.compile(r"[({]\s*\\{0,3}[\"'`]\Z")
_AFTER_FLAG = re.compile(  # where prose speaks of a flag
    r"(?:options?|flags?|arguments?|parameters?|switch|requires?|instead|cannot|must|will|should|with"
    r"|when|from|then|also|does|value|only|without|have|were|that|which)\b"
)
_AFTER_CLOSE = frozenset(" \t+.,)%&;]}")
_LEAD = re.compile(  # of a line in a diff, a quotation or the output of grep
    r"^(?:[^\s:=\"'()\[\]{},]{1,200}[:-]\d{1,7}[:-]|\d{1,7}[:\t-]|[+>|-][ \t]?|\\t)+"
)
_GREP = re.compile(r"[\w.-]*?-\d{1,7}-(?=[A-Za-z_])")  # a line next to a match: `.env-3-NAME`
_SHELL_WORDS = ("export", "set", "env", "ENV", "ARG", "-e", "--env", "$env:", "setx")


def find_assigned(view: TextView) -> Iterator[tuple[int, int, str]]:
    """Yield the start, the end and the label of each secret that is assigned to a name."""
    text, low = view.text, view.low
    for keyword in _KEYWORDS:
        position, size = low.find(keyword), len(keyword)
        while position >= 0:
            end = position + size
            if (between := _BETWEEN.match(text, end)) is not None and (
                found := _find_value(text, position, between)
            ):
                yield found
                end = max(end, found[1])
            position = low.find(keyword, end)


def _find_value(text: str, position: int, between: re.Match[str]) -> tuple[int, int, str] | None:
    """Return the value that follows a name, if it is a secret."""
    before, name = _read_name(text, position, between.start("close"))
    how = between.lastgroup
    if (kind := classify_name(name)) is None and not name.endswith("auth"):
        return None
    if ")" in between["close"] and (between["sets"] or "").strip() == "->":
        return None  # split_password("user:password") -> "user"
    if before.endswith("::") or ":secretsmanager:" in before:
        return None  # the name of a type or a resource
    if how not in ("sets", "element") and _VERB.fullmatch(name):
        return None
    if how == "loose" and "," in between["loose"] and not _FIRST.search(before):
        return None  # an item of a list, or the argument after a variable
    if quoted := _QUOTED.match(text, between.end()):
        if not between["close"] and quoted["value"][:1] in _AFTER_CLOSE:
            return None  # the quote ended the string before: "password=" + word
        start, end = quoted.span("value")
        if "(" in (between["loose"] or "") and _NEXT_ARGUMENT.match(text, end):
            return None  # get_password("service", "user")
        value = quoted["value"][:_LOOK]
        secret = _is_quoted_secret(kind, name, value, loose=how in ("loose", "says")) or (
            how == "says" and kind == "password" and _is_said(name, value, 4)
        )
    else:
        start = between.end()
        end, certain, goes_on = _find_bare_end(text, start, before, name, between)
        value = text[start:end][:_LOOK]
        secret = end > start and _is_bare_secret(kind, value, certain=certain)
        if how == "says" and kind == "password" and _CLAUSE_END.match(text, end):
            secret = secret or _is_said(name, value, 6)
        while secret and goes_on and (more := goes_on.match(text, end)):
            end = more.end()
    return (start, end, choose_label(name, kind or "secret")) if secret else None


def _read_name(text: str, position: int, end: int) -> tuple[str, str]:
    """Return the text before a name, and the name around the keyword at a position."""
    left = text[max(0, position - 60) : position]
    before = left.rstrip(_NAME_CHARS)
    name = left[len(before) :] + text[position:end]
    if before.endswith("\\") and name[:1] in "nrt":  # an escaped line end, not part of the name
        before, name = before + name[:1], name[1:]
    if "-" in name and (grep := _GREP.match(name)):
        before, name = before + grep[0], name[grep.end() :]
    return before, name


def _find_bare_end(
    text: str, start: int, before: str, name: str, between: re.Match[str]
) -> tuple[int, bool, re.Pattern[str] | None]:
    """Return where a value without quotes ends, and whether it is certainly a value.

    The pattern continues a very long value. Reading it to its end before it is known to be a
    secret would take quadratic time where names and values alternate.
    """
    how = between.lastgroup
    flag = how == "bare" and name.startswith("--") and not _AFTER_FLAG.match(text, start)
    env = _is_env(before, name, between["sets"])
    chars = _LINE if env or how == "says" else _WORD
    found = chars.match(text, start)
    if found is None or (how == "bare" and not flag and not _NETRC.search(before)):
        return start, False, None
    end = found.end()
    if how == "element":
        whole = before.endswith("<") and text.startswith("</", end)
        return (end, True, None) if whole else (start, False, None)
    if env or flag or chars.match(text, end):
        return end, env or flag, chars
    word = found[0].rstrip(".,;:)]}|")
    end = start + len(word.rstrip("!?"))
    if not _ENDS.match(text, end):
        return start, False, None
    return (start + len(word) if is_strong(text[start:end]) else end), False, None


def _is_env(before: str, name: str, sets: str | None) -> bool:
    """Tell whether `NAME=value` is a literal assignment of a shell or a properties file."""
    if sets != "=":
        return False
    line = _LEAD.sub("", before.rpartition("\n")[2].rpartition("\\n")[2])
    words = line.split()
    shell = not words or words[-1] in _SHELL_WORDS or line.endswith("$env:")
    if name.upper() == name:
        return shell or line[-1:] in (" ", "\t", ";", '"', "'", "`")
    return (shell and (line == "" or bool(words))) or name.startswith("--")


def _is_quoted_secret(kind: SecretKind | None, name: str, value: str, *, loose: bool) -> bool:
    """Tell whether a quoted value is a secret."""
    if kind is None:
        return not loose and is_login(value)
    if is_placeholder(value):
        return False
    if kind == "password":
        if " " in value and "phrase" in name.lower():
            return not loose and len(value) >= 12
        if loose:
            return is_strong(value) and not _PATH_OR_NAME.fullmatch(value)
        return len(value) >= 4 and " " not in value
    return _is_random_enough(kind, name, value)


def _is_bare_secret(kind: SecretKind | None, value: str, *, certain: bool) -> bool:
    """Tell whether a bare value is a secret, and not code or prose."""
    if kind is None:
        return is_login(value)
    if is_placeholder(value) or is_code(value) or value.startswith("\\"):
        return False
    if not certain and value.isidentifier() and any(word in value.lower() for word in _KEYWORDS):
        return False  # a variable with the name of the secret
    if kind == "password":
        return len(value) >= 4 if certain else is_strong(value)
    return _is_random_enough(kind, "", value)


def _is_said(name: str, value: str, min_chars: int) -> bool:
    """Tell whether a sentence names a password: `is swordfish`, but not `is wrong`."""
    if "phrase" in name.lower() and value.count(" ") >= 2:
        return len(value) >= 12
    return (
        len(value) >= min_chars
        and value.replace("-", "").isalpha()
        and not is_placeholder(value)
        and not is_ordinary(value)
    )


def _is_random_enough(kind: SecretKind, name: str, value: str) -> bool:
    """Tell whether a value is random enough for such a name."""
    if kind == "key":
        return is_random(value, strict=True)
    if "secret" in name.lower() and (is_uuid(value) or is_strong(value, 12)):
        return True
    return is_random(value) or is_uuid(value)
