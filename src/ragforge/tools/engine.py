"""Engines: programs that look for a regular expression in the files they are given.

Both print what `rg --json` prints, files in the order they were given. The one in Python is
for machines without ripgrep, and reads Python's regular expressions instead of Rust's.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from ragforge.errors import BadPattern

# Rust's regular expressions have neither, and are safe for that; PCRE2 has a limit instead.
_BEYOND_RUST = re.compile(r"(?<!\\)(?:\\\\)*(?:\(\?(?:<?[=!]|>)|\\[1-9]|\\[kg]\W)")
_ERROR = re.compile(r"^(?:error|PCRE2): (.*)$", re.MULTILINE)


class Engine(Protocol):
    """How a search is started, and what its complaints mean."""

    def lines(self, regex: str, ignore_case: bool) -> list[str]:
        """Return the command that prints matching lines as JSON; files follow it."""

    def words(self, regex: str) -> list[str]:
        """Return the command that prints all that matches, in any case, one a line."""

    def any_of(self, words: Sequence[str]) -> str:
        """Return the regular expression of any of these words, and perhaps parts of others."""

    def complaint(self, regex: str, said: str) -> BadPattern:
        """Return the error that its last words mean, when it did not search at all."""


@dataclass(frozen=True, slots=True)
class Ripgrep:
    """The `rg` of a wheel, or of the system."""

    program: str

    def lines(self, regex: str, ignore_case: bool) -> list[str]:
        case = "--ignore-case" if ignore_case else "--case-sensitive"
        engine = "pcre2" if _BEYOND_RUST.search(regex) else "default"
        return [*self._start(), "--json", "--crlf", case, f"--engine={engine}", "-e", regex, "--"]

    def words(self, regex: str) -> list[str]:
        told = ["--only-matching", "--no-filename", "--no-line-number", "--no-heading"]
        return [*self._start(), *told, "--color=never", "--ignore-case", "-e", regex, "--"]

    def any_of(self, words: Sequence[str]) -> str:
        # Where a word ends is decided four times as fast if only ASCII letters count.
        plain = [re.escape(word) for word in words if word.isascii()]
        others = [re.escape(word) for word in words if not word.isascii()]
        bounded = [rf"(?-u:\b)(?:{'|'.join(plain)})(?-u:\b)"] if plain else []
        return "|".join([*bounded, *others])

    def _start(self) -> list[str]:
        # One thread: so the order is ours, and we run several. Whether a file is text is ours
        # to decide as well. A map of a file that shrinks would end the process.
        return [self.program, "--no-config", "--threads=1", "--text", "--no-mmap"]

    def complaint(self, regex: str, said: str) -> BadPattern:
        found = _ERROR.search(said)
        lines = [line for line in said.splitlines() if line.strip()]
        why = found.group(1) if found else (lines[0] if lines else "ripgrep refuses it")
        return BadPattern("regex", regex, why.removeprefix("rg: ").rstrip("."))


@dataclass(frozen=True, slots=True)
class InPython:
    """A program of our own; a pattern that takes for ever ends with its process."""

    def lines(self, regex: str, ignore_case: bool) -> list[str]:
        return [*self._start(), "lines", "i" if ignore_case else "s", regex]

    def words(self, regex: str) -> list[str]:
        return [*self._start(), "words", "i", regex]

    def any_of(self, words: Sequence[str]) -> str:
        return rf"\b(?:{'|'.join(map(re.escape, words))})\b"

    def _start(self) -> list[str]:
        # -P: it runs in the project, whose modules are not to be imported.
        return [sys.executable, "-P", "-m", "ragforge.tools.engine_worker"]

    def complaint(self, regex: str, said: str) -> BadPattern:
        return BadPattern("regex", regex, said.strip().rstrip(".") or "Python refuses it")


@lru_cache(maxsize=1)
def best_engine() -> Engine:
    """Return ripgrep where it is installed, else the one in Python."""
    name = "rg.exe" if os.name == "nt" else "rg"
    places = (os.path.dirname(sys.executable), sysconfig.get_path("scripts"))
    beside = (os.path.join(place, name) for place in places)
    program = next((path for path in beside if os.access(path, os.X_OK)), shutil.which("rg"))
    return Ripgrep(program) if program else InPython()
