"""An oracle for allowed lines that shares no code with the decider.

It reads the line with its own scanner and with `shlex`, and the plan word by word, against
lists of what must never be there.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

from ragforge.tools.command.plan import Allowed, Stage
from ragforge.tools.command.programs import VERSIONS


def _words(text: str) -> set[str]:
    return set(text.split())


PROGRAMS = _words(
    "[ strings type ls cat head tail wc grep egrep fgrep rg find fd fdfind sort uniq cut tr nl tac "
    "rev "
    "column paste join fold fmt expand unexpand comm md5sum sha1sum sha224sum sha256sum "
    "sha384sum sha512sum b2sum shasum cksum sum base64 xxd od hexdump echo printf seq true "
    "false stat du df tree file diff cmp basename dirname realpath readlink test pwd which "
    "command date uname whoami id nproc arch hostname sed awk jq python python3 node gcc make "
    "cmake git cd xargs"
)
VERSIONS = set(VERSIONS)  # of these, only the version may be asked
READERS = _words(
    "cat head tail wc nl tac rev uniq sort cut paste join fold fmt expand unexpand comm "
    "md5sum sha256sum cksum xxd od hexdump ls stat du tree file diff cmp realpath readlink"
)
NEVER = {
    "sort": r"-o.*|--o.*|-T.*|--t.*|--compress.*|--files0.*",
    "find": r"-exec.*|-ok.*|-delete|-fprint.*|-fls|-files0.*|-follow|-L|-H",
    "rg": r"--pre.*|--hostname.*|-z.*|--search-zip|-L|--follow",
    "fd": r"-x.*|-X.*|--exec.*|-L|--follow|-l|--list-details",
    "fdfind": r"-x.*|-X.*|--exec.*|-L|--follow|-l|--list-details",
    "tree": r"-o|-R|-l|--fromfile|--output.*",
    "tail": r"-f|-F|--f.*|--retry|--pid.*",
    "xxd": r"-r.*|-R.*",
    "file": r"-C|-m|-f|-z|-Z|--c.*|--f.*|--mag.*",
    "date": r"-s|--s.*|-f|--f.*",
    "sed": r"-i.*|--i.*|-f|--f.*",
    "awk": r"-f|--(?!version|help).+|-i|-e|-E|-W.*",
    "jq": r"-f|--from.*|-L.*|--rawfile|--slurpfile|--argfile",
    "grep": r"-R|--deref.*",
    "diff": r"-l|--pag.*|--to-file.*|--from-file.*",
    "which": r".*/.*",
    "uniq": r"--.+=.*/.*",
    "git": (
        r"-O.*|--open.*|--ext-diff|--textconv|--output.*|-o.+|--exec-path.*|--git-dir=.*|"
        r"--work-tree.*|--upload-pack.*|--receive-pack.*|-p.+|--paginate|--show-signature|"
        r"--remerge-diff|--recurse-submodules.*|--submodule.*|--filters|--batch.*|--stdin|"
        r"--contents.*|--edit.*|--global|--system|--unset.*|--add|--delete|--move|--force|"
        r"--config-env.*|--super-prefix.*"
    ),
}
GIT = _words(
    "log whatchanged show diff diff-tree diff-index diff-files status grep blame annotate "
    "ls-files ls-tree rev-parse rev-list shortlog branch tag remote describe cat-file "
    "name-rev merge-base cherry show-ref show-branch for-each-ref symbolic-ref count-objects "
    "check-ignore check-attr stash reflog worktree config version"
)
HARMLESS = re.compile(r"((?<!\S)2>&1|(?<![>&|<])[12&]?>\s*/dev/null)(?=$|[\s;|&>])")
INPUT = re.compile(r"(?<!\\)(?<!(?<!\\)<)<(?![<(>&])(?=\s*[^\s;|&<>()])")
LOOP = re.compile(r"\s*(cd \S+ &&\s*)*[^|&;'\"]*;?\s*for \w+ in ")
SED = re.compile(
    r"(?:[\s;}]*(?:(?:\d+(?:~\d+)?|\$|/(?:\\.|[^/\\\n])*/[IM]*|\\([^\w\s\\])(?:\\.|(?!\1)[^\\\n])*\1"
    r"[IM]*)\s*(?:,\s*(?:[+~]?\d+(?:~\d+)?|\$|/(?:\\.|[^/\\\n])*/[IM]*|"
    r"\\([^\w\s\\])(?:\\.|(?!\2)[^\\\n])*\2[IM]*))?)?\s*!*\s*"
    r"(?:\{|[=dDgGhHnNpPxzF]|[qQl]\s*\d*|s([^\w\s\\]|_)(?:\\.|(?!\3)[^\\\n])*\3(?:\\.|(?!\3)[^\\\n])*\3"
    r"[gpiImM\d]*|y([^\w\s\\]|_)(?:\\.|(?!\4)[^\\\n])*\4(?:\\.|(?!\4)[^\\\n])*\4)\s*(?=[;\n}{]|$|(?<=\{)))*"
    r"[\s;}]*"
)


def complaints(line: str, decision: Allowed, root: Path) -> list[str]:
    """Return everything that should not have been allowed."""
    found = _in_the_line(line)
    for step in decision.steps:
        if step.joint not in ("&&", "||", ";"):
            found.append(f"joint {step.joint}")
        for stage in step.stages:
            found += _in_the_stage(stage, root)
    return found


def _in_the_line(line: str) -> list[str]:
    rest = HARMLESS.sub(" ", line)
    rest = INPUT.sub(" ", rest)
    if LOOP.match(rest):  # written out, it is judged by what it runs
        return []
    return [*_unquoted(rest), *_names(rest)]


def _unquoted(line: str) -> list[str]:
    """Find what a shell would do something with."""
    found = []
    state = ""
    position = 0
    while position < len(line):
        character, following = line[position], line[position + 1 : position + 2]
        if state == "'":
            state = "" if character == "'" else "'"
        elif character == "\\":
            position += 1
        elif state == '"' and character != '"':
            if character == "`" or (character == "$" and re.match(r"[A-Za-z_{(0-9]", following)):
                found.append(f"expansion at {position}")
        elif character in "'\"":
            state = "" if state else character
        elif character in "$`<>()\r\0":
            found.append(f"{character!r} at {position}")
        elif character == "&" and "&" not in (following, line[position - 1 : position]):
            found.append(f"& at {position}")
        position += 1
    return [*found, "an open quote"] if state else found


def _masked(found: re.Match[str]) -> str:
    """Return a quoted text without operators in it."""
    return re.sub(r"\\?[|&;]", "x", found[0])


def _names(line: str) -> list[str]:
    """Find operators and programs that are off the list; newlines may be inside quotes."""
    if "\n" in line:
        return []
    found = []
    masked = re.sub(r"\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"", _masked, line)
    words = shlex.shlex(masked, posix=True, punctuation_chars="|&;")
    words.whitespace_split = True
    words.commenters = ""
    is_name = True
    for word in words:
        is_operator = set(word) <= set("|&;") and bool(word)
        if is_operator and word not in ("|", "||", "&&", ";"):
            found.append(f"operator {word}")
        if not is_operator and is_name and word not in PROGRAMS | VERSIONS:
            found.append(f"program {word}")
        is_name = is_operator
    return found


def _in_the_stage(stage: Stage, root: Path) -> list[str]:
    found = []
    if stage.each is not None:
        inner = Stage(stage.each.words[0], stage.each.words[1:], stage.cwd)
        return [] if stage.each.words == ("echo",) else _in_the_stage(inner, root)
    if stage.program not in (PROGRAMS | VERSIONS) - {"cd", "command", "type", "xargs"}:
        found.append(f"runs {stage.program}")
    if stage.program in VERSIONS and not re.fullmatch(
        r"(--?version|--help|-v|-V|version( --\w+(=true)?)?)", " ".join(stage.arguments)
    ):
        found.append(f"runs {stage.program} {stage.arguments}")
    if not _inside(root, stage.cwd):
        found.append(f"runs in {stage.cwd}")
    words = list(stage.arguments)
    options = words[: words.index("--")] if "--" in words else words
    never = NEVER.get(stage.program)
    found += [
        f"{stage.program} {word}"
        for word in _without_values(stage.program, options)
        if never and re.fullmatch(never, word)
    ]
    operands = words[words.index("--") + 1 :] if "--" in words else []
    if stage.program in READERS:
        places = [os.path.join(stage.cwd, w) for w in operands if w not in ("-", "/dev/null")]
        found += [f"reads {place}" for place in places if not _inside(root, place)]
    if stage.program in ("uniq", "xxd") and len(operands) > 1:
        found.append("writes its second file")
    if stage.program == "git":
        found += _in_git(words)
    if stage.program == "sed":
        scripts = _sed_scripts(words)
        found += [f"script {script}" for script in scripts if not SED.fullmatch(script)]
    if stage.program == "awk" and operands:
        code = re.sub(r'"(?:[^"\\]|\\.)*"|/(?:[^/\\\n]|\\.)+/', " ", operands[0])
        if re.search(r"(?<!\|)\|(?!\|)|@|\b(system|getline|close|ENVIRON|ARGV|while)\b|>>", code):
            found.append(f"awk {code}")
    return found


def _without_values(program: str, options: list[str]) -> list[str]:
    """Leave out words that are the value of the option before them."""
    takes = {
        "find": r"-(i?name|i?path|i?wholename|i?regex|i?lname|printf|newer.*|.newer|user|group|perm"
        r"|fstype|samefile|type|xtype|size|regextype|.time|.min|used|uid|gid|links|inum"
        r"|maxdepth|mindepth)",
        "git": r"-[eSGLx]",
        "sort": r"-[tk]",
        "diff": r"-[CFILUWXx]",
        "grep": r"-[efABCmdD]",
        "rg": r"-[egrfABCdjmMtTE]",
        "fd": r"-[deEStcj]",
        "awk": r"-[Fv]",
        "jq": r"--arg.*|--indent",
        "tree": r"-[LIP]|--filelimit|--charset|--timefmt|--sort",
    }.get(program, r"-[a-zA-Z]")
    kept = []
    before = ""
    for word in options:
        if not (re.fullmatch(takes, before) and not word.startswith("-")):
            is_value = program in (
                "find",
                "git",
                "awk",
                "grep",
                "rg",
                "fd",
                "sort",
            ) and re.fullmatch(takes, before)
            if not is_value:
                kept.append(word)
                before = word
                continue
        before = ""
    return kept


def _in_git(words: list[str]) -> list[str]:
    position = 0
    while position < len(words) and words[position].startswith("-"):
        if words[position] == "-c":
            if not re.fullmatch(
                r"(color\.\w+|core\.quote[pP]ath)=\w+|core\.pager=cat", words[position + 1]
            ):
                return [f"git -c {words[position + 1]}"]
            position += 1
        elif words[position] in ("-C", "--git-dir", "--work-tree", "-p", "--exec-path"):
            return [f"git {words[position]}"]
        position += 1
    if position >= len(words) or words[position] not in GIT:
        return [f"git {words[position:]}"]
    name, rest = words[position], words[position + 1 :]
    if name == "branch" and {"-D", "-d", "-m", "-M", "-c", "-C", "-f"} & set(rest):
        return ["git branch changes"]
    if name in ("branch", "tag") and "--list" not in rest and "--show-current" not in rest:
        return [f"git {name} does not list"]
    if name == "stash" and rest[0] not in ("list", "show"):
        return ["git stash changes"]
    if name == "reflog" and rest[0] != "show":
        return ["git reflog changes"]
    if name == "remote" and rest and rest[0] not in ("-v", "--verbose", "get-url"):
        return ["git remote changes"]
    if name == "config" and not {"--get", "--get-all", "--list", "-l"} & set(rest):
        return ["git config changes"]
    if name in ("diff", "status") and "--ignore-submodules=all" not in rest:
        return ["looks into submodules"]
    return []


def _sed_scripts(words: list[str]) -> list[str]:
    given = [words[i + 1] for i, word in enumerate(words[:-1]) if word == "-e"]
    given += [word.partition("=")[2] for word in words if word.startswith("--expression=")]
    return given or (words[words.index("--") + 1 :][:1] if "--" in words else [])


def _inside(root: Path, path: str) -> bool:
    return Path(path).resolve().is_relative_to(root.resolve())
