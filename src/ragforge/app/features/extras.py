"""Extras: the command that adds an optional part, and what is missed without grammars."""

from __future__ import annotations

import importlib.util
import shlex
import shutil
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from ragforge.brain.files.exclusions import FileLimits
from ragforge.brain.files.walk import SkippedFile, walk
from ragforge.brain.languages.table import detect_language, lacks_grammar
from ragforge.child_python import python_command
from ragforge.domain.distribution import DISTRIBUTION, format_install_command
from ragforge.folders import find_project, is_project

LANGUAGES = "languages"
"""The extra with the grammars of languages that few projects use."""
RECEIPT = "uv-receipt.toml"


def find_installer() -> str:
    """Return the program that installed RagForge, as far as it can be seen."""
    prefix = Path(sys.prefix)
    if getattr(sys, "frozen", False):  # docs/install.md: without Python
        return "its archive"
    if (prefix / "pipx_metadata.json").exists():
        return "pipx"
    if (prefix / RECEIPT).exists():
        return "uv tool"
    return "uv" if not has_pip() and shutil.which("uv") else "pip"


def has_pip() -> bool:
    return importlib.util.find_spec("pip") is not None


def choose_install_command(extra: str) -> str:
    """Return the command that adds an extra, for the program that installed RagForge."""
    added = f"{DISTRIBUTION}[{extra}]"
    match find_installer():
        case "pipx":
            return shlex.join(("pipx", "inject", "--force", DISTRIBUTION, added))
        case "uv tool":  # forgets the extras that it is not given again
            extras = ",".join(sorted({*_read_extras(Path(sys.prefix, RECEIPT)), extra}))
            return shlex.join(("uv", "tool", "install", f"{DISTRIBUTION}[{extras}]"))
        case "uv":
            return shlex.join(("uv", "pip", "install", "--python", sys.executable, added))
    if sys.prefix == sys.base_prefix:
        return format_install_command(extra)
    return shlex.join(python_command("pip", "install", added))


def _read_extras(receipt: Path) -> set[str]:
    try:
        wanted = tomllib.loads(receipt.read_text("utf-8"))["tool"]["requirements"]
        [own] = [one for one in wanted if one["name"] == DISTRIBUTION]
        return set(own.get("extras", ()))
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def describe_missing_grammars(skipped: Iterable[SkippedFile]) -> str:
    """Return a sentence about files that were read as plain text; "" if there are none."""
    counts = Counter(detect_language(file.path) for file in skipped if file.reason == "no grammar")
    if not counts:
        return ""
    named = ", ".join(
        f"{count:,} {str(name).capitalize()} {'file' if count == 1 else 'files'}"
        for name, count in counts.most_common()
    )
    return (
        f"Read as plain text, without definitions and relations: {named}; "
        f"their grammars: {choose_install_command(LANGUAGES)}"
    )


def find_missing_grammars(cwd: Path) -> str:
    """Return the same sentence for the files of a project, without reading them."""
    folder = find_project(cwd.resolve())
    if not is_project(folder):
        return ""
    return describe_missing_grammars(
        SkippedFile(file.path, "no grammar")
        for file in walk(folder, FileLimits()).files
        if lacks_grammar(file.path)
    )
