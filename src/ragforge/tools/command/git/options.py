"""Options that several sub-commands of git share, and what their operands may be."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace

from ragforge.tools.command.options import (
    Options,
    Parsed,
    flags,
    layout,
    matching,
    maybe,
    number,
    one_of,
    pathspec_text,
    takes,
    text,
    when,
)
from ragforge.tools.command.paths import WorkingDirectory, check_path, quote_short
from ragforge.tools.command.plan import NotAllowed, Word

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

similarity = matching(r"\d{1,3}%?", "a percentage")
column_options = matching(r"[a-z,=]{0,40}", "a list of column options")

_MERGES = ("off", "none", "on", "m", "first-parent", "1", "separate", "combined", "c", "cc")

FORMAT: Options = (
    flags("--oneline --abbrev-commit --no-abbrev-commit --no-decorate --relative-date --no-notes")
    | maybe(commit_format, "--format --pretty")
    | takes(layout, "--date")
    | takes(matching(r"[A-Za-z0-9._:-]{1,40}", "an encoding"), "--encoding")
    | maybe(one_of("short", "full", "auto", "no"), "--decorate")
    | takes(text, "--decorate-refs --decorate-refs-exclude")
    | maybe(number, "--abbrev")
    | flags("--no-abbrev --show-notes --source --log-size --clear-decorations")
)

DIFF: Options = (
    flags(
        "-p -u -s -z -w -b -a -R -W -r -t -D "
        "--patch --no-patch --raw --patch-with-raw --numstat --shortstat --summary --name-only "
        "--name-status --patch-with-stat --compact-summary --minimal --patience --histogram "
        "--no-color --no-renames --rename-empty --no-rename-empty --full-index --binary "
        "--find-copies-harder --irreversible-delete --pickaxe-all --pickaxe-regex --text "
        "--ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --ignore-all-space "
        "--ignore-blank-lines --function-context --exit-code --quiet --no-ext-diff --no-textconv "
        "--no-prefix --default-prefix --no-relative --check --indent-heuristic "
        "--no-indent-heuristic --no-color-moved --cumulative"
    )
    | maybe(matching(r"[\d,]{1,30}", "widths"), "--stat")
    | takes(number, "-l --stat-width --stat-name-width --stat-count --stat-graph-width")
    | takes(number, "--inter-hunk-context")
    | maybe(number, "-U --unified")
    | maybe(similarity, "-M -C -B --find-renames --find-copies --break-rewrites")
    | takes(matching(r"[A-Za-z*]{1,12}", "a list of states"), "--diff-filter")
    | takes(text, "-S -G -I --ignore-matching-lines --src-prefix --dst-prefix --line-prefix")
    | takes(one_of("myers", "minimal", "patience", "histogram", "default"), "--diff-algorithm")
    | takes(text, "--anchored --ws-error-highlight")
    | maybe(when, "--color")
    | maybe(text, "--word-diff --color-words --color-moved")
    | takes(text, "--word-diff-regex")
    | maybe(matching(r"[a-z0-9,.]{1,60}", "a list"), "-X --dirstat")
    | maybe(pathspec_text, "--relative")
    | maybe(one_of("all"), "--ignore-submodules")
)

REVISIONS: Options = (
    flags(
        "-i -E -F -P -g -c -m "
        "--all --branches --tags --remotes --not --merges --no-merges --first-parent --reverse "
        "--topo-order --date-order --author-date-order --left-right --left-only --right-only "
        "--cherry --cherry-mark --cherry-pick --boundary --simplify-by-decoration "
        "--simplify-merges --full-history --dense --sparse --show-pulls --ancestry-path "
        "--walk-reflogs --reflog --children --parents --all-match --invert-grep "
        "--regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --basic-regexp "
        "--remove-empty --graph --no-graph --follow --cc --merge --no-min-parents "
        "--no-max-parents --ignore-missing --timestamp --full-diff --no-walk --do-walk "
        "--combined-all-paths --exclude-first-parent-only --in-commit-order --linear "
        "--no-diff-merges --mailmap --use-mailmap --no-mailmap --no-use-mailmap "
        "--show-linear-break"
    )
    | takes(number, "-n --max-count --skip --min-parents --max-parents")
    | takes(text, "--since --after --until --before --since-as-filter --max-age --min-age")
    | takes(text, "--author --committer --grep --grep-reflog --exclude --glob")
    | takes(pathspec_text, "-L")
    # Not remerge: that writes objects.
    | takes(one_of(*_MERGES), "--diff-merges")
)
for _name in ("--branches", "--tags", "--remotes"):
    REVISIONS |= maybe(text, _name)


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
