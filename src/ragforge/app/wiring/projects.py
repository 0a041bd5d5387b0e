"""Projects: recognise which project lies in a folder.

A repository is one project wherever it lies, and another one at the same path is another.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.adapters.stores.holders import this_process
from ragforge.concurrency import call_in_thread
from ragforge.config.store_url import is_server
from ragforge.domain.code import make_id
from ragforge.domain.conversations import Conversation
from ragforge.domain.instants import now
from ragforge.domain.projects import (
    Checkout,
    CheckoutFilter,
    ProjectPlace,
    RepositoryIdentity,
    find_same,
    join_checkout,
    pick_checkout,
    view_project,
)
from ragforge.domain.schema import CHECKOUT
from ragforge.domain.text import new_id
from ragforge.folders import find_project, make_stamp, may_have_commits
from ragforge.ports.store import Store

if TYPE_CHECKING:
    from ragforge.config.settings import Settings
    from ragforge.tools.git import GitHistory


log = logging.getLogger(__name__)


def open_git(folder: Path) -> GitHistory:
    """Return the git history of a folder; most commands ask nothing of it."""
    from ragforge.tools.command.run import CommandRunner
    from ragforge.tools.git import GitHistory

    return GitHistory(CommandRunner(folder))


async def recognise_project(settings: Settings, store: Store, cwd: Path) -> ProjectPlace:
    """Return the project of a directory, and note in the store where it lies.

    A store in a file is used on one machine, whose name may change (that of a container does with
    every start): there, only paths count. On a server they are those of a machine.
    """
    root = find_project(cwd).resolve()
    host = this_process().machine if is_server(settings.store.url) else None
    return await recognise(store, root, host)


async def recognise(store: Store, root: Path, host: str | None) -> ProjectPlace:
    """Return the project at a path of a host, or of any host if it is None."""
    path = str(root)
    stamp = make_stamp(root)
    related = await find_related(store, path)
    here = _keep_here(related, path, host)
    # Who only reads could not note what is new of it: git is not asked.
    unchanged = (one for one in here if one.stamp == stamp)
    known = next((one for one in unchanged if store.read_only or _is_settled(one, root)), None)
    if known is not None and known.host:
        return view_project(known, related)
    identity = await _read_identity(root) if stamp else RepositoryIdentity()
    if identity is None:  # it cannot be read: it is what it was
        identity = here[0].identity if here else RepositoryIdentity()
    related = await find_related(store, path, identity)
    here = _keep_here(related, path, host)  # another process may have noted it meanwhile
    same = find_same(identity, related) if identity else []
    picked = pick_checkout(identity, same, here)
    checkout = picked or _make_checkout(path, host, identity, same, related)
    if checkout.identity and same and checkout.project_id not in same:
        # It moved to the remote of another project. Its other checkouts did not.
        checkout = join_checkout(checkout, same[0])
    checkout = replace(
        checkout,
        host=host or this_process().machine,
        remote=identity.remote,
        roots=identity.roots or (checkout.roots if picked else ()),
        stamp=stamp,
        seen_at=now(),
    )
    related = [one for one in related if one.uuid != checkout.uuid]
    joined = {  # two projects turn out to be one
        one.uuid: join_checkout(one, checkout.project_id)
        for one in related
        if one.project_id in same and one.project_id != checkout.project_id
    }
    related = [joined.get(one.uuid, one) for one in related]
    former_remote = None
    if not store.read_only:
        former_remote = _find_former_remote(picked, identity)
        is_new = picked is None or replace(checkout, seen_at=picked.seen_at) != picked
        if is_new or joined:
            await store.records.put(CHECKOUT, checkout, *joined.values())
    return replace(view_project(checkout, related), former_remote=former_remote)


async def find_related(
    store: Store, path: str, identity: RepositoryIdentity | None = None
) -> list[Checkout]:
    """Return the checkouts of projects that have one at a path, or with an identity, the last
    seen first.
    """
    where = CheckoutFilter(related_to=(path, identity or RepositoryIdentity()))
    return await store.records.find(CHECKOUT, where)


def _find_former_remote(picked: Checkout | None, identity: RepositoryIdentity) -> str | None:
    """Return the remote that a checkout had before, if it has another one now."""
    if picked is None or identity.remote is None or picked.remote == identity.remote:
        return None
    if picked.remote is not None:
        log.info("%s: the remote was %s and is %s", picked.path, picked.remote, identity.remote)
    return picked.remote


async def find_repository(
    store: Store, conversation: Conversation, here: ProjectPlace
) -> RepositoryIdentity:
    """Return what the repository of a conversation's project is known by.

    It lies where the conversation happened, or is the one that is opened.
    """
    if conversation.project_id in here.ids:
        for one in here.checkouts:
            if one.identity:
                return one.identity
    related = await find_related(store, conversation.project_path)
    return next(
        (
            one.identity
            for one in related
            if one.identity and conversation.project_id in (one.project_id, *one.former_ids)
        ),
        RepositoryIdentity(),
    )


async def place_import(
    store: Store, conversation: Conversation, identity: RepositoryIdentity
) -> str:
    """Return the id of the project that an imported conversation belongs to.

    Its repository decides. Where none of its checkouts is known, the one where the conversation
    happened is noted, so that the next that is opened is recognised. Without a repository it is
    the project that was last seen at the path, or the path: whoever opens it first finds what is
    known by that.
    """
    path, host = conversation.project_path, conversation.host or ""
    related = await find_related(store, path, identity)
    if not identity:
        return next((one.project_id for one in related if one.path == path), path)
    if same := find_same(identity, related):
        return same[0]
    checkout = _make_checkout(path, host, identity, (), related)
    checkout = replace(checkout, remote=identity.remote, roots=identity.roots, former_ids=())
    await store.records.put(CHECKOUT, checkout)
    return checkout.project_id


def _make_checkout(
    path: str,
    host: str | None,
    identity: RepositoryIdentity,
    same: Sequence[str],
    related: list[Checkout],
) -> Checkout:
    """Return a new checkout. Its ids follow from what it is: two who make it at once agree."""
    if same:
        project = same[0]
    else:
        name = identity.remote or "\0".join(identity.roots) or f"{host or ''}\0{path}"
        project = make_id("repository", name)
        called = (one for one in related if project in (one.project_id, *one.former_ids))
        if (other := next(called, None)) is not None:
            # It had this remote before, or it is another one: it was here before, or is a fork.
            is_same = identity.remote is not None and other.roots == identity.roots
            project = other.project_id if is_same else new_id()
    # What a program stored here without recognising the project is known by the path.
    former = () if any(one.path == path for one in related) else (path,)
    uuid = make_id("checkout", host or "", path, project)
    return Checkout(path, project, host or "", former_ids=former, uuid=uuid)


def _keep_here(related: Sequence[Checkout], path: str, host: str | None) -> list[Checkout]:
    """Return the checkouts at a path of a host, or of any host if it is None."""
    at_path = (one for one in related if one.path == path)
    return [one for one in at_path if host is None or one.host in ("", host)]


def _is_settled(checkout: Checkout, root: Path) -> bool:
    """Tell whether there is nothing more to learn of a repository that is the same as before."""
    if checkout.identity:
        return bool(checkout.stamp)
    return not checkout.stamp or not may_have_commits(root)


async def _read_identity(root: Path) -> RepositoryIdentity | None:
    from ragforge.tools.command.git.repository import read_identity  # it is needed once a checkout

    return await call_in_thread(read_identity, str(root))
