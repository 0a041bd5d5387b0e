"""Programs that search: grep, rg, fd."""

from __future__ import annotations

from ragforge.brain.files.exclusions import VERSION_CONTROL
from ragforge.domain.text import split_words
from ragforge.tools.command.options import (
    GivenOption,
    ListedProgram,
    Parsed,
    ProgramRules,
    amount,
    check_paths,
    flags,
    instead,
    matching,
    maybe,
    number,
    one_of,
    path,
    take_pattern_then_paths,
    takes,
    text,
    when,
)
from ragforge.tools.command.paths import WorkingDirectory, check_walks
from ragforge.tools.command.plan import Walk

_GREP_OPTIONS = (
    flags(
        "-a -b -c -E -F -G -h -H -i -I -l -L -n -o -P -q -r -s -T -U -v -w -x -y -z -Z "
        "--basic-regexp --byte-offset --count --extended-regexp --files-with-matches "
        "--files-without-match --fixed-strings --ignore-case --no-ignore-case --initial-tab "
        "--invert-match --line-buffered --line-number --line-regexp --no-filename --no-messages "
        "--null --null-data --only-matching --perl-regexp --quiet --recursive --silent --text "
        "--with-filename --word-regexp --binary"
    )
    # -R follows links, which may lead out of the project; -r does not.
    | instead("-r", "-R --dereference-recursive")
    | takes(text, "-e --regexp --include --exclude --exclude-dir --label")
    | takes(path, "-f --file --exclude-from")
    | takes(number, "-A -B -C -m --after-context --before-context --context --max-count")
    | takes(one_of("binary", "text", "without-match"), "--binary-files")
    | takes(one_of("skip", "recurse", "read"), "-d --directories")
    | takes(one_of("skip"), "-D --devices")
    | maybe(when, "--color --colour")
)
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


_type = matching(r"[A-Za-z0-9_+-]{1,30}", "a file type")

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


_fd = ProgramRules(
    flags(
        "-0 -1 -a -F -g -H -i -I -p -q -s -u --absolute-path --case-sensitive --fixed-strings "
        "--full-path --glob --hidden --ignore-case --no-ignore --no-ignore-vcs --no-ignore-parent "
        "--one-file-system --print0 --prune --quiet --regex --unrestricted --strip-cwd-prefix"
    )
    | takes(number, "-d -j --exact-depth --max-depth --max-results --min-depth --threads")
    | takes(one_of(*split_words("f file d directory l symlink x executable e empty")), "-t --type")
    | takes(
        text,
        "-e -E -S --and --changed-before --changed-within --exclude --extension --size "
        "--path-separator",
    )
    | takes(path, "--search-path")
    | takes(when, "-c --color"),
    _take_fd_operands,
)

PROGRAMS: dict[str, ListedProgram] = {
    "grep": ProgramRules(_GREP_OPTIONS, _take_grep_operands, counts=True),
    "egrep": ProgramRules(_GREP_OPTIONS, _take_grep_operands, counts=True, run_as=("grep", "-E")),
    "fgrep": ProgramRules(_GREP_OPTIONS, _take_grep_operands, counts=True, run_as=("grep", "-F")),
    "rg": ProgramRules(
        flags(
            "-. -0 -a -b -c -F -h -H -i -I -l -n -N -o -p -P -q -s -S -u -U -v -w -x "
            "--auto-hybrid-regex --binary --block-buffered --byte-offset --case-sensitive "
            "--column --count --count-matches --crlf --files --files-with-matches "
            "--files-without-match --fixed-strings --glob-case-insensitive --heading --hidden "
            "--ignore-case --include-zero --invert-match --json --line-buffered --line-number "
            "--line-regexp --max-columns-preview --multiline --multiline-dotall --no-config "
            "--no-filename --no-follow --no-heading --no-hidden --no-ignore --no-ignore-dot "
            "--no-ignore-exclude --no-ignore-files --no-ignore-global --no-ignore-messages "
            "--no-ignore-parent --no-ignore-vcs --no-json --no-line-number --no-messages "
            "--no-mmap --no-pcre2-unicode --no-require-git --no-unicode --null --null-data "
            "--one-file-system --only-matching --passthru --pcre2 --pretty --quiet --smart-case "
            "--stats --text --trim --type-list --unrestricted --vimgrep --with-filename "
            "--word-regexp --no-column --no-stats"
        )
        | takes(
            text,
            "-e -g -r --regexp --glob --iglob --replace --type-add --type-clear "
            "--context-separator --field-match-separator --field-context-separator "
            "--path-separator --colors",
        )
        | takes(path, "-f --file --ignore-file")
        | takes(
            number,
            "-A -B -C -d -j -m -M --after-context --before-context --context "
            "--max-count --max-columns --max-depth --maxdepth --threads",
        )
        | takes(amount, "--max-filesize --regex-size-limit --dfa-size-limit")
        | takes(_type, "-t -T --type --type-not")
        | takes(one_of("none", "path", "modified", "accessed", "created"), "--sort --sortr")
        | takes(one_of("default", "pcre2", "auto"), "--engine")
        | takes(one_of("always", "never", "auto", "ansi"), "--color")
        | takes(matching(r"[A-Za-z0-9_-]{1,20}", "an encoding"), "-E --encoding"),
        _take_rg_operands,
        run_as=("rg", "--no-config"),
    ),
    "fd": _fd,
    "fdfind": _fd,
}
