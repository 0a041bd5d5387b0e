"""Left out: the files of a project that an earlier run did not index, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from ragforge.brain.files.compare import is_skipped
from ragforge.brain.files.names import SkipReason
from ragforge.brain.files.walk import Skipped
from ragforge.brain.languages.table import detect_language
from ragforge.domain.code import File


def list_left_out(files: Iterable[File]) -> Iterator[Skipped]:
    """Yield the files that an earlier run left out, or of which it stored only the text."""
    for file in files:
        if is_skipped(file):
            yield Skipped(file.path, cast("SkipReason", file.state.partition(": ")[2]))
        elif file.language == "text" and detect_language(file.path) not in (None, "text"):
            yield Skipped(file.path, "outline")
