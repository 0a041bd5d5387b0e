"""Completion: commands after `/`, files of the project and resources of servers after `@`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from ragforge.errors import RagForgeError

SHOWN = 20
LIKE = 60  # of 100
_COMMAND = re.compile(r"/[\w:.-]*")
_FILE = re.compile(r"(?:^|\s)@(\S*)$")


def can_complete(text: str) -> bool:
    """Tell whether a text can be completed."""
    return _COMMAND.fullmatch(text) is not None or _FILE.search(text) is not None


class InputCompleter(Completer):
    """Completes commands, with their purposes, and what can be named in a question."""

    def __init__(
        self,
        list_commands: Callable[[], Mapping[str, str]],
        list_files: Callable[[], Sequence[str]],
    ) -> None:
        """Both return what there is at the moment; commands with their purposes."""
        self._list_commands = list_commands
        self._list_files = list_files

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Yield what the word before the cursor could become. Runs in a thread."""
        text = document.text_before_cursor
        if _COMMAND.fullmatch(text):
            for name, purpose in list(self._list_commands().items()):
                if name.startswith(text):
                    yield Completion(name, -len(text), display_meta=purpose)
        elif found := _FILE.search(text):
            for path in find_closest(self._files(), found[1], SHOWN):
                yield Completion(path, -len(found[1]))

    def find_only_command(self, text: str) -> str | None:
        """Return the one command that begins so, if there is no other."""
        begun = [name for name in self._list_commands() if name.startswith(text)]
        return begun[0] if _COMMAND.fullmatch(text) and len(begun) == 1 else None

    def _files(self) -> Sequence[str]:
        try:
            return self._list_files()
        except (RagForgeError, OSError):
            return ()


def find_closest(files: Sequence[str], typed: str, limit: int) -> list[str]:
    """Return the files that are most likely meant by a few letters of their path.

    Names that begin with them come first, then paths that contain them, then similar ones.
    """
    if not typed:
        return sorted(files, key=lambda path: (path.count("/"), path))[:limit]
    wanted = typed.lower()
    holding = [path for path in files if wanted in path.lower()]

    def fit(path: str) -> tuple[bool, bool, int, str]:
        name = path.lower().rpartition("/")[2]
        return not name.startswith(wanted), wanted not in name, len(path), path

    found = sorted(holding, key=fit)[:limit]
    if len(found) < limit:
        from rapidfuzz import fuzz, process

        like = process.extract(
            wanted,
            files,
            scorer=fuzz.WRatio,
            processor=str.lower,
            limit=limit,
            score_cutoff=LIKE,
        )
        found += [path for path, _, _ in like if path not in holding]
    return found[:limit]
