"""Rule file: where the rules of all projects are stored.

It belongs to the user and is never in the project, which may come from somebody else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from ragforge.agent.rules import Effect, Kind, Rule, parse_rule
from ragforge.brain.files.atomic_write import replace_file
from ragforge.domain.text import Json
from ragforge.errors import InputError
from ragforge.private_files import make_private_folder
from ragforge.tools.permission import Action, PermissionRequest


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
        found = dict.fromkeys(_read_rules(self._read().get(self._project), self._file))
        return sorted(found, key=lambda rule: rule.effect != "deny")

    def verdict(self, request: PermissionRequest) -> Effect | None:
        """Return what the rules say to a request: one that forbids beats all that allow."""
        return next((rule.effect for rule in self.all() if rule.matches(request)), None)

    def add(self, rule: Rule) -> None:
        """Store a rule. Raises InputError if the file cannot be written."""
        self._write([*(one for one in self.all() if one != rule), rule])

    def remove(self, rule: Rule) -> None:
        """Remove a rule."""
        self._write([one for one in self.all() if one != rule])

    def _write(self, rules: list[Rule]) -> None:
        every = self._read()
        every[self._project] = {
            "rules": [
                {"effect": rule.effect, "action": rule.action, "kind": rule.kind, "text": rule.text}
                for rule in rules
            ]
        }
        text = json.dumps(every, indent=2, ensure_ascii=False) + "\n"
        try:
            make_private_folder(self._file.parent)
            replace_file(str(self._file), text.encode(errors="replace"))
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


def _read_rules(stored: Json, file: Path) -> Iterator[Rule]:
    """Yield the rules of a project. Raises InputError."""
    if not isinstance(stored, dict):
        return
    # Until 0027, a rule was its text alone, and an answer to "always this line" looked like a
    # pattern if the line had a `*`. Only somebody who wrote it could forbid something.
    for text in stored.get("deny", []):
        yield parse_rule("deny", text)
    for text in stored.get("allow", []):
        yield parse_rule("allow", text, exact=True)
    for facts in stored.get("rules", []):
        yield _read_rule(facts, file)


def _read_rule(facts: Json, file: Path) -> Rule:
    allowed = {"effect": get_args(Effect), "action": get_args(Action), "kind": get_args(Kind)}
    if (
        not isinstance(facts, dict)
        or any(facts.get(name) not in values for name, values in allowed.items())
        or not isinstance(facts.get("text"), str)
    ):
        raise InputError(f"{file} has a rule that cannot be read: {facts}. Correct or remove it.")
    return Rule(facts["effect"], facts["action"], facts["text"], facts["kind"])
