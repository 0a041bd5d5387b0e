"""Comments: the words of comments and docstrings, without their markers."""

from __future__ import annotations

import re

from ragforge.brain.parse.outline import MAX_DOCSTRING_CHARS

_LICENCE = re.compile(r"copyright|licen[sc]e", re.IGNORECASE)
_OPENER = re.compile(r"\s*(?:/\*[*!]*|//[/!]*|\{-\s?\|?|--\[=*\[|--+\s?[|^]?|\*+(?!/)|#+!?|;+) ?")
_CLOSER = re.compile(r"\s*(?:\*+/|-\}|\]=*\])\s*$")
# Lines for machines: interpreters, editors, compilers and linters.
_FOR_MACHINES = re.compile(
    r"#!|.*-\*-|\s*#\s*(?:frozen_string_literal|noqa|type:)|//go:|//\s*eslint-"
)
_STRING = re.compile(r"(?:~?[A-Za-z]{0,2})(\"\"\"|'''|\"|')(.*?)(?:\1|\Z)", re.DOTALL)
_READ_AT_MOST = 4 * MAX_DOCSTRING_CHARS  # markers and indentation need some room


def is_licence(text: str) -> bool:
    """Tell whether a comment is a licence or copyright notice."""
    return bool(_LICENCE.search(text))


def read_comment(text: str) -> str:
    """Return the text of a block of comments."""
    lines = [
        _CLOSER.sub("", _OPENER.sub("", line, count=1)).rstrip()
        for line in text[:_READ_AT_MOST].split("\n")
        if not _FOR_MACHINES.match(line)
    ]
    return "\n".join(lines).strip()[:MAX_DOCSTRING_CHARS].rstrip()


def read_string(text: str) -> str:
    """Return the text of a docstring literal, without its indentation."""
    literal = _STRING.match(text[:_READ_AT_MOST])
    first, *rest = (literal.group(2) if literal else text[:_READ_AT_MOST]).split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    lines = [first.strip(), *(line[margin:].rstrip() for line in rest)]
    return "\n".join(lines).strip()[:MAX_DOCSTRING_CHARS].rstrip()
