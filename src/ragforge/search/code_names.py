"""Code names: find names, paths and other code in a text."""

from __future__ import annotations

import re

from ragforge.patterns import compile_on_use
from ragforge.search.kinds import find_named_code

MOST_NAMES = 40
"""The most names that are returned for one text."""

_NAME = r"[^\W\d]\w*"
_JOINT = compile_on_use(r"\.|::|#|->")
_WRITTEN_AS_NAME = compile_on_use(
    rf"`({_NAME}(?:(?:\.|::|\#){_NAME})*)(?:\(\))?`"  # in backticks
    rf"|\b({_NAME}(?:(?:\.|::|\#){_NAME})*)(?=\()"  # called
    rf"|\b({_NAME}(?:(?:\.|::){_NAME})+)\b"  # qualified
    rf"|\b([^\W\d_]+_\w+|[^\W\d_]*[a-z][A-Z]\w*)\b"  # spelt like code
)
_IDENTIFIER = compile_on_use(r"[A-Za-z_]\w*(?:(?:\.|::|#|->)[A-Za-z_]\w*)*")
_LIKE_CODE = compile_on_use(r"[a-z][A-Z]|_|\.|::|#|->|[A-Z]{2,}[a-z]")

_EXTENSIONS = """bash bat c cc cfg clj cpp cs css csv cue dart dockerfile el env erl ex exs fs gd go
    gradle graphql groovy h hcl hpp hs html ini ipynb java jl js json jsx kt kts less lock lua m md
    mdx mjs ml mm nix php pl po proto ps1 py pyi r rb rs rst sass sbt scala scss sh sql svelte swift
    tf toml ts tsx txt vim vue xml yaml yml zig zsh"""
_STEP = r"[\w@+~-][\w@+~.-]*"
_PATH = compile_on_use(
    rf"""(?<![\w/.\\:@-])                       # not within a word, an address or a URL
    (?:[A-Za-z]:[\\/]|~/|\.{{0,2}}/)?           # where it begins, if that is said
    (?:{_STEP}[/\\])*                           # folders
    (?:{_STEP})?\.(?:{"|".join(_EXTENSIONS.split())})
    (?![\w/\\-]|\.\w)""",
    re.VERBOSE | re.IGNORECASE,
)
_BARE_FILES = compile_on_use(r"(?<![\w/.-])(?:[\w.-]+/)*(?:Makefile|Dockerfile|Rakefile|Gemfile)\b")
_FILE_NAME = compile_on_use(r"[\w-]+\.\w{1,5}\b")
# Names, calls, paths, options, traces: prose does not look like this.
_CODE = compile_on_use(
    r"`[^`\n]+`|\w\(\)|\w::\w|->\w|[a-z0-9]_[a-z0-9]|[a-z]{2}[A-Z][a-z]"
    r"|(?<![\w/:])[\w.-]*/[\w./-]+\.[a-z]{1,5}\b"
    r"|\b[\w-]+\.(?:c|cc|cpp|cs|css|ex|go|h|hs|html|ipynb|java|js|json|jsx|kt|lua|md|php|py|rb|rs|rst"
    r"|scala|sh|sql|swift|toml|tsx?|txt|xml|ya?ml|zig)\b"
    r"|\b[A-Z]\w*(?:Error|Exception)\b|\bline \d+, in\b|(?<![\w-])--[a-z][\w-]+"
)


def find_names(text: str) -> list[str]:
    """Return the words of a text that are certainly meant as names of code, each once."""
    paths = {name for path in find_paths(text) for name in (path, re.split(r"[/\\]", path)[-1])}
    hits = (next(filter(None, hit.groups())) for hit in _WRITTEN_AS_NAME.finditer(text))
    names = dict.fromkeys((*hits, *find_named_code(text)))
    return [name for name in names if name not in paths][:MOST_NAMES]


def find_identifiers(question: str) -> list[str]:
    """Return what in a question may be a name in an index, its parts joined by dots.

    More than `find_names`: looking up one that does not exist costs little. A question of one
    word is one.
    """
    found = _IDENTIFIER.findall(question)
    alone = len(question.split()) == 1
    written = [".".join(split_name(name)) for name in found if alone or _LIKE_CODE.search(name)]
    return list(dict.fromkeys((*written, *find_named_code(question))))


def split_name(name: str) -> list[str]:
    """Return the parts of a qualified name: `Cart::add` has two."""
    return _JOINT.split(name)


def find_paths(text: str) -> list[str]:
    """Return what reads like the path of a file, in order, each once."""
    hits = [*_PATH.finditer(text), *_BARE_FILES.finditer(text)]
    return list(dict.fromkeys(hit[0] for hit in sorted(hits, key=lambda hit: hit.start())))


def find_file_names(text: str) -> set[str]:
    """Return what may be the name of a file, whatever its extension."""
    return set(_FILE_NAME.findall(text))


def contains_code(text: str) -> bool:
    """Tell whether something in a text is written as code: a name, a path, an option."""
    return _CODE.search(text) is not None
