"""Started: which programs a command line would run, as far as the shell's grammar shows.

This is for rules that forbid. So it reads more than a shell would run rather than less: each word
of a program that runs another one may be where that one begins.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
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
