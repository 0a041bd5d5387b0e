"""Turn code: the scopes at the lines that a turn edited, read or found.

Line numbers are those at the time of the tool call; later edits in the same turn move them. The
store has the file as it was last ingested, which may be before the turn's edits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ragforge.domain.code import (
    FOUND,
    MODULE,
    FileFilter,
    Project,
    ScopeFilter,
    ScopeName,
    TouchKind,
    pick_strongest,
)
from ragforge.domain.conversations import Conversation, Message
from ragforge.domain.projects import guess_paths
from ragforge.domain.schema import FILE, SCOPE_NAME
from ragforge.domain.turns import Turn
from ragforge.memory.code.traces import (
    Edit,
    Trace,
    follow_line,
    list_changed_lines,
    read_edits,
    read_traces,
)
from ragforge.ports.store import Records
from ragforge.records import dataclass
from ragforge.search.question.code_names import find_paths


class FileScopes:
    """The scopes of one file by its lines."""

    def __init__(self, names: Sequence[ScopeName]) -> None:
        self._names = names
        # Smaller scopes overwrite those that contain them.
        self._owners: dict[int, str] = {}
        for name in sorted(names, key=lambda n: (n.start_line - n.end_line, n.start_line)):
            self._owners |= dict.fromkeys(range(name.start_line, name.end_line + 1), name.uuid)

    @property
    def module(self) -> str | None:
        """The scope of the whole file, if there is one."""
        return next((name.uuid for name in self._names if name.type == MODULE), None)

    def find_within(self, first: int, last: int | None) -> list[str]:
        """Return the smallest scopes at lines, each once."""
        end = max(self._owners, default=0)
        lines = range(first, end + 1 if last is None else min(last, end) + 1)
        return list(dict.fromkeys(self._owners[line] for line in lines if line in self._owners))

    def find_at(self, first: int, last: int | None) -> list[str]:
        """Return the scope with exactly these lines, or else the smallest at the first line."""
        exact = (n.uuid for n in self._names if (n.start_line, n.end_line) == (first, last))
        found = next(exact, None) or self._owners.get(first)
        return [] if found is None else [found]


@dataclass(frozen=True, slots=True)
class TurnCode:
    """The code that a turn touched, as the store has it."""

    paths: Mapping[str, str]  # as written → as in the project
    files: Mapping[str, FileScopes]
    edits: Mapping[str, Sequence[tuple[int, Edit]]]  # by path, with the number of the call
    numbers: Mapping[str, int]  # call id → its number in the turn
    stale: Mapping[str, str]  # edited files that are not ingested as the turn left them → its hash

    @classmethod
    async def load(
        cls, records: Records, project: Project, conversation: Conversation, turn: Turn
    ) -> TurnCode:
        """Load all files that a turn's tools or texts name."""
        written = [trace.file for call in turn.tool_calls for trace in read_traces(call)]
        edits = [(n, edit) for n, call in enumerate(turn.tool_calls) for edit in read_edits(call)]
        written += [edit.file for _, edit in edits]
        for message in (turn.user, *turn.replies):
            written += find_paths(message.content)
        places = {
            name: guess_paths(name, conversation.project_path, conversation.cwd) for name in written
        }
        wanted = dict.fromkeys(path for found in places.values() for path in found)
        by_file = defaultdict(list)
        inside = ScopeFilter(project.uuid, list(wanted))
        for scope in await records.find(SCOPE_NAME, inside):
            by_file[scope.file].append(scope)
        paths = {
            name: path
            for name, found in places.items()
            if (path := next((one for one in found if one in by_file), None)) is not None
        }
        by_path = defaultdict(list)
        for number, edit in edits:
            by_path[paths.get(edit.file, edit.file)].append((number, edit))
        left = {
            path: then
            for path, made in by_path.items()
            if (then := made[-1][1].after_hash) is not None
        }
        edited = FileFilter(project.uuid, list(left), pages=None)
        now = {file.path: file.hash for file in await records.find(FILE, edited)} if left else {}
        stale = {path: then for path, then in left.items() if now.get(path) != then}
        return cls(
            paths,
            {path: FileScopes(scopes) for path, scopes in by_file.items()},
            by_path,
            {call.uuid: number for number, call in enumerate(turn.tool_calls)},
            stale,
        )

    @property
    def is_current(self) -> bool:
        """Whether the store has all edited files as the turn left them."""
        return not self.stale

    def get_module(self, path: str) -> str | None:
        """Return the scope of a whole file, given by its path as written."""
        known = self.paths.get(path)
        return None if known is None else self.files[known].module

    def find_touched(self, message: Message) -> dict[str, TouchKind]:
        """Return the touches of a message's calls by scope id, the strongest of each."""
        done: dict[str, TouchKind] = {}
        for call in message.tool_calls:
            number = self.numbers[call.uuid]
            edited = [trace for edit in read_edits(call) for trace in _list_traces(edit)]
            traces = edited or read_traces(call)
            for trace in traces:
                for scope_id in self._find_scopes(trace, number):
                    done[scope_id] = pick_strongest((trace.how, done.get(scope_id, trace.how)))
        return done

    def _find_scopes(self, trace: Trace, number: int) -> Iterable[str]:
        """Return the scopes at a trace; of edits and of files that have changed also the module."""
        path = self.paths.get(trace.file)
        if path is None:
            return ()
        scopes = self.files[path]
        is_edit = trace.how == "edited"
        module = [scopes.module] if is_edit and scopes.module is not None else []
        if path in self.stale or (is_edit and trace.last is None):
            return module
        first, last = self._follow(path, trace.first, number), trace.last
        last = None if last is None else max(first, self._follow(path, last, number))
        find = scopes.find_at if trace.how == FOUND else scopes.find_within
        return [*find(first, last), *module]

    def _follow(self, path: str, line: int, number: int) -> int:
        """Return the number of a line after the edits that followed a call."""
        for later, edit in self.edits.get(path, ()):
            if later > number:
                line = follow_line(line, edit.hunks)
        return line


def _list_traces(edit: Edit) -> list[Trace]:
    """Return the lines of an edit; the whole file where they are not known."""
    lines = list_changed_lines(edit.hunks)
    return [Trace("edited", edit.file, line, line) for line in lines] or [
        Trace("edited", edit.file)
    ]
