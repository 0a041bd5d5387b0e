"""Sub-commands of git that are on the list."""

from __future__ import annotations

from collections.abc import Mapping

from ragforge.domain.text import split_words
from ragforge.tools.command.git.options import (
    DIFF,
    FORMAT,
    REVISIONS,
    check_pathspecs,
    check_revision_or_path,
    column_options,
    file_format,
    group,
    ref_format,
    similarity,
    sort_key,
    take_revisions,
    take_revisions_and_paths,
)
from ragforge.tools.command.options import (
    Operands,
    Option,
    Options,
    Parsed,
    ProgramRules,
    flags,
    layout,
    matching,
    maybe,
    number,
    one_of,
    path,
    take_no_operands,
    takes,
    text,
    when,
)
from ragforge.tools.command.paths import WorkingDirectory, is_directory, quote_short
from ragforge.tools.command.plan import NotAllowed

_NO_PROGRAMS = ("--no-ext-diff", "--no-textconv")
_NO_SUBMODULES = ("--ignore-submodules=all",)


def _define(
    options: Options, operands: Operands, *always: str, counts: bool = False
) -> ProgramRules:
    return ProgramRules(options, operands, counts=counts, run_as=always, dashes=False)


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

_LOG = FORMAT | DIFF | REVISIONS
_WITH_COMMIT = "--contains --no-contains --merged --no-merged --points-at"
_commit = matching(r"[^-].*", "a commit")
_REFS = (
    takes(ref_format, "--format")
    | takes(sort_key, "--sort")
    | {name: Option(_commit, default="HEAD") for name in _WITH_COMMIT.split()}
    | maybe(when, "--color")
    | flags("--no-color --ignore-case -i --omit-empty")
    | maybe(column_options, "--column")
    | flags("--no-column")
)
_blame_options = (
    flags(
        "-b -c -e -f -k -l -n -p -s -t -w --show-email --show-name --show-number --show-stats "
        "--root --porcelain --line-porcelain --incremental --first-parent --reverse "
        "--color-lines --color-by-age --minimal --score-debug --progress --no-progress"
    )
    | takes(text, "-L --since --ignore-rev")
    | takes(layout, "--date")
    | maybe(number, "-M -C --abbrev")
)

