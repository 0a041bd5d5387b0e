"""Content: keep git from showing files that are secret, where only git knows which these are.

Patches do not show files that are secret: the attributes of the view say so. A search gets exclude
pathspecs. What is asked for by the id of an object has no path, and is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ragforge.brain.files.exclusions import (
    HEAD_BYTES,
    MARKS,
    has_secret_content,
    list_path_patterns,
)
from ragforge.tools.command.git.check import IS_COMMIT
from ragforge.tools.command.git.repository import RepositoryView
from ragforge.tools.command.paths import (
    find_secrets,
    has_secrets_inside,
    holds_secrets,
    quote_short,
)
from ragforge.tools.command.plan import GitContent, NotAllowed, Stage, Walk
from ragforge.tools.confine import Root

MAX_EXCLUDED = 1_000
_NAMES_ITS_FILE = ("blame", "annotate", "cat-file")
_COMPARES_TREES = ("diff", "diff-tree", "diff-index")
_WHOLE_TREE = re.compile(r".*\^\{tree\}|4b825dc[0-9a-f]*|6ef19b4[0-9a-f]*")  # or the empty one
_LIST_FILES = ("grep", "-l", "-z", "-a", "-F", "--full-name", "--no-textconv")
_RANGE = re.compile(r"\.{2,3}")


def check_objects(stage: Stage, view: RepositoryView) -> None:
    """Refuse objects without a path, and files that are secret by content. Raises NotAllowed."""
    if stage.shows is None or stage.git == "grep":
        return
    for word in _list_objects(stage):
        kind = _find_type(view, stage, word)
        has_path = ":" in word
        if kind == "blob" and not has_path:
            raise NotAllowed(f"{quote_short(word)} is a file without a path; use REVISION:PATH")
        if kind == "blob" and has_secret_content(word, _read(view, stage, word)):
            raise NotAllowed(f"{quote_short(word)} may hold secrets")
        if kind == "tree" and stage.git in _COMPARES_TREES and not _WHOLE_TREE.fullmatch(word):
            raise NotAllowed(f"{quote_short(word)} is a directory; compare commits, with its path")


def _list_objects(stage: Stage) -> Iterator[str]:
    """Yield the words that may name a file or a directory."""
    assert stage.shows is not None
    words, paths = stage.shows.words, stage.shows.paths
    for word in words:
        if ":" in word:
            yield word
        else:
            ends = [end.lstrip("^") for end in _RANGE.split(word)]
            yield from (end for end in ends if end and not IS_COMMIT.fullmatch(end))
    if stage.git in ("blame", "annotate"):
        names = [*words, *paths]  # a revision may precede the file, or follow it
        yield from (f"{one}:./{file}" for file in names for one in ("HEAD", *names) if one != file)


def hide_secrets(stage: Stage, view: RepositoryView, seconds: float) -> Stage:
    """Return git so that it leaves out secret files. Raises NotAllowed.

    For patches, files are hidden in the view that are secret by their path, or by their content as
    it is in the work tree.
    """
    if stage.shows is None:
        return stage
    if stage.git == "grep":
        return _exclude_from_search(stage, stage.shows, view)
    if not _shows_named_files(stage, stage.shows):
        found = find_secrets(Walk((".",), "", seen=("--hidden",)), Root(view.root), seconds)
        view.hide([*list_path_patterns(), *map(_make_pattern, found)])
    return stage


def _shows_named_files(stage: Stage, shows: GitContent) -> bool:
    """Tell whether only files are shown that are named, and so have been checked already."""
    if stage.git in _NAMES_ITS_FILE or "-L" in shows.flags or "--no-index" in shows.flags:
        return True
    if stage.git == "show" and shows.words and all(":" in word for word in shows.words):
        return True
    places = [os.path.join(stage.cwd, path) for path in shows.paths]
    return bool(places) and all(map(os.path.isfile, places))


def _make_pattern(path: str) -> str:
    """Return the pattern of git's attributes for one path, quoted as git does."""
    escaped = re.sub(r"([*?\[\\])", r"\\\1", path)
    quoted = re.sub(r'(["\\])', r"\\\1", escaped).replace("\n", "\\n").replace("\t", "\\t")
    return f'"/{quoted}"'


def _exclude_from_search(stage: Stage, shows: GitContent, view: RepositoryView) -> Stage:
    revisions = [word for word in shows.words if _check_revision(view, stage, word)]
    found = {*_list_by_path(view, shows, revisions)}
    found.update(_list_by_content(view, stage, shows, revisions))
    if len(found) > MAX_EXCLUDED:
        raise NotAllowed("the repository has too many files that may hold secrets")
    left_out = (f":(exclude,top,literal){path}" for path in sorted(found))
    return replace(stage, arguments=(*stage.arguments, *left_out))


def _check_revision(view: RepositoryView, stage: Stage, word: str) -> bool:
    """Tell whether a word is a revision. Raises NotAllowed for a part of one: paths begin there."""
    kind = _find_type(view, stage, word)
    if kind in ("tree", "blob") and not _WHOLE_TREE.fullmatch(word):
        raise NotAllowed(f"{quote_short(word)} is a part of a commit; search that, with a path")
    return bool(kind)


def _list_by_path(
    view: RepositoryView, shows: GitContent, revisions: Sequence[str]
) -> Iterator[str]:
    others = ["-o", "--exclude-standard"] if "--untracked" in shows.flags else []
    listings = [["ls-tree", "-r", "-z", "--name-only", "--full-tree", one] for one in revisions]
    for listing in listings or [["ls-files", "-z", "-c", *others]]:
        yield from filter(holds_secrets, _split(view.ask(*listing, cwd=view.root)))


def _list_by_content(
    view: RepositoryView, stage: Stage, shows: GitContent, revisions: Sequence[str]
) -> Iterator[str]:
    marks = [word for mark in MARKS for word in ("-e", mark.decode())]
    paths = ["--", *shows.paths] if shows.paths else []
    scope = [*sorted(shows.flags & {"--cached", "--untracked"}), *marks, *shows.words, *paths]
    names = _split(view.ask(*_LIST_FILES, *scope, cwd=stage.cwd))
    if not revisions and "--cached" not in shows.flags:
        yield from (name for name in names if has_secrets_inside(Root(view.root), name))
        return
    words = names if revisions else [f":{name}" for name in names]
    for word, head in zip(words, view.read_files(words, HEAD_BYTES), strict=True):
        revision = next((one for one in revisions if word.startswith(f"{one}:")), "")
        path = word.removeprefix(f"{revision}:")
        if has_secret_content(path, head):
            yield path


def _find_type(view: RepositoryView, stage: Stage, word: str) -> str:
    """Return the type of the object that a word names, tags resolved; "" if it names none."""
    name = word if ":" in word else f"{word}^{{}}"
    return view.ask("cat-file", "-t", name, cwd=stage.cwd).decode(errors="replace").strip()


def _read(view: RepositoryView, stage: Stage, word: str) -> bytes:
    return view.ask("cat-file", "blob", word, cwd=stage.cwd)


def _split(listed: bytes) -> list[str]:
    return [name.decode(errors="surrogateescape") for name in listed.split(b"\0") if name]
