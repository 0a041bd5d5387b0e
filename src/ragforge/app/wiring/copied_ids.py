"""Copied ids: what records are called in a store that already knows the same folders.

Ids of checkouts follow from the machine's name on a server and not in a file, so that two stores
call the same folder, its files and its scopes by different ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from ragforge.app.wiring.projects import find_related
from ragforge.brain.ingestion.copy_index import make_new_ids
from ragforge.domain.code import NEW, FileFilter, Project, ProjectFilter, ScopeFilter, make_id
from ragforge.domain.kinds import STORED
from ragforge.domain.projects import (
    Checkout,
    CheckoutFilter,
    add_former_ids,
    is_same_checkout,
    join_checkout,
)
from ragforge.domain.schema import CHECKOUT, FILE, PROJECT, SCOPE_NAME
from ragforge.ports.store import Record, RecordKind, Records, Store
from ragforge.records import dataclass

PAGE = 1_000
_IDS: Mapping[RecordKind, tuple[str, ...]] = {
    "file": ("uuid", "project_id"),
    "scope": ("uuid", "file_id"),
    "relation": ("source", "target", "project_id"),
    "reference": ("scope_id",),
    "mention": ("target_id",),
    "vector": ("owner_id",),
}
"""The columns with ids of checkouts, files and scopes."""


@dataclass(frozen=True, slots=True)
class CopiedIds:
    """What the destination of a copy calls the things of its source."""

    renamed: dict[str, str] = field(default_factory=dict)  # checkouts, files and scopes
    joined: dict[str, str] = field(default_factory=dict)  # projects
    checkouts: dict[str, Checkout] = field(default_factory=dict)  # by their ids in the source
    projects: dict[str, Project] = field(default_factory=dict)  # by their ids in the source
    differing: set[str] = field(default_factory=set)  # files of which both know another content

    def translate(self, kind: RecordKind, record: Record) -> Record:
        """Return a record of the source as the destination has it."""
        match kind:
            case "checkout":
                return CHECKOUT.encode(self._translate_checkout(CHECKOUT.decode(record)), STORED)
            case "project":
                known = self.projects.get(str(record["uuid"]))
                return record if known is None else PROJECT.encode(known, STORED)
            case "job":
                return self._translate_job(record)
            case "file" if record["uuid"] in self.differing:
                record = {**record, "mtime": None, "hash": ""}  # the next ingestion reads it
        changed = {
            name: self.renamed[str(record[name])]
            for name in _IDS.get(kind, ())
            if record[name] in self.renamed
        }
        return {**record, **changed} if changed else record

    def _translate_checkout(self, copied: Checkout) -> Checkout:
        if (known := self.checkouts.get(copied.uuid)) is not None:
            return add_former_ids(known, copied)
        into = self.joined.get(copied.project_id)
        return copied if into is None else join_checkout(copied, into)

    def _translate_job(self, record: Record) -> Record:
        kind, old = str(record["kind"]), str(record["kind"]).rpartition(":")[2]
        if (new := self.renamed.get(old)) is None:
            return record
        key = str(record["key"]).replace(old, new)
        return {**record, "kind": kind.replace(old, new), "key": key}


async def find_copied_ids(source: Store, target: Store) -> CopiedIds:
    """Return what the target calls the folders that it knows, and the code in them."""
    found = CopiedIds()
    checkouts = await source.records.find(CHECKOUT, CheckoutFilter())
    for checkout in sorted(checkouts, key=lambda one: (not one.identity, one.uuid)):
        await _match_checkout(found, checkout, target)
    there = await target.records.find(PROJECT, ProjectFilter())
    for project in await source.records.find(PROJECT, ProjectFilter()):
        project_id = found.joined.get(project.project_id, project.project_id)
        new = found.renamed.get(project.uuid, project.uuid)
        place = (project_id, project.path, project.host)
        known = next(
            (
                one
                for one in there
                if new == one.uuid or place == (one.project_id, one.path, one.host)
            ),
            replace(project, uuid=new, project_id=project_id),
        )
        if known != project:
            state = project.state if known.state == NEW else known.state
            found.projects[project.uuid] = replace(known, state=state)
        if known in there or new != project.uuid:
            await _match_files(found, project.uuid, known.uuid, source.records, target.records)
    return found


async def _match_checkout(found: CopiedIds, copied: Checkout, target: Store) -> None:
    at_path = await find_related(target, copied.path)
    free = (one for one in at_path if one not in found.checkouts.values())
    known = next((one for one in free if is_same_checkout(one, copied)), None)
    if known is None:
        return
    found.checkouts[copied.uuid] = known
    if copied.uuid != known.uuid:
        found.renamed[copied.uuid] = known.uuid
    if copied.project_id != known.project_id:
        found.joined[copied.project_id] = known.project_id


async def _match_files(
    found: CopiedIds, old: str, new: str, source: Records, target: Records
) -> None:
    """Note what the files and scopes of a checkout are called, and which files differ."""
    files = await source.find(FILE, FileFilter(old, pages=None))
    there = await target.find(FILE, FileFilter(new, pages=None))
    known = {file.path: file for file in there}
    if old != new:
        paths = [file.path for file in files]
        pages = (paths[start : start + PAGE] for start in range(0, len(paths), PAGE))
        names = [
            name for page in pages for name in await source.find(SCOPE_NAME, ScopeFilter(old, page))
        ]
        renamed = make_new_ids(old, new, files, names)
        if renamed is None:  # an earlier version made the ids of some
            ids = [*(file.uuid for file in files), *(name.uuid for name in names)]
            renamed = {one: make_id(new, one) for one in ids}
        found.renamed.update(renamed)
        found.renamed[old] = new
    for file in files:
        if (same := known.get(file.path)) is not None:
            found.renamed[file.uuid] = same.uuid
            if same.hash != file.hash:
                found.differing.add(file.uuid)
