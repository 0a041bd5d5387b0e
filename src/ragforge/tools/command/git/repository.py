"""Repository: a view of the project's repository that has none of its configuration.

`.git/config` can name programs that git runs: a file-system monitor, filters, diff drivers,
hooks, and whatever the next version adds. Git therefore never reads it here. It is given a
directory of our own as its repository, with links to the objects, refs and logs, a copy of the
index, and a configuration into which only harmless settings are carried over. What git writes
(a refreshed index) goes to the copy. Its attributes can make secret files binary, so that no patch
shows them.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from ragforge.domain.projects import RepositoryIdentity, choose_remote
from ragforge.domain.text import split_words
from ragforge.records import dataclass
from ragforge.tools.command.environment import (
    GIT_SETTINGS,
    build_git_variables,
    build_variables,
    find_program,
)
from ragforge.tools.command.git.links import SMALL, check_links, read_small
from ragforge.tools.command.plan import NotAllowed
from ragforge.tools.confine import Root

_LOG = 20_000_000
_SECONDS = 10
_WORKTREES = 200
_HEAD = re.compile(rb"(ref: refs/[^\0\n]{1,500}|[0-9a-f]{40}|[0-9a-f]{64})\n?")
_STATES = split_words(
    "ORIG_HEAD FETCH_HEAD MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD REBASE_HEAD AUTO_MERGE"
)
_SHARED_INDEX = re.compile(r"sharedindex\.[0-9a-f]{40,64}")
_SETTINGS = re.compile(
    r"core\.(filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol|quotepath|abbrev"
    r"|sparsecheckout|sparsecheckoutcone)"
    r"|user\.(name|email)|init\.defaultbranch"
    r"|(?s:remote\..+)\.(url|pushurl|fetch)|(?s:branch\..+)\.(remote|merge)"
)
_EXTENSIONS = {
    "extensions.objectformat": ("sha1", "sha256"),
    "extensions.refstorage": ("files", "reftable"),
}
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]*@")

MAX_ROOTS = 100
"""A repository with more root commits is known only by its remote."""


@dataclass(frozen=True, slots=True)
class FoundRepository:
    """Where the repository of a project is, all real paths."""

    git_dir: str  # HEAD and index
    common_dir: str  # objects, refs, config: another one where this is a linked work tree
    area: tuple[str, ...]  # what may be read

    @property
    def is_linked(self) -> bool:
        """Tell whether this is a work tree linked to another one's repository."""
        return self.git_dir != self.common_dir


@dataclass(frozen=True, slots=True)
class RepositoryView:
    """The repository as git may see it."""

    git: str
    root: str
    git_dir: str
    found: FoundRepository
    home: str

    def build_environment(self) -> dict[str, str]:
        """Return the variables for git."""
        return build_variables(self.home) | build_git_variables(self.git_dir, self.root)

    def reveal(self, output: bytes) -> bytes:
        """Return the output with the real directory in place of the view."""
        real = output.replace(os.fsencode(self.git_dir), os.fsencode(self.found.git_dir))
        return real.replace(os.fsencode(os.path.dirname(self.git_dir)), os.fsencode(self.root))

    def _list_entries(self, *arguments: str) -> list[bytes]:
        """Return the entries of a listing of git with -z."""
        out = _run_git(self.git, [*GIT_SETTINGS, *arguments], self.root, self.build_environment())
        return [entry for entry in out.split(b"\0") if entry]

    def ask(self, *arguments: str, cwd: str) -> bytes:
        """Return what git prints, whatever its exit code is. Raises NotAllowed."""
        environment = self.build_environment()
        return _run_git(self.git, [*GIT_SETTINGS, *arguments], cwd, environment, check=False)

    def read_files(self, words: Sequence[str], limit: int) -> Iterator[bytes]:
        """Yield the beginning of each file that a word such as `HEAD:app.py` names; else nothing.

        Raises NotAllowed.
        """
        given = "".join(f"{word}\n" for word in words).encode(errors="surrogateescape")
        if len(words) != given.count(b"\n"):
            raise NotAllowed("the repository has names with line ends in them")
        command = [*GIT_SETTINGS, "cat-file", "--batch"]
        out = _run_git(self.git, command, self.root, self.build_environment(), given=given)
        at = 0
        for _ in words:
            end = out.index(b"\n", at)
            facts = out[at:end].split(b" ")
            at = end + 1
            if facts[-1] == b"missing":
                yield b""
                continue
            size = int(facts[-1])
            yield out[at : at + min(size, limit)]
            at += size + 1

    def hide(self, patterns: Iterable[str]) -> None:
        """Keep the contents of files out of patches, by patterns of git's attributes."""
        lines = "".join(f"{pattern} -diff\n" for pattern in patterns)
        with open(os.path.join(self.git_dir, "info/attributes"), "ab") as file:
            file.write(lines.encode(errors="surrogateescape"))

    def list_remotes(self) -> dict[str, str]:
        """Return the addresses of the remotes by their names, without credentials."""
        pattern = r"^remote\..*\.url$"
        try:
            entries = self._list_entries("config", "--local", "-z", "--get-regexp", pattern)
        except NotAllowed:  # there are none
            return {}
        pairs = [entry.decode(errors="replace").partition("\n") for entry in entries]
        return {key[len("remote.") : -len(".url")]: url for key, _, url in reversed(pairs)}

    def list_roots(self) -> tuple[str, ...]:
        """Return the commits without parents that HEAD comes from. Raises NotAllowed."""
        listed = b"".join(self._list_entries("rev-list", "--max-parents=0", "HEAD"))
        return tuple(sorted(listed.decode(errors="replace").split()))

    def has_submodules(self) -> bool:
        """Tell whether the index names repositories inside this one."""
        return any(
            entry.startswith(b"160000 ") for entry in self._list_entries("ls-files", "-s", "-z")
        )

    def has_files_outside(self) -> bool:
        """Tell whether the index names files behind links that lead out of the project."""
        names = self._list_entries("ls-files", "-z", "--full-name", ":/")
        folders = {os.path.dirname(os.fsdecode(name)) for name in names}
        root = Root(self.root)
        real = (os.path.realpath(os.path.join(self.root, folder)) for folder in folders)
        return not all(map(root.holds, real))


