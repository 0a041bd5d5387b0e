"""Ripgrep: the program that searches files, its command lines and its errors."""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Sequence

from ragforge.errors import BadPattern

# Rust's regular expressions have neither, and are safe for that; PCRE2 has a limit instead.
_BEYOND_RUST = re.compile(r"(?<!\\)(?:\\\\)*(?:\(\?(?:<?[=!]|>)|\\[1-9]|\\[kg]\W)")
_ERROR = re.compile(r"^(?:error|PCRE2): (.*)$", re.MULTILINE)
# One thread keeps the order of the files, and we run several processes. Whether a file is text
# is ours to decide, and so is which files are ignored: an ignore file may be a link that leads out
# of the project. A memory map of a file that shrinks would end the process.
_OPTIONS = ("--no-config", "--no-ignore", "--threads=1", "--text", "--no-mmap")


def find_ripgrep() -> str | None:
    """Return the path of `rg`: the one installed with RagForge, else that of the system."""
    folders = (os.path.dirname(sys.executable), sysconfig.get_path("scripts"))
    found = (shutil.which("rg", path=place) for place in folders)
    return next(filter(None, found), None) or shutil.which("rg")


def build_line_command(ripgrep: str, regex: str, ignore_case: bool) -> list[str]:
    """Return the command that prints matching lines as JSON; append the files to it."""
    case = "--ignore-case" if ignore_case else "--case-sensitive"
    engine = "pcre2" if _BEYOND_RUST.search(regex) else "default"
    return [ripgrep, *_OPTIONS, "--json", "--crlf", case, f"--engine={engine}", "-e", regex, "--"]


def build_word_command(ripgrep: str, regex: str) -> list[str]:
    """Return the command that prints every match in any case, one a line; append the files."""
    output = ("--only-matching", "--no-filename", "--no-line-number", "--no-heading")
    return [ripgrep, *_OPTIONS, *output, "--color=never", "--ignore-case", "-e", regex, "--"]


def build_count_command(ripgrep: str, regex: str) -> list[str]:
    """Return the command that prints every match below the path of its file; append the files."""
    output = ("--only-matching", "--with-filename", "--heading", "--no-line-number")
    return [ripgrep, *_OPTIONS, *output, "--color=never", "--ignore-case", "-e", regex, "--"]


def build_word_regex(words: Sequence[str]) -> str:
    """Return a regular expression that matches any of these words, and perhaps parts of others."""
    # Where a word ends is decided four times as fast if only ASCII letters count.
    plain = [re.escape(word) for word in words if word.isascii()]
    others = [re.escape(word) for word in words if not word.isascii()]
    bounded = [rf"(?-u:\b)(?:{'|'.join(plain)})(?-u:\b)"] if plain else []
    return "|".join([*bounded, *others])


def read_error(regex: str, stderr: str) -> BadPattern:
    """Return the error that ripgrep printed when it did not search at all."""
    found = _ERROR.search(stderr)
    lines = [line for line in stderr.splitlines() if line.strip()]
    why = found.group(1) if found else (lines[0] if lines else "ripgrep refuses it")
    return BadPattern("regex", regex, why.removeprefix("rg: ").rstrip("."))
