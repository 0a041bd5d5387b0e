"""Settings with their origins, and trust in folders, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.config.dotted_keys import get_value, list_keys
from ragforge.config.mcp_client import MAX_ENTRY_CHARS, list_proposed
from ragforge.records import dataclass
from ragforge.show.console import Fields, fit_line, print_note, print_table

if TYPE_CHECKING:
    from ragforge.app.features.configure import SettingChange
    from ragforge.app.wiring.trust import FolderDecision, TrustQuestion
    from ragforge.config import Loaded, ProjectFile, Settings


@dataclass(frozen=True, slots=True)
class SettingLine:
    """A setting as it is shown: its key, its value, where that comes from, and its meaning."""

    key: str
    value: str
    origin: str
    meaning: str


def settings_to_json(loaded: Loaded) -> dict[str, object]:
    settings = {
        key: {"value": _find_value(loaded.settings, key), "origin": origin}
        for key, origin in loaded.origins.items()
    }
    file = loaded.project
    return {
        "settings": settings,
        "files": [str(path) for path in loaded.files],
        "project_file": None if file is None else {"path": str(file.path), "state": file.state},
    }


def list_settings(loaded: Loaded) -> list[SettingLine]:
    """Return every setting, in the order of the configuration page."""
    return [
        SettingLine(
            key, format_value(loaded.settings, key), origin, list_keys()[key].description or ""
        )
        for key, origin in loaded.origins.items()
    ]


def show_settings(loaded: Loaded) -> None:
    """Show every setting, its value and its origin."""
    show_setting_lines(list_settings(loaded))
    if loaded.project is not None:
        print_note(format_state(loaded.project))


def show_setting_lines(lines: Sequence[SettingLine]) -> None:
    """Show settings as a table."""
    print_table(["Key", "Value", "Origin"], [[one.key, one.value, one.origin] for one in lines])


def format_change(change: SettingChange, value: str) -> list[str]:
    """Return what a setting is now, and what overrides the change if something does."""
    lines = [f"{change.key} is {value}, from {change.origin}."]
    if change.origin not in ("default", str(change.file)):
        lines.append(f"{change.file} was changed, but {change.origin} overrides it.")
    return lines


def format_value(settings: Settings, key: str) -> str:
    """Return the value of a setting in a few words; of servers only the names."""
    value = _find_value(settings, key)
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, bool):
        return str(value).lower()
    return "-" if value in (None, "") else str(value)


def _find_value(settings: Settings, key: str) -> object:
    """Return a value; of servers only the names, since their settings may be secret."""
    value = get_value(settings, key)
    return list(value) if isinstance(value, dict) else value


VALUE_CHARS = 400
TRUST_QUESTION = "Do you trust this folder? Say yes only if you know who wrote these files."


def format_ignored(names: str, folder: Path) -> str:
    """Return the line that says which files of a folder are ignored."""
    return (
        f"{names} of {folder} is not trusted and was ignored; "
        "`ragforge trust` shows and accepts it."
    )


def format_state(file: ProjectFile) -> str:
    """Return whether a project's file is applied, and what to do if not."""
    if file.is_in_force:
        return f"{file.path} is applied."
    why = {
        "not trusted": "this folder is not trusted yet",
        "changed": "it changed since you decided about this folder",
        "refused": "you did not trust this folder",
    }[file.state]
    return f"{file.path} is ignored: {why}. `ragforge trust` shows and accepts it."


def format_trust(question: TrustQuestion) -> str:
    """Return whether the user trusts a folder, and what is ignored if not, on one line."""
    if not question.has_something:
        return "nothing here needs it: no settings, no instructions, no servers"
    if question.state == "in force":
        return "this folder's settings and instructions apply"
    file = () if question.file is None else (question.file.name,)
    names = fit_line(", ".join([*file, *question.ignored]), VALUE_CHARS)
    why = {
        "not trusted": "not trusted yet",
        "changed": "changed since you decided",
        "refused": "not trusted",
    }[question.state]
    return f"{why}, ignored: {names}. `ragforge trust` shows and accepts them."


def format_question(question: TrustQuestion) -> list[str]:
    """Return what needs the user's trust in a folder, as lines."""
    lines = [f"The folder {question.root} contains:"]
    if question.file is not None:
        changed = ", which has changed" if question.state == "changed" else ""
        lines.append(f"  {question.file.name}{changed}, which would set:")
        if question.proposed.problem:
            lines.append(f"    nothing: {fit_line(question.proposed.problem, VALUE_CHARS)}")
        for key, value in question.proposed.items:
            lines.append(f"    {fit_line(key, VALUE_CHARS)}: {fit_line(value, VALUE_CHARS)}")
    if question.instructions:
        names = ", ".join(fit_line(name, VALUE_CHARS) for name in question.instructions)
        lines.append(f"  instructions that the model would follow: {names}")
    if question.servers.entries:
        changed = ", which has changed" if question.servers_state == "changed" else ""
        lines.append(f"  .mcp.json{changed}, which would start or reach:")
        for name, entry in list_proposed(question.servers):
            lines.append(f"    {fit_line(name, VALUE_CHARS)}: {fit_line(entry, MAX_ENTRY_CHARS)}")
    if not question.has_something:
        lines.append("  no settings and no instructions")
    if not question.is_project:
        lines.append("  files that are not read without your yes: it is not a project")
    return lines


def question_to_json(question: TrustQuestion) -> dict[str, object]:
    return {
        "folder": str(question.root),
        "trusted": question.decision.trusted,
        "readable": question.is_project or question.decision.readable is True,
        "state": question.state,
        "file": None if question.file is None else str(question.file),
        "settings": dict(question.proposed.items),
        "problem": question.proposed.problem,
        "instructions": list(question.instructions),
        "servers": dict(list_proposed(question.servers)),
    }


_DECISION = Fields("trusted readable decided_at")


def decision_to_json(folder: str, decision: FolderDecision) -> dict[str, object]:
    return {"folder": folder} | _DECISION(decision)


def show_decisions(decisions: Mapping[str, FolderDecision]) -> None:
    """Show every folder that was decided about."""
    if not decisions:
        print_note("No folder is trusted yet. `ragforge trust` shows what a folder would set.")
        return
    words = {True: "yes", False: "no", None: "-"}
    rows = [
        [folder, words[one.trusted], words[one.readable], one.decided_at]
        for folder, one in decisions.items()
    ]
    print_table(["Folder", "Trusted", "Read if not a project", "Decided"], rows)
