"""Started: which programs a command line would run, as far as the shell's grammar shows.

This is for rules that forbid. So it reads more than a shell would run rather than less: each word
of a program that runs another one may be where that one begins.

In auto mode no one is asked about lines that do not run git for more than reading. A script can
hide git from this check; git's own folders are then read-only, so what was committed cannot be
lost.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ragforge.domain.text import split_words
from ragforge.tools.command.shell import load_parser

if TYPE_CHECKING:
    from tree_sitter import Node

DEEPEST = 5
"""How many levels of lines within lines are read, as in `sh -c 'sh -c …'`."""
MAX_WORDS = 1_000

Words: TypeAlias = tuple[str, ...]

_RUNNERS = split_words(
    """
    bash sh zsh fish dash ksh busybox su eval . source env sudo doas command builtin exec nohup nice
    ionice time timeout stdbuf setsid setarch chroot unshare flock script watch xargs parallel find
    fd ssh entr strace ltrace gdb bwrap docker podman kubectl nix nix-shell direnv mise asdf npx
    bunx uvx pipx npm pnpm yarn uv poetry pdm hatch rye bundle make just git
    """
)
_ASSIGNMENT = re.compile(r"\w+\+?=")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def list_programs(line: str, depth: int = 0) -> Iterator[Words]:
    """Yield the words of each program that a line would run; the first is the program's name."""
    if depth > DEEPEST:
        return
    source = line.replace("\\\n", "").encode(errors="replace")  # a continued line is one
    for node in _walk(load_parser().parse(source).root_node):
        if node.type == "command":
            yield from _list_of(_read_words(node), depth)


def matches_program(words: Words, wanted: Words, is_whole: bool) -> bool:
    """Tell whether a program is run as `wanted` says: `git -C . push -f` is run as `git push`.

    Options, each perhaps with a value, may come between the wanted words. With `is_whole`,
    nothing may follow them.
    """
    if not words or os.path.basename(words[0]) != os.path.basename(wanted[0]):
        return False
    options = {word for word in wanted[1:] if word.startswith("-")}
    if not options.issubset(words):
        return False
    at = 1
    for verb in (word for word in wanted[1:] if word not in options):
        while at < len(words) and words[at] != verb:
            if not words[at].startswith(("-", "+")) and not words[at - 1].startswith("-"):
                return False
            at += 1
        if at == len(words):
            return False
        at += 1
    return not is_whole or options.issuperset(words[at:])


def _list_of(words: Words, depth: int) -> Iterator[Words]:
    """Yield a program, and those that it may run itself."""
    while words and _ASSIGNMENT.match(words[0]):
        words = words[1:]
    if not words:
        return
    yield words
    if os.path.basename(words[0]) not in _RUNNERS:
        return
    for at in range(1, min(len(words), MAX_WORDS)):
        yield words[at:]
        if any(blank in words[at] for blank in " \t\n;|&"):
            yield from list_programs(words[at], depth + 1)


def _walk(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children)


def _read_words(command: Node) -> Words:
    """Return the words of a command without quotes and backslashes; an expansion stays as it is."""
    return tuple(_read_word(node) for node in command.children if node.type != "file_redirect")


def _read_word(node: Node) -> str:
    source = (node.text or b"").decode(errors="replace")
    if node.type in ("raw_string", "string", "ansi_c_string", "translated_string"):
        inner = source.lstrip("$")[1:-1]
        return inner if node.type == "raw_string" else _ESCAPED.sub(r"\1", inner)
    if node.type in ("command_name", "concatenation"):
        return "".join(map(_read_word, node.children))
    return _ESCAPED.sub(r"\1", source)


_READING = split_words(
    """
    annotate blame cat-file check-ignore cherry count-objects describe diff diff-files diff-index
    diff-tree for-each-ref grep help log ls-files ls-tree merge-base name-rev range-diff rev-list
    rev-parse shortlog show show-branch show-ref status var version whatchanged
    """
)
_WITH_VALUE = split_words("-C -c --git-dir --work-tree --namespace --config-env")
_HIDING = ("$", "`", "*", "?")
"""Signs in the name of a program that a shell would expand to another name."""


def may_lose_work(line: str) -> bool:
    """Tell whether a line runs git for more than reading, or hides which program it runs."""
    return any(_changes(words) for words in list_programs(line))


def _changes(words: Sequence[str]) -> bool:
    name = os.path.basename(words[0])
    if any(sign in words[0] for sign in _HIDING):
        return True
    if name.startswith("git-"):
        return name.removeprefix("git-") not in _READING
    return name == "git" and _find_verb(words[1:]) not in _READING


def _find_verb(words: Sequence[str]) -> str:
    """Return the sub-command; of options only, `version` as git does."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _WITH_VALUE else 1
    return words[at] if at < len(words) else "version"
