"""Likely files: which files an agent will work on for a prompt, each with the reason.

Several lists vote: the files that the prompt names, those whose code fits its words, those that
similar turns edited, those the session has touched, those that changed together with them, and
those edited last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ragforge.domain.passages import Passage, PassageFilter
from ragforge.domain.schema import PASSAGE
from ragforge.memory.search.signals import find_read_project
from ragforge.ports.store import Store
from ragforge.search.question.code_names import find_paths

MAX_FILES = 10
LISTED = 12
"""How many files of each list vote."""
RANK_CONSTANT = 2
NEWEST = 10
"""How many of the last turns with edits count as recent."""
MAX_NAMED = 3
"""A name that more files share is ignored."""


class LikelyFile(NamedTuple):
    """A file, and why it is likely."""

    path: str
    reason: str


class FileVote(NamedTuple):
    """A list of files, the best first, how much it counts, and what it says of them."""

    reason: str
    weight: float
    files: Sequence[str]


def vote(votes: Iterable[FileVote], limit: int = MAX_FILES) -> list[LikelyFile]:
    """Return the files that most lists have first; the reason is that of the strongest vote."""
    scores: dict[str, float] = defaultdict(float)
    strongest: dict[str, tuple[float, str]] = {}
    for one in votes:
        for rank, file in enumerate(one.files[:LISTED]):
            worth = one.weight / (RANK_CONSTANT + rank)
            scores[file] += worth
            strongest[file] = max(strongest.get(file, (0.0, "")), (worth, one.reason))
    best = sorted(scores, key=lambda file: -scores[file])[:limit]
    return [LikelyFile(file, strongest[file][1]) for file in best]


def count_edited(done: Iterable[Passage]) -> list[str]:
    """Return the files that turns, the best first, edited; many files of a turn count less."""
    scores: dict[str, float] = defaultdict(float)
    for rank, passage in enumerate(done):
        for file in passage.files:
            scores[file] += 1 / (1 + rank) / len(passage.files) ** 0.5
    return sorted(scores, key=lambda file: -scores[file])


def find_companions(done: Iterable[Passage], own: Collection[str]) -> list[str]:
    """Return the files that changed together with these, the most often first."""
    scores: dict[str, float] = defaultdict(float)
    for passage in done:
        together = sum(file in own for file in passage.files)
        for file in passage.files:
            if file not in own:
                scores[file] += together / len(passage.files)
    return [file for file in sorted(scores, key=lambda one: -scores[one]) if scores[file]]


async def find_named(store: Store, prompt: str, project_ids: Sequence[str]) -> list[str]:
    """Return the files of a project that a prompt names, whole or by their ends."""
    names = [path.replace("\\", "/").lstrip("./") for path in find_paths(prompt)]
    if not names or (project := await find_read_project(store, project_ids)) is None:
        return []
    paths = await store.code.file_paths(project.uuid)
    found: list[str] = []
    for name in filter(None, names):
        some = [path for path in paths if path == name or path.endswith(f"/{name}")]
        inside = [path for path in paths if name.endswith(f"/{path}")]  # an absolute path
        found += some if len(some) <= MAX_NAMED else []
        found += inside[:1]
    return list(dict.fromkeys(found))


async def find_likely_files(
    store: Store,
    prompt: str,
    project_ids: Sequence[str],
    by_code: Sequence[str],
    done: Sequence[Passage],
    session_files: Mapping[str, float],
    session_deeds: Sequence[Passage],
) -> list[LikelyFile]:
    """Return the files that are likely for a prompt.

    `by_code` are those whose code fits it, `done` the deeds of the best turns, and `session_deeds`
    those of turns that edited files of the session.
    """
    newest = await store.records.find(
        PASSAGE,
        PassageFilter(project_ids=project_ids, kind="done"),
        NEWEST,
        order=("-started_ms",),
    )
    lately = list(dict.fromkeys(file for one in newest for file in one.files))
    return vote(
        (
            FileVote("named", 2.0, await find_named(store, prompt, project_ids)),
            FileVote("its code fits", 1.0, by_code),
            FileVote("edited for similar prompts", 1.0, count_edited(done)),
            FileVote("touched in this session", 1.0, [*session_files]),
            FileVote(
                "changed together with those", 1.0, find_companions(session_deeds, session_files)
            ),
            FileVote("edited lately", 0.5, lately),
        )
    )