def find_repository(git: str, root: str, home: str) -> FoundRepository:
    """Return the repository whose work tree is the project. Raises NotAllowed.

    A `.git` that points out of the project is followed only if what it points to points
    back, as a linked work tree and a submodule do: a downloaded archive cannot have made that.
    """
    entry = os.path.join(root, ".git")
    try:
        mode = os.lstat(entry).st_mode
    except OSError:
        raise NotAllowed("the project is not a git repository") from None
    git_dir = os.path.realpath(entry)
    if stat.S_ISREG(mode):
        text = read_small(entry).decode(errors="replace").strip()
        if not text.startswith("gitdir: "):
            raise NotAllowed("the project's .git file is not understood")
        git_dir = os.path.realpath(os.path.join(root, text.removeprefix("gitdir: ")))
    common_dir = git_dir
    if os.path.lexists(os.path.join(git_dir, "commondir")):
        text = read_small(os.path.join(git_dir, "commondir")).decode(errors="replace").strip()
        common_dir = os.path.realpath(os.path.join(git_dir, text))
    area: tuple[str, ...] = (root,)
    if not all(map(Root(root).holds, (git_dir, common_dir))):
        if not _is_pointed_back(git, root, home, git_dir, common_dir):
            raise NotAllowed("the project's .git leads to a repository outside the project")
        area = (root, common_dir)
    found = FoundRepository(git_dir, common_dir, area)
    check_links(root, found.git_dir, found.common_dir, found.area)
    return found


def _is_pointed_back(git: str, root: str, home: str, git_dir: str, common_dir: str) -> bool:
    if common_dir != git_dir:  # a linked work tree
        if common_dir != os.path.dirname(os.path.dirname(git_dir)):
            return False
        back = read_small(os.path.join(git_dir, "gitdir")).decode(errors="replace").strip()
        return os.path.realpath(os.path.join(git_dir, back)) == os.path.join(root, ".git")
    for key, value in _read_settings(git, os.path.join(git_dir, "config"), home):
        if key == "core.worktree":  # a submodule
            return os.path.realpath(os.path.join(git_dir, value)) == root
    return False


def build_view(git: str, root: str, home: str, folder: str) -> RepositoryView:
    """Make a view of the project's repository in an empty folder. Raises NotAllowed."""
    found = find_repository(git, root, home)
    git_dir = os.path.join(folder, ".git")
    for name in ("", "logs", "info"):
        os.makedirs(os.path.join(git_dir, name))
    head = read_small(os.path.join(found.git_dir, "HEAD"))
    if not _HEAD.fullmatch(head):
        raise NotAllowed("the repository's HEAD is not understood")
    _write(os.path.join(git_dir, "HEAD"), head)
    _write(os.path.join(git_dir, "config"), _build_configuration(git, found, home).encode())
    for name in ("objects", "refs", "packed-refs", "reftable", "logs/refs"):
        _link(os.path.join(found.common_dir, name), os.path.join(git_dir, name))
    # git takes a link there for no log at all, and HEAD@{1} for that of the branch.
    _copy(os.path.join(found.git_dir, "logs/HEAD"), os.path.join(git_dir, "logs/HEAD"), _LOG)
    for name in ("shallow", "info/exclude"):
        _copy(os.path.join(found.common_dir, name), os.path.join(git_dir, name))
    for name in (*_STATES, "info/sparse-checkout"):
        _copy(os.path.join(found.git_dir, name), os.path.join(git_dir, name))
    shared_indexes = filter(_SHARED_INDEX.fullmatch, os.listdir(found.git_dir))
    for name in ("index", *shared_indexes):
        source = os.path.join(found.git_dir, name)
        if os.path.isfile(source):
            shutil.copy2(source, os.path.join(git_dir, name))
    _copy_worktrees(found.common_dir, git_dir)
    return RepositoryView(git, root, git_dir, found, home)


