"""git in a line: the options before the sub-command, and which repository it sees."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from ragforge.domain.text import split_words
from ragforge.tools.command import options
from ragforge.tools.command.options import (
    Kind,
    Operands,
    Parsed,
    ProgramRules,
    layout,
    matching,
    path,
    read_options,
    take_no_operands,
)
from ragforge.tools.command.paths import (
    WorkingDirectory,
    check_path,
    expand_pattern,
    holds_secrets,
    is_directory,
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


_NAMED = "oneline|short|medium|full|fuller|reference|email|mboxrd|raw"
_SIMPLE_VALUE = r"(?:[^()%]|%x[0-9a-fA-F]{2}|%n|%%){0,200}"
# Of a commit: not %G (signatures: gpg), not %(describe) (git again).
_OF_COMMIT = re.compile(
    r"%(?:[nm%]|x[0-9a-fA-F]{2}|C(?:red|green|blue|reset|\([\w ,#-]{1,60}\))"
    r"|[-+ ]?(?:[HhTtPpdDSesfbBN]|[ac][nNeElLdDrtiIsh]|g[dDnNeEs]"
    rf"|\((?:trailers|decorate)(?::{_SIMPLE_VALUE})?\))"
    r"|(?:>>|><|[<>])\|?\([ \d,a-z-]{1,30}\)|w\([\d, ]{0,30}\))"
)
_PERSON = r"(?:author|committer|tagger|creator)(?:name|email|date)?"
# Of a ref: not signature (gpg), not describe (git again).
_REF_FIELD = (
    rf"\*?(?:refname|object(?:type|size|name)?|deltabase|upstream|push|HEAD|symref|worktreepath"
    rf"|tree|parent|numparent|type|tag|{_PERSON}|subject|body|trailers|contents|raw|flag"
    rf"|ahead-behind|is-base)(?::{_SIMPLE_VALUE})?"
)
_OF_REF = re.compile(
    rf"%(?:%|[0-9a-fA-F]{{2}}|\((?:{_REF_FIELD}"
    rf"|(?:color|align|if)(?::{_SIMPLE_VALUE})?|then|else|end|rest)\))"
)
_SORT_KEY = re.compile(rf"-?(?:version:|v:)?(?:{_REF_FIELD})")
_OF_FILE = re.compile(
    r"%(?:%|n|x[0-9a-fA-F]{2}|\((?:objectmode|objecttype|objectname|objectsize(?::padded)?|stage"
    r"|eolinfo:index|eolinfo:worktree|eolattr|path)\))"
)
_GROUP = re.compile(r"author|committer|trailer:[\w-]{1,60}")


def commit_format(place: WorkingDirectory, word: Word) -> str:
    """The format of a commit, as in `git log --format=%h`."""
    if re.fullmatch(_NAMED, word.text):
        return word.text
    if word.text and "%" not in word.text and not word.text.startswith(("format:", "tformat:")):
        raise NotAllowed(f"{quote_short(word.text)} is not one of git's own formats")
    return _check(place, word, _OF_COMMIT)


def ref_format(place: WorkingDirectory, word: Word) -> str:
    """The format of a branch or tag, as in `git for-each-ref --format='%(refname)'`."""
    return _check(place, word, _OF_REF)


def file_format(place: WorkingDirectory, word: Word) -> str:
    """The format of a file, as in `git ls-files --format='%(path)'`."""
    return _check(place, word, _OF_FILE)


def sort_key(place: WorkingDirectory, word: Word) -> str:
    """What branches and tags are sorted by: a placeholder without its brackets."""
    if _SORT_KEY.fullmatch(word.text) is None:
        raise NotAllowed(f"git may not sort by {quote_short(word.text)}")
    return word.text


def group(place: WorkingDirectory, word: Word) -> str:
    """What `git shortlog` groups by."""
    return word.text if _GROUP.fullmatch(word.text) else _check(place, word, _OF_COMMIT)


def _check(place: WorkingDirectory, word: Word, placeholder: re.Pattern[str]) -> str:
    """Refuse a format in which a % is not the start of a placeholder on the list."""
    at = word.text.find("%")
    while at >= 0:
        found = placeholder.match(word.text, at)
        if found is None:
            shown = quote_short(word.text[at : at + 20])
            raise NotAllowed(f"the placeholder {shown} of a format is not on the list")
        at = word.text.find("%", found.end())
    return layout(place, word)


_MAGIC = re.compile(r":(\([^)]*\)|[!^/]+)?")


def take_revisions_and_paths(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take revisions and paths; git itself keeps paths inside the work tree."""
    if parsed.has("--not") and parsed.before:
        raise NotAllowed("--not before revisions is not allowed; write ^REVISION")
    before = [check_revision_or_path(place, word) for word in parsed.before]
    if parsed.after is None:
        return before
    return [*before, "--", *check_pathspecs(place, parsed.after)]