SUBCOMMANDS: Mapping[str, ProgramRules] = {
    "log": _define(_LOG, take_revisions_and_paths, *_NO_PROGRAMS, counts=True),
    "whatchanged": _define(_LOG, take_revisions_and_paths, *_NO_PROGRAMS, counts=True),
    "show": _define(_LOG, take_revisions_and_paths, *_NO_PROGRAMS, counts=True),
    "diff": _define(
        DIFF
        | flags(
            "-0 -1 -2 -3 -c -q --base --cached --cc --merge-base --no-index --ours --staged "
            "--theirs"
        )
        | maybe(number, "--abbrev"),
        _diff,
        *_NO_PROGRAMS,
        *_NO_SUBMODULES,
    ),
    "diff-tree": _define(
        FORMAT | DIFF | flags("--root -m -c --cc -v --no-commit-id --merge-base"),
        take_revisions_and_paths,
        *_NO_PROGRAMS,
        counts=True,
    ),
    "diff-index": _define(
        DIFF | flags("--cached -m --merge-base"),
        take_revisions_and_paths,
        *_NO_PROGRAMS,
        *_NO_SUBMODULES,
    ),
    "diff-files": _define(DIFF, take_revisions_and_paths, *_NO_PROGRAMS, *_NO_SUBMODULES),
    "status": _define(
        flags(
            "-s -b -v -z --short --branch --no-branch --show-stash --long --verbose "
            "--no-ahead-behind --ahead-behind --renames --no-renames --no-column"
        )
        | maybe(one_of("1", "2", "v1", "v2"), "--porcelain")
        | maybe(one_of("no", "normal", "all"), "-u --untracked-files")
        | maybe(one_of("traditional", "no", "matching"), "--ignored")
        | maybe(similarity, "--find-renames")
        | maybe(column_options, "--column")
        | maybe(one_of("all"), "--ignore-submodules"),
        take_revisions_and_paths,
        *_NO_SUBMODULES,
    ),
    "grep": _define(
        flags(
            "-a -c -E -F -G -h -H -i -I -l -L -n -o -p -P -q -r -v -w -W -z "
            "--all-match --and --or --not --basic-regexp --break --cached --column --count "
            "--exclude-standard --extended-regexp --files-with-matches "
            "--files-without-match --fixed-strings --full-name --function-context --heading "
            "--ignore-case --invert-match --line-number --name-only --no-color --null "
            "--only-matching --perl-regexp --quiet --recursive --no-recursive --show-function "
            "--text --untracked --word-regexp --no-textconv --no-line-number --no-column"
        )
        | takes(text, "-e")
        | takes(path, "-f")
        | takes(
            number,
            "-A -B -C -m --after-context --before-context --context --max-depth "
            "--max-count --threads",
        )
        | maybe(when, "--color"),
        _take_grep,
        "--no-textconv",
        "--no-recurse-submodules",
        counts=True,
    ),
    "blame": _define(_blame_options, take_revisions_and_paths),
    "annotate": _define(_blame_options, take_revisions_and_paths),
    "ls-files": _define(
        flags(
            "-c -d -i -k -m -o -s -t -u -v -z --cached --deleted --ignored --killed --modified "
            "--others --stage --unmerged --directory --no-empty-directory --eol --error-unmatch "
            "--exclude-standard --full-name --deduplicate --debug --resolve-undo --sparse"
        )
        | takes(text, "-x --exclude --with-tree")
        | takes(file_format, "--format")
        | takes(path, "-X --exclude-from")
        | maybe(number, "--abbrev"),
        take_revisions_and_paths,
    ),
    "ls-tree": _define(
        flags(
            "-d -l -r -t -z --long --name-only --name-status --object-only --full-name --full-tree"
        )
        | takes(file_format, "--format")
        | maybe(number, "--abbrev"),
        take_revisions_and_paths,
    ),
    "rev-parse": _define(
        flags(
            "-q --quiet --verify --show-toplevel --show-prefix --show-cdup --git-dir "
            "--absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir "
            "--is-bare-repository --is-shallow-repository --symbolic --symbolic-full-name --all "
            "--not --revs-only --no-revs --flags --no-flags --show-superproject-working-tree "
            "--shared-index-path --sq"
        )
        | maybe(number, "--short")
        | maybe(one_of("strict", "loose"), "--abbrev-ref")
        | maybe(text, "--branches --tags --remotes --show-object-format")
        | takes(text, "--default --since --until --after --before --prefix --glob --exclude")
        | takes(one_of("absolute", "relative"), "--path-format"),
        take_revisions_and_paths,
    ),
    "rev-list": _define(
        FORMAT
        | REVISIONS
        | flags(
            "--count --objects --no-object-names --object-names --header --quiet --disk-usage "
            "--no-commit-header --commit-header"
        ),
        take_revisions_and_paths,
        counts=True,
    ),
    "shortlog": _define(
        FORMAT
        | REVISIONS
        | flags("-s -n -e -c --summary --numbered --email --committer")
        | maybe(matching(r"[\d,]{1,20}", "widths"), "-w")
        | takes(group, "--group"),
        _take_shortlog,
        counts=True,
    ),
    "branch": _define(
        _REFS
        | flags("-a -l -r -v --all --list --remotes --verbose --show-current --no-abbrev -q")
        | maybe(number, "--abbrev"),
        _take_branches,
    ),
    "tag": _define(_REFS | flags("-l --list") | maybe(number, "-n"), _take_patterns, "--list"),
    "remote": _define(flags("-v --verbose"), take_no_operands),
    "remote get-url": _define(flags("--all --push"), _take_one),
    "describe": _define(
        flags("--all --tags --contains --exact-match --long --always --first-parent --debug")
        | takes(number, "--candidates")
        | maybe(number, "--abbrev")
        | takes(text, "--match --exclude")
        | maybe(text, "--dirty --broken"),
        take_revisions,
    ),
    "cat-file": _define(flags("-e -p -s -t"), take_revisions),
    "name-rev": _define(
        flags("--tags --all --name-only --always --no-undefined --undefined")
        | takes(text, "--refs --exclude"),
        take_revisions,
    ),
    "merge-base": _define(
        flags("-a --all --octopus --independent --is-ancestor --fork-point"), take_revisions
    ),
    "cherry": _define(flags("-v") | maybe(number, "--abbrev"), take_revisions),
    "show-ref": _define(
        flags("-d -q -s --head --heads --tags --verify --dereference --quiet --branches")
        | maybe(number, "--hash --abbrev"),
        take_revisions,
    ),
    "show-branch": _define(
        flags(
            "-a -r --all --remotes --current --topo-order --date-order --sparse --list "
            "--merge-base --independent --sha1-name --no-name --no-color"
        )
        | maybe(number, "--more"),
        take_revisions,
    ),
    "for-each-ref": _define(
        _REFS | takes(number, "--count") | takes(text, "--exclude"), take_revisions
    ),
    "symbolic-ref": _define(flags("-q --quiet --short"), _take_one),
    "count-objects": _define(flags("-v -H --verbose --human-readable"), take_no_operands),
    "check-ignore": _define(
        flags("-q -v -z -n --quiet --verbose --non-matching --no-index"), take_revisions_and_paths
    ),
    "check-attr": _define(flags("-a -z --all --cached"), take_revisions_and_paths),
    "stash list": _define(_LOG, take_revisions_and_paths, *_NO_PROGRAMS, counts=True),
    "stash show": _define(
        DIFF | flags("--include-untracked --only-untracked"), _take_stash, *_NO_PROGRAMS
    ),
    "reflog": _define(_LOG, _take_reflog, "show", *_NO_PROGRAMS, counts=True),
    "reflog show": _define(_LOG, take_revisions_and_paths, *_NO_PROGRAMS, counts=True),
    "worktree list": _define(flags("-v -z --verbose --porcelain"), take_no_operands),
    "config": _define(
        flags(
            "-l --list --name-only --get --get-all --local --bool --int --null -z --show-origin "
            "--show-scope"
        )
        | takes(one_of("bool", "int", "path", "bool-or-int"), "--type"),
        _take_config,
    ),
    "version": _define(flags("--build-options"), take_no_operands),
}
"""What each takes; `run_as` holds the options that it is always given."""
