"""Permission rules: what the user allowed or forbade, and which commands are read-only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from ragforge.agent.permissions import Approve, Verdict
from ragforge.agent.rules import Effect, PermissionRule, PermissionRules, parse_rule
from ragforge.config.settings import Settings
from ragforge.folders import find_project
from ragforge.memory.sessions import normalise
from ragforge.tools.command.decide import decide
from ragforge.tools.command.plan import Decision, Refused
from ragforge.tools.permission import PermissionRequest, RuleAction

# For the doors, from the rooms below.
__all__ = ["Decision", "Effect", "PermissionRule", "PermissionRules", "Refused"]

_ALL_FILES = "edit_file(**)"
_FILE_TOOLS = ("edit_file", "write_file")
_NEXT = re.compile(rf",\s*(?=(?:{'|'.join((*get_args(RuleAction), 'write_file'))})(?:[(,]|\s*$))")


def open_rules(settings: Settings, cwd: Path) -> PermissionRules:
    """Return the rules of the project around a directory."""
    return PermissionRules.of(Path(settings.agent.state_dir), find_project(normalise(cwd)))


def add_rule(
    rules: PermissionRules, effect: Effect, text: str, exact: bool = False
) -> PermissionRule:
    """Keep a rule such as `edit_file(src/**)`. Raises InputError if the text is none.

    With `exact`, `*` and `[` in it are characters.
    """
    rule = parse_rule(effect, text, exact)
    rules.add(rule)
    return rule


def parse_allowed(texts: Sequence[str]) -> list[PermissionRule]:
    """Return the rules that lists name: `edit_file,run_command(make test)`. Raises InputError.

    `edit_file` or `write_file` without a pattern means all files of the project.
    """
    named = [part.strip() for text in texts for part in _NEXT.split(text)]
    return [parse_rule("allow", _ALL_FILES if one in _FILE_TOOLS else one) for one in named]


def allow_listed(allowed: Sequence[PermissionRule], approve: Approve) -> Approve:
    """Return an `approve` that says yes to what the rules allow, and asks for the rest.

    It is asked only about what the rules of the project and the mode leave open, so it cannot
    allow what they forbid.
    """

    async def decide_or_ask(request: PermissionRequest) -> Verdict:
        if not request.network and any(rule.matches(request) for rule in allowed):
            return Verdict("once")
        return await approve(request)

    return decide_or_ask


def check_commands(
    lines: Sequence[str], cwd: Path, root: Path | None = None
) -> list[tuple[str, Decision]]:
    """Return each line with whether it is read-only, and why not.

    Lines run in `cwd`; a `root` replaces the project of that directory.
    """
    project, place = (find_project(cwd), str(cwd)) if root is None else (root, None)
    return [(line, decide(line, str(project), place)) for line in lines]
