"""Own hooks: which commands run at events of a turn, as settings name them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ragforge.config.agent_settings import HookEntry, read_entry, read_section

MAX_HOOKS = 50
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


def check_hooks(
    value: object, *, by_project: bool = False, as_text: bool = False
) -> dict[str, HookEntry]:
    """Return the hooks that a section names, or with `as_text` a JSON text.

    Raises ValueError with half a sentence.
    """
    value = read_section(value) if as_text else value
    if not isinstance(value, dict):
        raise ValueError("must be a section of a file, with a name and an event for each hook")
    if len(value) > MAX_HOOKS:
        raise ValueError(f"has more than {MAX_HOOKS} hooks")
    return {_check_name(name): _check(name, entry, by_project) for name, entry in value.items()}


def _check_name(name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(
            f"has the hook {str(name)[:60]!r}: a name is lower-case letters, digits, - and _, "
            "40 characters at most"
        )
    return name


def _check(name: str, entry: object, by_project: bool) -> HookEntry:
    if isinstance(entry, HookEntry):  # of a program
        entry = entry.model_dump(exclude={"by_project"})
    if not isinstance(entry, Mapping) or "by_project" in entry:
        raise ValueError(f"has the hook {name!r}, which must be a section with event and command")
    hook = read_entry(HookEntry, {**entry, "by_project": by_project}, f"has the hook {name!r}")
    if not hook.command.isprintable():  # what the user is shown must be what runs
        raise ValueError(
            f"has the hook {name!r}: its command must be one line without invisible characters; "
            "put a longer one into a script"
        )
    return hook


def add_project_hooks(
    hooks: Mapping[str, HookEntry], by_project: Mapping[str, HookEntry]
) -> dict[str, HookEntry]:
    """Return hooks with those of a project, which replace none of the user's."""
    return {**hooks, **{name: hook for name, hook in by_project.items() if name not in hooks}}
