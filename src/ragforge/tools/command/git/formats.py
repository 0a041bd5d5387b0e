"""Formats of git: only placeholders on a list, for some of the others run gpg or git again."""

from __future__ import annotations

import re

from ragforge.tools.command.kinds import layout
from ragforge.tools.command.line import Word
from ragforge.tools.command.paths import WorkingDirectory, quote_short
from ragforge.tools.command.plan import NotAllowed

_NAMED = "oneline|short|medium|full|fuller|reference|email|mboxrd|raw"
_SIMPLE_VALUE = r"(?:[^()%]|%x[0-9a-fA-F]{2}|%n|%%){0,200}"
# Of a commit: not %G (signatures: gpg), not %(describe) (git again).
_OF_COMMIT = re.compile(
    r"%(?:[nm%]|x[0-9a-fA-F]{2}|C(?:red|green|blue|reset|\([\w ,#-]{1,60}\))"
    r"|[-+ ]?(?:[HhTtPpdDSesfbBN]|[ac][nNeElLdDrtiIsh]|g[dDnNeEs]"
    rf"|\((?:trailers|decorate)(?::{_SIMPLE_VALUE})?\))"
    r"|(?:>>|><|[<>])\|?\([ \d,a-z-]{1,30}\)|w\([\d, ]{0,30}\))"
)
_PERSON = r"(?:author|committer|tagger|creator)(?:name|email|date)?"
# Of a ref: not signature (gpg), not describe (git again).
_REF_FIELD = (
    rf"\*?(?:refname|object(?:type|size|name)?|deltabase|upstream|push|HEAD|symref|worktreepath"
    rf"|tree|parent|numparent|type|tag|{_PERSON}|subject|body|trailers|contents|raw|flag"
    rf"|ahead-behind|is-base)(?::{_SIMPLE_VALUE})?"
)
_OF_REF = re.compile(
    rf"%(?:%|[0-9a-fA-F]{{2}}|\((?:{_REF_FIELD}"
    rf"|(?:color|align|if)(?::{_SIMPLE_VALUE})?|then|else|end|rest)\))"
)
_SORT_KEY = re.compile(rf"-?(?:version:|v:)?(?:{_REF_FIELD})")
_OF_FILE = re.compile(
    r"%(?:%|n|x[0-9a-fA-F]{2}|\((?:objectmode|objecttype|objectname|objectsize(?::padded)?|stage"
    r"|eolinfo:index|eolinfo:worktree|eolattr|path)\))"
)
_GROUP = re.compile(r"author|committer|trailer:[\w-]{1,60}")


def commit_format(place: WorkingDirectory, word: Word) -> str:
    """The format of a commit, as in `git log --format=%h`."""
    if re.fullmatch(_NAMED, word.text):
        return word.text
    if word.text and "%" not in word.text and not word.text.startswith(("format:", "tformat:")):
        raise NotAllowed(f"{quote_short(word.text)} is not one of git's own formats")
    return _check(place, word, _OF_COMMIT)


def ref_format(place: WorkingDirectory, word: Word) -> str:
    """The format of a branch or tag, as in `git for-each-ref --format='%(refname)'`."""
    return _check(place, word, _OF_REF)


def file_format(place: WorkingDirectory, word: Word) -> str:
    """The format of a file, as in `git ls-files --format='%(path)'`."""
    return _check(place, word, _OF_FILE)


def sort_key(place: WorkingDirectory, word: Word) -> str:
    """What branches and tags are sorted by: a placeholder without its brackets."""
    if _SORT_KEY.fullmatch(word.text) is None:
        raise NotAllowed(f"git may not sort by {quote_short(word.text)}")
    return word.text


def group(place: WorkingDirectory, word: Word) -> str:
    """What `git shortlog` groups by."""
    return word.text if _GROUP.fullmatch(word.text) else _check(place, word, _OF_COMMIT)


def _check(place: WorkingDirectory, word: Word, placeholder: re.Pattern[str]) -> str:
    """Refuse a format in which a % is not the start of a placeholder on the list."""
    at = word.text.find("%")
    while at >= 0:
        found = placeholder.match(word.text, at)
        if found is None:
            shown = quote_short(word.text[at : at + 20])
            raise NotAllowed(f"the placeholder {shown} of a format is not on the list")
        at = word.text.find("%", found.end())
    return layout(place, word)
