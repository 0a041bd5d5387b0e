"""git in a line: the options before the sub-command, and which repository it sees."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace

from ragforge.domain.text import split_words
from ragforge.tools.command.git.subcommands import SUBCOMMANDS
from ragforge.tools.command.line import Word
from ragforge.tools.command.options import Parsed, read_options
from ragforge.tools.command.paths import WorkingDirectory, quote_short, resolve_directory
from ragforge.tools.command.plan import NotAllowed, Stage
from ragforge.tools.command.secrets import holds_secrets

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
_PATCH = split_words("-p -u -L -U -c --cc -W --patch --patch-with-raw --patch-with-stat --unified")
_DESCRIBES = split_words(
    "-e -s -t --stat --name-only --name-status --numstat --shortstat --summary"
)
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
    name, arguments = _read_subcommand(place, before, rest)
    return [Stage("git", tuple(arguments), place.cwd, git=name)]


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


def _read_subcommand(
    place: WorkingDirectory, before: Sequence[str], words: list[Word]
) -> tuple[str, list[str]]:
    """Return the sub-command and all arguments of git."""
    name, rest = _split_subcommand(words)
    if name != "version":
        _check_repository(place)
    program = SUBCOMMANDS[name]
    parsed = read_options(program, place, rest)
    operands = program.operands(place, parsed)
    if _shows_content(name, parsed):
        _check_named_files([*operands, *_list_line_ranges(parsed)])
    always = program.run_as or ()
    return name, [*before, *name.split(), *always, *parsed.option_words(), *operands]


def _shows_content(name: str, parsed: Parsed) -> bool:
    """Tell whether lines of files are shown, and not only their names or commits."""
    if name in _SHOWS_LINES:
        return True
    if name in _SHOWS_CONTENT:
        return parsed.has(*_PATCH) or not parsed.has(*_DESCRIBES)
    return name in _SHOWS_COMMITS and parsed.has(*_PATCH)


def _list_line_ranges(parsed: Parsed) -> list[str]:
    return [given.words[-1] for given in parsed.options if given.name == "-L"]


def _check_named_files(operands: Sequence[str]) -> None:
    """Refuse a secret file that is named, as a path or after a revision: `HEAD:.env`."""
    for operand in operands:
        path = operand.rpartition(":")[2].rpartition(")")[2]
        if not operand.startswith(_LEFT_OUT) and holds_secrets(os.path.normpath(path)):
            raise NotAllowed(f"{quote_short(operand)} may hold secrets")


def _split_subcommand(words: list[Word]) -> tuple[str, list[Word]]:
    two = " ".join(word.text for word in words[:2])
    if two in SUBCOMMANDS and len(words) > 1:
        return two, words[2:]
    if words[0].text in SUBCOMMANDS:
        return words[0].text, words[1:]
    raise NotAllowed(f"git {words[0].text[:40]} is not on the list of what only inspects")


def _check_setting(text: str) -> str:
    if not _SETTINGS.fullmatch(text):
        raise NotAllowed(f"git -c {quote_short(text)} is not on the list")
    return text


def _check_repository(place: WorkingDirectory) -> None:
    """Refuse to run in a repository inside the project's: its configuration is a stranger's."""
    folder = place.cwd
    while folder != place.root.path and place.root.holds(folder):
        is_bare = all(os.path.lexists(os.path.join(folder, n)) for n in ("HEAD", "objects", "refs"))
        if is_bare or os.path.lexists(os.path.join(folder, ".git")):
            raise NotAllowed("the directory belongs to another repository inside the project")
        folder = os.path.dirname(folder)