def _copy_worktrees(common_dir: str, git_dir: str) -> None:
    """Copy what git reads of linked work trees: where each is, what is checked out, its lock."""
    folder = os.path.join(common_dir, "worktrees")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    for name in names[:_WORKTREES]:
        source, target = os.path.join(folder, name), os.path.join(git_dir, "worktrees", name)
        try:
            head = read_small(os.path.join(source, "HEAD"))
        except NotAllowed:
            continue
        if not _HEAD.fullmatch(head):
            continue
        os.makedirs(target)
        _write(os.path.join(target, "HEAD"), head)
        _write(os.path.join(target, "commondir"), b"../..\n")
        for part in ("gitdir", "locked"):
            _copy(os.path.join(source, part), os.path.join(target, part))


def _build_configuration(git: str, found: FoundRepository, home: str) -> str:
    """Return the configuration of the view: what is on the list, without credentials."""
    wanted: list[tuple[str, str]] = []
    extensions: list[tuple[str, str]] = []
    for path in (
        os.path.join(found.common_dir, "config"),
        os.path.join(found.git_dir, "config.worktree"),
    ):
        for key, value in _read_settings(git, path, home):
            if value in _EXTENSIONS.get(key, ()):
                extensions.append((key, value))
            elif _SETTINGS.fullmatch(key):
                wanted.append((key, _CREDENTIALS.sub("", value)))
    version = "1" if extensions else "0"
    fixed = [("core.repositoryformatversion", version), ("core.bare", "false")]
    return "".join(_format_setting(key, value) for key, value in [*fixed, *extensions, *wanted])


def _format_setting(key: str, value: str) -> str:
    section, _, rest = key.partition(".")
    subsection, _, name = rest.rpartition(".")
    quoted = re.sub(r'(["\\])', r"\\\1", subsection)
    head = f'[{section} "{quoted}"]' if subsection else f"[{section}]"
    text = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'{head}\n\t{name} = "{text}"\n'


def _read_settings(git: str, path: str, home: str) -> list[tuple[str, str]]:
    """Return the settings of a file, read as data: includes are not followed, nothing applies."""
    try:
        text = read_small(path)
    except NotAllowed:
        return []
    copy = os.path.join(home, "settings")
    _write(copy, text)
    arguments = ["config", "--file", copy, "--no-includes", "-z", "--list"]
    nowhere = build_git_variables(os.path.join(home, "none"), home)
    out = _run_git(git, arguments, home, build_variables(home) | nowhere)
    pairs = [entry.partition("\n") for entry in out.decode(errors="replace").split("\0") if entry]
    return [(key, value if newline else "true") for key, newline, value in pairs]


def _run_git(
    git: str,
    arguments: list[str],
    cwd: str,
    environment: dict[str, str],
    check: bool = True,
    given: bytes = b"",
) -> bytes:
    try:
        done = subprocess.run(
            [git, *arguments],
            cwd=cwd,
            env=environment,
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=check,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise NotAllowed(f"the repository cannot be read ({type(error).__name__})") from error
    return done.stdout


def _copy(source: str, target: str, limit: int = SMALL) -> None:
    try:
        content = read_small(source, limit)
    except NotAllowed:
        return
    _write(target, content)


def _link(source: str, target: str) -> None:
    if os.path.lexists(source):
        os.symlink(source, target)


def _write(path: str, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)


@contextmanager
def make_folders() -> Iterator[tuple[str, str]]:
    """Make an empty home and an empty folder for a view, and remove them afterwards."""
    with tempfile.TemporaryDirectory(prefix="ragforge-", ignore_cleanup_errors=True) as place:
        real = os.path.realpath(place)
        for name in ("home", "view"):
            os.mkdir(os.path.join(real, name), 0o700)
        yield os.path.join(real, "home"), os.path.join(real, "view")


def read_identity(root: str) -> RepositoryIdentity | None:
    """Return what the repository of a project is known by; None if it cannot be read.

    A folder without a repository, or with one that holds nothing, has an empty identity.
    """
    if not os.path.lexists(os.path.join(root, ".git")):
        return RepositoryIdentity()
    git = find_program("git", root)
    if git is None:
        return None
    with make_folders() as (home, folder):
        try:
            view = build_view(git, os.path.realpath(root), home, folder)
            remotes = view.list_remotes()
        except (NotAllowed, OSError):
            return None
        is_shallow = os.path.lexists(os.path.join(view.found.common_dir, "shallow"))
        try:
            roots = () if is_shallow else view.list_roots()
        except NotAllowed:  # there is no commit yet, or it takes too long to find out
            roots = ()
    return RepositoryIdentity(choose_remote(remotes), roots if len(roots) <= MAX_ROOTS else ())
