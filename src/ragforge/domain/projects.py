"""Projects: which checkouts on which machines are the same repository."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime

from ragforge.domain.instants import now
from ragforge.domain.text import name_id, new_id
from ragforge.patterns import compile_on_use
from ragforge.records import dataclass

_URL = compile_on_use(r"(?i)([a-z][a-z0-9+.-]*)://(?:[^/@]*@)?([^/:@]+|\[[^\]]+\])(?::\d*)?/(.*)")
_SCP = compile_on_use(r"(?:[^/@:]*@)?([^/:@]+|\[[^\]]+\]):(?!//)(.*)")
_LOCAL = compile_on_use(r"[a-zA-Z]:[\\/]|[./~]")


def normalise_remote(url: str) -> str | None:
    """Return the address of a remote as `host/path`, however it is written.

    The way to get there (https, ssh, a user, a port) does not matter. None for a folder: it
    means something only on one machine.
    """
    text = url.strip()
    if not text or _LOCAL.match(text) or text.lower().startswith("file:"):
        return None
    found = _URL.fullmatch(text)
    host, path = found.group(2, 3) if found else ("", "")
    if not found and (short := _SCP.fullmatch(text)):
        host, path = short.group(1, 2)
    path = "/".join(part for part in path.split("/") if part)
    path = path.removesuffix(".git").rstrip("/")
    return f"{host.lower()}/{path}" if host and path else None


def choose_remote(remotes: Mapping[str, str]) -> str | None:
    """Return the normalised address of `origin`, or of the only remote."""
    if "origin" not in remotes and len(remotes) != 1:
        return None
    return normalise_remote(remotes.get("origin") or next(iter(remotes.values())))


@dataclass(frozen=True, slots=True)
class RepositoryIdentity:
    """What a repository is known by; a folder without commits and remotes has neither."""

    remote: str | None = None  # `host/path`
    roots: tuple[str, ...] = ()  # the commits without parents, sorted; none of a shallow clone

    def __bool__(self) -> bool:
        return self.remote is not None or bool(self.roots)


@dataclass(frozen=True, slots=True)
class Checkout:
    """A folder on a machine in which a project lies, or lay when it was last opened."""

    path: str
    project_id: str
    host: str = ""  # "": not known until it is opened
    remote: str | None = None
    roots: tuple[str, ...] = ()
    former_ids: tuple[str, ...] = ()  # what else its project is called in what was stored before
    stamp: str = ""  # changes when the repository there may be another one
    uuid: str = field(default_factory=new_id)
    seen_at: datetime = field(default_factory=now)

    @property
    def identity(self) -> RepositoryIdentity:
        return RepositoryIdentity(self.remote, self.roots)


@dataclass(frozen=True, slots=True)
class CheckoutFilter:
    """Which checkouts to find; a field that is None does not restrict."""

    project_ids: Sequence[str] | None = None  # any of these
    related_to: tuple[str, RepositoryIdentity] | None = None
    """Of projects that have one at this path, or with this remote, or with these root commits."""


@dataclass(frozen=True, slots=True)
class ProjectPlace:
    """A project, seen from one of its checkouts.

    What was stored about it bears any of its ids: projects that turn out to be one keep theirs.
    """

    ids: tuple[str, ...]  # that of the project first
    path: str
    host: str = ""
    checkout_id: str = ""
    checkouts: tuple[Checkout, ...] = ()  # all of the project's
    former_remote: str | None = None  # what its remote was until it was opened now

    @property
    def id(self) -> str:
        return self.ids[0]

    @classmethod
    def at(cls, path: str, project_id: str = "") -> ProjectPlace:
        """Return a place of which nothing else is known; without an id the path is its name."""
        return cls((project_id or path,), path)

    def look_from(self, project_id: str, path: str) -> ProjectPlace:
        """Return the place of something stored: this one, if it belongs to the same project."""
        return self if project_id in self.ids else ProjectPlace.at(path, project_id)

    @property
    def remotes(self) -> tuple[str, ...]:
        return tuple(sorted({one.remote for one in self.checkouts if one.remote is not None}))


def view_project(checkout: Checkout, related: Iterable[Checkout]) -> ProjectPlace:
    """Return the project of a checkout, of all checkouts that may belong to it."""
    own = {one.uuid: one for one in related if one.project_id == checkout.project_id}
    all_of_it = tuple((own | {checkout.uuid: checkout}).values())
    former = (former for one in all_of_it for former in one.former_ids)
    ids = tuple(dict.fromkeys((checkout.project_id, *former)))
    return ProjectPlace(ids, checkout.path, checkout.host, checkout.uuid, all_of_it)


def find_same(identity: RepositoryIdentity, known: Iterable[Checkout]) -> list[str]:
    """Return the ids of the projects that an identity belongs to.

    They have its remote, or its root commits and one of both has no remote. Forks and what was
    made of one template share root commits, so that several may fit: then none of these is one.
    """
    projects: dict[str, list[Checkout]] = defaultdict(list)
    for checkout in known:
        projects[checkout.project_id].append(checkout)
    by_remote = [name for name, its in projects.items() if _has_remote(identity, its)]
    by_roots = [name for name, its in projects.items() if _has_roots(identity, its)]
    return by_remote + (by_roots if len(by_roots) == 1 else [])


def _has_remote(identity: RepositoryIdentity, checkouts: Sequence[Checkout]) -> bool:
    return identity.remote is not None and any(one.remote == identity.remote for one in checkouts)


def _has_roots(identity: RepositoryIdentity, checkouts: Sequence[Checkout]) -> bool:
    if not identity.roots or all(one.roots != identity.roots for one in checkouts):
        return False
    return identity.remote is None or all(one.remote is None for one in checkouts)


def pick_checkout(
    identity: RepositoryIdentity, same: Sequence[str], here: Sequence[Checkout]
) -> Checkout | None:
    """Return which of the checkouts known at a path lies there now, if any does.

    `same` are the projects that the identity belongs to. The remote of a checkout may have another
    address since. One without an identity may have got its first commit or its remote.
    """
    newest = sorted(here, key=lambda one: one.seen_at, reverse=True)
    exact = [one for one in newest if one.identity == identity]
    fitting = [one for one in newest if one.project_id in same]
    moved = [one for one in newest if one.roots and one.roots == identity.roots]
    unnamed = [one for one in newest if not one.identity]
    return next(iter(exact or fitting or moved or unnamed), None)


def join_checkout(checkout: Checkout, project_id: str) -> Checkout:
    """Return the checkout as one of another project, which is called by its ids as well."""
    former = dict.fromkeys((*checkout.former_ids, checkout.project_id))
    former.pop(project_id, None)
    return replace(checkout, project_id=project_id, former_ids=tuple(former))


def is_same_checkout(one: Checkout, other: Checkout) -> bool:
    """Tell whether two stores know the same folder of one machine with the same repository in it.

    One of them may have seen it before it had commits or a remote.
    """
    if not one.host or (one.host, one.path) != (other.host, other.path):
        return False
    return (
        not one.identity
        or not other.identity
        or (one.remote is not None and one.remote == other.remote)
        or (bool(one.roots) and one.roots == other.roots)
    )


def add_former_ids(known: Checkout, copied: Checkout) -> Checkout:
    """Return a known checkout whose project is also called by the ids of the copied one."""
    former = dict.fromkeys((*known.former_ids, copied.project_id, *copied.former_ids))
    former.pop(known.project_id, None)
    return replace(known, former_ids=tuple(former))


def keep_both(known: Checkout, copied: Checkout) -> Checkout:
    """Return how a checkout that is copied from another store is stored next to the known one.

    In stores of earlier versions the id of a checkout follows from its path: those of two machines
    may share it. Then the copied one gets a new id. One that was joined to another project
    since stays so.
    """
    if copied.project_id in known.former_ids:
        return add_former_ids(known, copied)
    if known.project_id in (copied.project_id, *copied.former_ids):
        return add_former_ids(copied, known)
    return replace(copied, uuid=name_id(f"{copied.uuid}/{copied.project_id}"))


def guess_paths(name: str, root: str, cwd: str) -> list[str]:
    """Return the possible paths in the project: relative to its root or to `cwd`."""
    name, root, cwd = use_slashes(name), use_slashes(root), use_slashes(cwd)
    if is_absolute(name):
        wanted = [name]
    else:
        wanted = [posixpath.join(root, name), posixpath.join(cwd, name)]
    below = (_strip_root(posixpath.normpath(path), root) for path in wanted)
    return list(dict.fromkeys(path for path in below if path))


def use_slashes(path: str) -> str:
    r"""Return a path of any platform with slashes, without the `\\?\` of long ones."""
    return path.replace("\\", "/").removeprefix("//?/")


def is_absolute(path: str) -> bool:
    """Tell whether a path with slashes is absolute, on any platform."""
    return path.startswith("/") or path[1:3] == ":/"


def _strip_root(path: str, root: str) -> str | None:
    prefix = root.rstrip("/") + "/"
    if path[1:2] == ":":  # the letter of a drive is written in either case
        path, prefix = path[0].lower() + path[1:], prefix[:1].lower() + prefix[1:]
    return path.removeprefix(prefix) if path.startswith(prefix) else None
