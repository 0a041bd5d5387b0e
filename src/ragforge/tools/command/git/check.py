"""git in a line: the options before the sub-command, and which repository it sees."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace

from ragforge.domain.text import split_words
from ragforge.tools.command.git.subcommands import load_subcommands
from ragforge.tools.command.options import Parsed, read_options
from ragforge.tools.command.paths import (
    WorkingDirectory,
    check_path,
    expand_pattern,
    holds_secrets,
    quote_short,
    resolve_directory,
)
from ragforge.tools.command.plan import GitContent, NotAllowed, Stage, Word

_GLOBAL = split_words(
    "--no-pager -P --no-optional-locks --literal-pathspecs --glob-pathspecs --noglob-pathspecs "
    "--icase-pathspecs --no-replace-objects"
)
# The only settings a line may bring along: how names and colours are shown.
_SETTINGS = re.compile(
    r"(color\.(ui|branch|diff|grep|status)=(always|never|auto|true|false)"
    r"|core\.quote[pP]ath=(on|off|true|false)|core\.pager=cat)"
)

_SHOWS_LINES = ("grep", "blame", "annotate")
_SHOWS_CONTENT = split_words("show diff diff-tree diff-index diff-files cat-file")
_SHOWS_COMMITS = ("log", "whatchanged", "stash list", "stash show", "reflog", "reflog show")
_PATCH = split_words(
    "-p -u -U -c --cc -W --patch --patch-with-raw --patch-with-stat --unified --binary --check "
    "--word-diff --color-words"
)
_DESPITE_ATTRIBUTES = ("-a", "--text", "--binary")
_DESCRIBES = split_words(
    "-e -s -t --stat --name-only --name-status --numstat --shortstat --summary"
)
IS_COMMIT = re.compile(r"(?:HEAD|@)(?:[~^]\d*)*")
"""Other words may name a file or a directory: with a path, or by the id of an object."""
_LEFT_OUT = (":!", ":^", ":(exclude")
# What `git submodule status` shows, from the index: submodules themselves are not entered.
_SUBMODULES = Stage("sed", ("-n", "--", r"s/^160000 \([0-9a-f]*\) [0-9]\t/ \1 /p"), "")


def plan_git(place: WorkingDirectory, words: Sequence[Word]) -> list[Stage]:
    """Return the programs that a git command runs. Raises NotAllowed."""
    place, before, rest = _read_global(place, words)
    texts = [word.text for word in rest]
    if texts[:1] == ["submodule"]:
        if texts[1:] not in ([], ["status"], ["status", "--cached"]):
            raise NotAllowed("of git submodule only status is allowed")
        _check_repository(place)
        listing = Stage("git", (*before, "ls-files", "--stage"), place.cwd, git="ls-files")
        return [listing, replace(_SUBMODULES, cwd=place.cwd)]
    return [_read_subcommand(place, before, rest)]


def _read_global(
    place: WorkingDirectory, words: Sequence[Word]
) -> tuple[WorkingDirectory, list[str], list[Word]]:
    """Return where git runs, its options before the sub-command, and the rest."""
    before: list[str] = []
    remaining = list(reversed(words))
    while remaining and remaining[-1].text.startswith("-"):
        word = remaining.pop().text
        if word == "--version" and not remaining:
            return place, [], [Word("version")]
        if word in _GLOBAL:
            before.append(word)
        elif word == "-C" and remaining:
            place = replace(place, cwd=resolve_directory(place, remaining.pop().text))
        elif word == "-c" and remaining:
            before += ["-c", _check_setting(remaining.pop().text)]
        else:
            raise NotAllowed(f"the option {quote_short(word)} of git is not on the list")
    if not remaining:
        raise NotAllowed("git without a sub-command is not allowed")
    return place, before, list(reversed(remaining))


def _read_subcommand(place: WorkingDirectory, before: Sequence[str], words: list[Word]) -> Stage:
    """Return git with a sub-command and all arguments."""
    name, rest = _split_subcommand(words)
    if name != "version":
        _check_repository(place)
    program = load_subcommands()[name]
    parsed = read_options(program, place, rest)
    operands = program.operands(place, parsed)
    shows = _read_content(place, name, before, parsed) if _shows_content(name, parsed) else None
    always = program.run_as or ()
    arguments = (*before, *name.split(), *always, *parsed.option_words(), *operands)
    return Stage("git", arguments, place.cwd, git=name, shows=shows)


def _shows_content(name: str, parsed: Parsed) -> bool:
    """Tell whether lines of files are shown, and not only their names or commits."""
    if name in _SHOWS_LINES:
        return True
    if name in _SHOWS_CONTENT:
        is_patch = parsed.has("-L", *_PATCH) or not parsed.has(*_DESCRIBES)
        return is_patch or _names_object(name, parsed)
    if name == "status":
        return parsed.has("-v", "--verbose")
    has_lines = parsed.has("-L") and not parsed.has("-s", "--no-patch")
    return name in _SHOWS_COMMITS and (has_lines or parsed.has(*_PATCH))


def _names_object(name: str, parsed: Parsed) -> bool:
    """Tell whether `git show` may be given a file of a revision, which it shows in any case."""
    return name == "show" and not all(IS_COMMIT.fullmatch(word.text) for word in parsed.before)


def _read_content(
    place: WorkingDirectory, name: str, before: Sequence[str], parsed: Parsed
) -> GitContent:
    """Return which contents are shown. Raises NotAllowed if secret files cannot be left out."""
    if name not in _SHOWS_LINES and parsed.has(*_DESPITE_ATTRIBUTES):
        raise NotAllowed("with -a, --text or --binary git would show files that may hold secrets")
    if name == "grep" and "--literal-pathspecs" in before:
        raise NotAllowed("with --literal-pathspecs git grep cannot leave out secret files")
    has_pattern = name != "grep" or parsed.has("-e", "-f")
    words = [word.text for word in parsed.before[0 if has_pattern else 1 :]]
    paths = [word.text for word in parsed.after or ()]
    is_described = parsed.has(*_DESCRIBES) and not parsed.has("-L", *_PATCH)
    named = [] if is_described and name == "show" else paths
    line_ranges = [given.words[-1] for given in parsed.options if given.name == "-L"]
    _check_named_files(place, [*words, *named, *line_ranges])
    flags = frozenset(given.name for given in parsed.options)
    return GitContent(tuple(words), tuple(paths), flags)


def _check_named_files(place: WorkingDirectory, operands: Sequence[str]) -> None:
    """Refuse a secret file that is named, as a path or after a revision: `HEAD:.env`."""
    folder = os.path.relpath(place.cwd, place.root.path)
    for operand in operands:
        path = operand.rpartition(":")[2].rpartition(")")[2]
        if operand.startswith(_LEFT_OUT) or not path:
            continue
        named = {path, os.path.join(folder, path)}
        if any(holds_secrets(os.path.normpath(name)) for name in named):
            raise NotAllowed(f"{quote_short(operand)} may hold secrets")
        _check_on_disk(place, operand, path)


def _check_on_disk(place: WorkingDirectory, operand: str, path: str) -> None:
    """Refuse a path or pattern if all files that it names are secret, as they are now."""
    matches = expand_pattern(place, Word(path, glob=path))
    files = [name for name in matches if os.path.isfile(os.path.join(place.cwd, name))]
    if files and all(_is_refused(place, name) for name in files):
        raise NotAllowed(f"{quote_short(operand)} may hold secrets")


def _is_refused(place: WorkingDirectory, name: str) -> bool:
    try:
        check_path(place, name)
    except NotAllowed:
        return True
    return False


def _split_subcommand(words: list[Word]) -> tuple[str, list[Word]]:
    known = load_subcommands()
    two = " ".join(word.text for word in words[:2])
    if two in known and len(words) > 1:
        return two, words[2:]
    if words[0].text in known:
        return words[0].text, words[1:]
    raise NotAllowed(f"git {words[0].text[:40]} is not on the list of what only inspects")


def _check_setting(text: str) -> str:
    if not _SETTINGS.fullmatch(text):
        raise NotAllowed(f"git -c {quote_short(text)} is not on the list")
    return text


def _check_repository(place: WorkingDirectory) -> None:
    """Refuse to run in a repository inside the project's: its configuration is not trusted."""
    folder = place.cwd
    while folder != place.root.path and place.root.holds(folder):
        is_bare = all(os.path.lexists(os.path.join(folder, n)) for n in ("HEAD", "objects", "refs"))
        if is_bare or os.path.lexists(os.path.join(folder, ".git")):
            raise NotAllowed("the directory belongs to another repository inside the project")
        folder = os.path.dirname(folder)
