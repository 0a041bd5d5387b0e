"""Rules: what the user has allowed or forbidden permanently in a project.

They are stored in a file of the user, never in the project, which may come from somebody else.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ragforge.domain.text import Json
from ragforge.errors import BadPattern, InputError
from ragforge.tools.edits.atomic_write import replace_file
from ragforge.tools.globs import compile_glob
from ragforge.tools.permission import Action, PermissionRequest

Effect: TypeAlias = Literal["allow", "deny"]
_COMPOUND = re.compile(r"[;&|<>`$(){}\\\n\r!#*?\[\]~]")
_RULE = re.compile(r"(edit_file|run_command)\((.+)\)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """`edit_file(src/**)` allows edits below src, `run_command(make *)` all that make can do.

    A pattern of a path is a glob of the project. A pattern of a command is the very line, or
    with ` *` at its end every line that begins with these words and joins, expands or redirects
    nothing.
    """

    effect: Effect
    action: Action
    pattern: str

    def __str__(self) -> str:
        return f"{self.action}({self.pattern})"

    def matches(self, request: PermissionRequest) -> bool:
        if request.action != self.action:
            return False
        if self.action == "edit_file":
            glob = compile_glob(self.pattern)
            return glob is None or glob.fullmatch(request.subject) is not None
        return _matches_line(self.pattern, request.subject, self.effect)


def parse_rule(effect: Effect, text: str) -> Rule:
    """Parse a rule such as `run_command(make test)`. Raises InputError."""
    found = _RULE.fullmatch(text.strip())
    if found is None:
        raise InputError(f"{text!r} is no rule: write edit_file(GLOB) or run_command(LINE).")
    action: Action = "edit_file" if found.group(1) == "edit_file" else "run_command"
    if action == "edit_file":
        try:
            compile_glob(found.group(2))
        except BadPattern as error:
            raise InputError(str(error)) from error
    return Rule(effect, action, found.group(2))


class PermissionRules:
    """The rules of one project, kept in a file that holds those of all projects."""

    def __init__(self, file: Path, project: Path) -> None:
        self._file = file
        self._project = str(project)

    @classmethod
    def of(cls, state: Path, project: Path) -> PermissionRules:
        """Return the rules of a project, from the directory of the user's state."""
        return cls(state / "permissions.json", project)

    def all(self) -> list[Rule]:
        """Return the rules, those that forbid first. Raises InputError if the file is bad."""
        mine = self._read().get(self._project, {})
        return [
            parse_rule(effect, text)
            for effect in _EFFECTS
            for text in (mine.get(effect, []) if isinstance(mine, dict) else [])
        ]

    def verdict(self, request: PermissionRequest) -> Effect | None:
        """Return what the rules say to a request: one that forbids beats all that allow."""
        return next((rule.effect for rule in self.all() if rule.matches(request)), None)

    def add(self, rule: Rule) -> None:
        """Store a rule. Raises InputError if the file cannot be written."""
        self._change(rule, keep=True)

    def remove(self, rule: Rule) -> None:
        """Remove a rule."""
        self._change(rule, keep=False)

    def _change(self, rule: Rule, keep: bool) -> None:
        every = self._read()
        mine = dict(every.get(self._project) or {})
        texts = [text for text in mine.get(rule.effect, []) if text != str(rule)]
        mine[rule.effect] = [*texts, str(rule)] if keep else texts
        every[self._project] = mine
        text = json.dumps(every, indent=2, ensure_ascii=False) + "\n"
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            replace_file(str(self._file), text.encode())
        except OSError as error:
            raise InputError(f"{self._file} cannot be written: {error.strerror}.") from error

    def _read(self) -> dict[str, Json]:
        try:
            every = json.loads(self._file.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise InputError(
                f"{self._file} cannot be read: {error}. Correct or remove it."
            ) from error
        if not isinstance(every, dict):
            raise InputError(f"{self._file} contains no rules. Correct or remove it.")
        return every


_EFFECTS: tuple[Effect, ...] = ("deny", "allow")


def _matches_line(pattern: str, line: str, effect: Effect) -> bool:
    line = line.strip()
    if line == pattern.strip():
        return True
    if not pattern.endswith(" *"):
        return False
    words, wanted = line.split(), pattern.split()[:-1]
    if effect == "deny":  # a forbidden program is forbidden wherever it stands in a line
        runs = range(len(words) - len(wanted) + 1)
        return any(words[at : at + len(wanted)] == wanted for at in runs)
    return words[: len(wanted)] == wanted and not _COMPOUND.search(line)
