"""Lasting: which patterns a permanent yes to a command line is offered for."""

from __future__ import annotations

import re

# Whatever follows these words, they do their own work, or run the project's own code. A program
# that runs whatever its arguments name (`timeout`, `python`, `uv run`, `make`, …) is not here, nor
# is one with an option for that (`go test -exec`, `git fetch --upload-pack`).
_PROGRAMS = frozenset(
    (
        *("pytest", "ruff", "mypy", "pyright", "black", "isort", "flake8", "pylint"),
        *("tsc", "eslint", "prettier", "jest", "vitest", "gofmt", "rustfmt", "touch", "mkdir"),
    )
)
_VERBS = {
    "git": frozenset(
        (
            *("add", "branch", "checkout", "commit", "mv", "reset", "restore", "rm", "stash"),
            *("switch", "tag"),
        )
    ),
    "npm": frozenset(("ci", "test")),
    "pnpm": frozenset(("test",)),
    "yarn": frozenset(("test",)),
    "cargo": frozenset(("build", "check", "clippy", "doc", "fmt", "test")),
    "uv": frozenset(("lock", "sync")),
    "go": frozenset(("fmt",)),
}
_WORD = re.compile(r"[\w./:@%+=-]+")


def list_lasting_patterns(line: str) -> tuple[str, ...]:
    """Return what a permanent yes could be for: this very line, then all that begin like it.

    The second is only offered for programs of a list: what others would run cannot be foreseen.
    """
    words = line.split(" ")
    if not all(_WORD.fullmatch(word) for word in words):
        return (line,)
    if words[0] in _PROGRAMS:
        return (line, f"{words[0]} *")
    if len(words) > 1 and words[1] in _VERBS.get(words[0], ()):
        return (line, f"{words[0]} {words[1]} *")
    return (line,)
