"""Programs that search: grep, rg, fd."""

from __future__ import annotations

from ragforge.brain.files.exclusions import VERSION_CONTROL
from ragforge.domain.text import split_words
from ragforge.tools.command.options import (
    GivenOption,
    Kind,
    Parsed,
    check_paths,
    matching,
    take_pattern_then_paths,
)
from ragforge.tools.command.paths import WorkingDirectory, check_walks
from ragforge.tools.command.plan import Walk

_GIVES_PATTERN = ("-e", "--regexp", "-f", "--file")
_take_pattern_then_paths = take_pattern_then_paths(*_GIVES_PATTERN)
_RECURSIVE = split_words("-r -R --recursive --dereference-recursive")


def _take_grep_operands(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take a pattern and paths; where directories are walked, secrets are left out.

    The last option that fits a file decides, so that --include cannot bring one back.
    """
    found = _take_pattern_then_paths(place, parsed)
    in_words = {word for given in parsed.options for word in given.words}
    if parsed.has(*_RECURSIVE) or not in_words.isdisjoint(("recurse", "--directories=recurse")):
        parsed.walk = Walk(_check_folders(place, parsed, found), "--exclude=")
        left_out = [f"--exclude-dir={name}" for name in sorted(VERSION_CONTROL)]
        parsed.options += [GivenOption(word, (word,)) for word in left_out]
    return found


def _check_folders(place: WorkingDirectory, parsed: Parsed, found: list[str]) -> tuple[str, ...]:
    """Return the directories that are walked: those given, or the current one."""
    names = found if parsed.has(*_GIVES_PATTERN) else found[1:]
    return check_walks(place, names or ["."])


# With these options ripgrep sees some hidden or ignored files, or perhaps all.
_SHOWS_MORE = split_words(
    "-. --hidden --no-ignore --no-ignore-dot --no-ignore-exclude --no-ignore-files "
    "--no-ignore-global --no-ignore-parent --no-ignore-vcs --no-require-git"
)
_SHOWS_ALL = split_words("-u --unrestricted -g --glob --iglob -t --type")


def _take_rg_operands(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take a pattern and paths; with --files only paths, with --type-list nothing.

    An ignore file may be a link to another file, whose lines ripgrep would print where they are
    not patterns; secrets are left out.
    """
    parsed.options.append(GivenOption("--no-ignore-messages", ("--no-ignore-messages",)))
    if parsed.has("--files", "--type-list"):
        return check_paths(place, parsed.operands)
    found = _take_pattern_then_paths(place, parsed)
    folders = _check_folders(place, parsed, found)
    given = {option.name for option in parsed.options}
    seen = sorted(given & _SHOWS_MORE) if given.isdisjoint(_SHOWS_ALL) else ["-uuu"]
    parsed.walk = Walk(folders, "--iglob=!", seen=tuple(seen))
    for name in sorted(VERSION_CONTROL):  # these globs count after all others
        parsed.options.append(GivenOption("--iglob", (f"--iglob=!{name}",)))
    return found


def _take_fd_operands(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take an optional pattern, then paths."""
    words = parsed.operands
    return [words[0].text, *check_paths(place, words[1:])] if words else []


KINDS: dict[str, Kind] = {
    "file_type": matching(r"[A-Za-z0-9_+-]{1,30}", "a file type"),
    "encoding": matching(r"[A-Za-z0-9_-]{1,20}", "an encoding"),
}
OPERANDS = {"grep": _take_grep_operands, "rg": _take_rg_operands, "fd": _take_fd_operands}
