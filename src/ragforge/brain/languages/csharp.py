"""C#."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragforge.brain.languages.language import Import, Language, ModuleFinder, NameRules, load_query
from ragforge.domain.text import split_words

_USING = re.compile(
    r"(?:global\s+)?using\s+(?P<static>static\s+)?(?:(?P<alias>\w+)\s*=\s*)?(?P<path>[\w.]+)"
)


def _read_imports(text: str, line: int) -> Iterator[Import]:
    if match := _USING.match(text):
        alias = match.group("alias") or ""
        yield Import(match.group("path"), (), alias, line, wildcard=not alias)


class CSharpModules(ModuleFinder):
    """A namespace is not a file; it only shows which library is used."""

    def find_library(self, module: str) -> str | None:
        names = module.split(".")
        return ".".join(names[: 2 if names[0] == "Microsoft" else 1]) or None


_DIRECTIVE = re.compile(rb"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b")
_CONDITION = re.compile(rb"^[ \t]*#[ \t]*(?:if|ifdef|ifndef)\b", re.MULTILINE)


def _keep_first_branches(data: bytes) -> bytes:
    """Return the source with the first branch of each condition only, line for line.

    The grammar sees all branches at once, which together are often not valid code: two heads
    of one class, an `else` in each branch.
    """
    if not _CONDITION.search(data):
        return data
    lines = data.split(b"\n")
    left_out: list[bool] = []  # for each open condition, whether we are past its first branch
    for number, line in enumerate(lines):
        directive = _DIRECTIVE.match(line)
        keyword = directive.group(1) if directive else b""
        if keyword.startswith(b"if"):
            left_out.append(bool(left_out) and left_out[-1])
        elif keyword == b"endif" and left_out:
            left_out.pop()
        elif keyword and left_out:
            left_out[-1] = True
        if keyword or (left_out and left_out[-1]):
            lines[number] = b" " * len(line)
    return b"\n".join(lines)


CSHARP = Language(
    "csharp",
    "tree_sitter_c_sharp:language",
    load_query("csharp/definitions"),
    load_query("csharp/uses"),
    NameRules(
        "csharp",
        self_words=split_words("this"),
        super_words=split_words("base"),
        implicit_members=True,
        partial_types=True,
        project_types=True,
        opens_namespaces=True,
    ),
    CSharpModules,
    _read_imports,
    simplify=_keep_first_branches,
)