def take_revisions(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take revisions or names of refs."""
    return [check_revision_or_path(place, word) for word in parsed.operands]


def check_pathspecs(place: WorkingDirectory, words: Sequence[Word]) -> list[str]:
    """Return paths or patterns of paths."""
    return [_check_word(place, word.text) for word in words]


def check_revision_or_path(place: WorkingDirectory, word: Word) -> str:
    """Return a word that is a revision, or a path inside the project."""
    if word.text.startswith("-"):
        raise NotAllowed(f"{quote_short(word.text)} is not expected here")
    return _check_word(place, word.text)


def _check_word(place: WorkingDirectory, given: str) -> str:
    magic = _MAGIC.match(given)
    name = given[magic.end() :] if magic else given
    may_climb = name.startswith(("/", "~")) or ".." in name.split("/")
    if name and (may_climb or os.path.lexists(os.path.join(place.cwd, name))):
        check_path(replace(place, describes=True), name)  # what git shows is committed
    return given


def _take_grep(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take a pattern, unless an option gave it, then revisions and paths."""
    before = list(parsed.before)
    pattern: list[str] = []
    if not parsed.has("-e", "-f"):
        if not before:
            raise NotAllowed("a pattern is missing; one that starts with a dash needs -e")
        pattern = ["-e", before.pop(0).text]
    rest = [check_revision_or_path(place, word) for word in before]
    after = [] if parsed.after is None else ["--", *check_pathspecs(place, parsed.after)]
    return [*pattern, *rest, *after]


def _diff(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take revisions and paths; with --no-index two paths, which git would take from anywhere."""
    if not parsed.has("--no-index"):
        return take_revisions_and_paths(place, parsed)
    if len(parsed.operands) != 2:
        raise NotAllowed("--no-index needs two files")
    if any(is_directory(place, word.text) for word in parsed.operands):
        raise NotAllowed("--no-index is only allowed for files; use diff for directories")
    return ["--", *(path(place, word) for word in parsed.operands)]


def _take_patterns(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take patterns, but only with --list, which is always given: else they are created."""
    if not parsed.operands:
        return []
    if not parsed.has("-l", "--list"):
        name = quote_short(parsed.operands[0].text)
        raise NotAllowed(f"it would create {name}; with --list it is a pattern")
    return ["--", *take_revisions(place, parsed)]


def _take_branches(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    if parsed.has("--show-current"):
        return take_no_operands(place, parsed)
    return ["--list", *_take_patterns(place, parsed)]


def _take_one(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take one name; with a second one it would be changed."""
    if len(parsed.operands) != 1:
        raise NotAllowed("it needs exactly one name")
    return take_revisions(place, parsed)


def _take_shortlog(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take revisions; without one it would wait for a log on its input."""
    words = take_revisions_and_paths(place, parsed)
    has_start = parsed.before or parsed.has("--all", "--branches", "--tags", "--remotes", "--glob")
    return words if has_start else ["HEAD", *words]


def _take_stash(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take a stash; what we always give would make git forget that it shows a list of files."""
    return [*([] if parsed.options else ["--stat"]), *take_revisions(place, parsed)]


_REFLOG_OTHERS = split_words("expire delete exists drop list write prune")


def _take_reflog(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    if parsed.before and parsed.before[0].text in _REFLOG_OTHERS:
        raise NotAllowed("of git reflog only show is allowed")
    return take_revisions_and_paths(place, parsed)


def _take_config(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    """Take one name, which is asked for, however that is written; with a value it would be set.

    A list is that of the view, which has neither credentials nor settings that run programs.
    """
    names = parsed.operands
    if parsed.has("-l", "--list") or [word.text for word in names] == ["list"]:
        if len(names) > (0 if parsed.has("-l", "--list") else 1) or parsed.has(
            "--get", "--get-all"
        ):
            raise NotAllowed("git config --list takes no names")
        scope = [] if parsed.has("--local") else ["--local"]
        return scope if parsed.has("-l", "--list") else [*scope, "--list"]
    asked = parsed.has("--get", "--get-all")
    if not asked and len(names) == 2 and names[0].text == "get":
        del names[0]
    if len(names) != 1:
        raise NotAllowed("of git config only `git config --get NAME` is allowed")
    return [*([] if asked else ["--get"]), _config_key(place, names[0])]


_config_key = matching(
    r"(core|remote|branch|user|extensions|init)\.[\w./+-]{1,120}", "a setting that may be shown"
)

KINDS: Mapping[str, Kind] = {
    "text": options.text,
    "path": path,
    "layout": layout,
    "number": options.number,
    "when": options.when,
    "pathspec_text": options.pathspec_text,
    "commit_format": commit_format,
    "ref_format": ref_format,
    "file_format": file_format,
    "sort_key": sort_key,
    "group": group,
    "commit": matching(r"[^-].*", "a commit"),
    "similarity": matching(r"\d{1,3}%?", "a percentage"),
    "column_options": matching(r"[a-z,=]{0,40}", "a list of column options"),
    "encoding": matching(r"[A-Za-z0-9._:-]{1,40}", "an encoding"),
    "widths": matching(r"[\d,]{1,30}", "widths"),
    "short_widths": matching(r"[\d,]{1,20}", "widths"),
    "states": matching(r"[A-Za-z*]{1,12}", "a list of states"),
    "dirstat": matching(r"[a-z0-9,.]{1,60}", "a list"),
}
"""The kinds of values that `subcommands.toml` names."""
OPERANDS: Mapping[str, Operands] = {
    "nothing": take_no_operands,
    "revisions": take_revisions,
    "revisions_and_paths": take_revisions_and_paths,
    "one": _take_one,
    "patterns": _take_patterns,
    "branches": _take_branches,
    "grep": _take_grep,
    "diff": _diff,
    "shortlog": _take_shortlog,
    "stash": _take_stash,
    "reflog": _take_reflog,
    "config": _take_config,
}
"""What `subcommands.toml` says of operands."""


@cache
def load_subcommands() -> Mapping[str, ProgramRules]:
    """Return what each sub-command takes; `run_as` holds the options that it is always given."""
    return options.load_rules(Path(__file__).with_name("subcommands.toml"), KINDS, OPERANDS)
