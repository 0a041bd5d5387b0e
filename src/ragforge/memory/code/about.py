"""About: find the conversations that touched a file or a scope."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ragforge.domain.conversations import Conversation
from ragforge.errors import InputError, ProjectNotFound
from ragforge.ports.code import CodeStore
from ragforge.ports.conversations import ConversationStore

CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class Subject:
    """What a name or path stands for in a project. It may stand for nothing any more."""

    files: tuple[str, ...] = ()
    scope_ids: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


async def conversations_about(
    conversations: ConversationStore,
    code: CodeStore,
    text: str,
    cwd: Path,
    project: Path,
    everywhere: bool = False,
) -> list[Conversation]:
    """Return conversations of the project, or of all, that touched what the text names.

    The last active come first. Raises InputError if the text may mean several files.
    """
    subject = await subject_of(code, text, cwd, project)
    return await conversations.conversations_touching(
        files=subject.files,
        scope_ids=subject.scope_ids,
        names=subject.names,
        project_path=None if everywhere else str(project),
    )


async def subject_of(code: CodeStore, text: str, cwd: Path, project: Path) -> Subject:
    """Return what a text names: a file or directory, seen from the directory or the project,
    and scopes by their name.

    Raises InputError if it is the end of several files' paths.
    """
    wanted = text.strip()
    if not wanted:
        raise InputError("Name a file, a directory or something in the code.")
    paths = _paths(wanted, cwd, project)
    names = () if "/" in wanted else (wanted,)
    try:
        known = await code.project(str(project))
    except ProjectNotFound:
        return Subject(paths, (), names)
    scopes = await code.scopes_named(known.uuid, wanted)
    files = await _files(code, known.uuid, wanted, paths)
    return Subject(files or paths, tuple(scope.uuid for scope in scopes), names)


def _paths(text: str, cwd: Path, project: Path) -> tuple[str, ...]:
    """Return the paths in the project that a text may stand for, the likelier first."""
    found: list[str] = []
    for folder in (cwd, project):
        try:
            place = (folder / Path(text).expanduser()).resolve().relative_to(project)
        except (ValueError, OSError, RuntimeError):
            continue  # outside, or no path at all
        found.append("" if place == Path() else place.as_posix())
    return tuple(dict.fromkeys(found))


async def _files(
    code: CodeStore, project_id: str, text: str, paths: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the known files that a text stands for."""
    for path in paths:
        if found := await code.files(project_id, path or None):
            return tuple(file.path for file in found)
    ending = f"/{text.strip('/')}"
    found = [file for file in await code.files(project_id) if file.path.endswith(ending)]
    if len(found) > 1:
        told = ", ".join(file.path for file in found[:CANDIDATES])
        more = ", …" if len(found) > CANDIDATES else ""
        raise InputError(f"{text!r} may be any of {told}{more}. Give more of the path.")
    return tuple(file.path for file in found)
