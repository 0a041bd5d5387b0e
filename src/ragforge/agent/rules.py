"""Rules: what the user has allowed or forbidden permanently in a project."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from ragforge.domain.text import Json
from ragforge.errors import BadPattern, InputError
from ragforge.mcp_client.pool import BETWEEN
from ragforge.private_files import make_private_folder, replace_file
from ragforge.records import dataclass
from ragforge.tools.command.started import list_programs, matches_program
from ragforge.tools.globs import compile_glob, is_wild
from ragforge.tools.permission import PermissionRequest, RuleAction

Effect: TypeAlias = Literal["allow", "deny"]
Kind: TypeAlias = Literal["exact", "pattern"]
REST = " *"
"""At the end of a pattern of commands: whatever follows."""
EVERY_COMMAND = "*"
EVERY_HOST = "*"
EVERY_TOOL = f"{BETWEEN}*"
"""At the end of a pattern of servers' tools: all tools of that server."""
_OF_HOSTS: frozenset[RuleAction] = frozenset(("fetch_url", "web_search"))
"""What is asked of a host."""
_COMPOUND = re.compile(r"[;&|<>`$(){}\\\n\r!#*?\[\]~]")
_BLANKS = re.compile(r"[ \t]+")  # what a shell parts words at
_RULE = re.compile(rf"({'|'.join(get_args(RuleAction))})\((.+)\)", re.DOTALL)
_HOST = re.compile(r"\*|(?:\*\.)?(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::\d+)?")
_TOOL = re.compile(rf"[A-Za-z0-9_-]+{BETWEEN}(?:[A-Za-z0-9_-]+|\*)")
_MEANINGS: dict[tuple[RuleAction, Kind], str] = {
    ("edit_file", "exact"): "this file",
    ("edit_file", "pattern"): "files like this",
    ("run_command", "exact"): "this line",
    ("run_command", "pattern"): "lines that begin so",
    ("mcp", "exact"): "this tool of a server",
    ("mcp", "pattern"): "all tools of a server",
    ("fetch_url", "exact"): "pages of this host",
    ("fetch_url", "pattern"): "pages of hosts like this",
    ("web_search", "exact"): "searches with this service",
    ("web_search", "pattern"): "searches with services like this",
}


@dataclass(frozen=True, slots=True)
class PermissionRule:
    """What is allowed or forbidden: exactly one thing, or all that a pattern selects.

    Exact: one file of the project, one command line; `*` and `[` are characters. A pattern of
    files is a glob. A pattern of commands ends in ` *`: all lines that begin with its words and
    join, expand or redirect nothing. A pattern of servers' tools is `server__*`, one of hosts
    `*.example.org`.
    """

    effect: Effect
    action: RuleAction
    text: str
    kind: Kind = "exact"

    def __str__(self) -> str:
        return f"{self.action}({self.text})"

    @property
    def meaning(self) -> str:
        """What the text matches, in words."""
        return _MEANINGS[self.action, self.kind]

    def matches(self, request: PermissionRequest) -> bool:
        """Tell whether the rule speaks of a request."""
        if request.action != self.action:
            return False
        if request.subject == self.text:
            return True
        if self.action == "edit_file":
            return self.kind == "pattern" and _selects(self.text, request.subject)
        if self.action == "mcp":
            return self.kind == "pattern" and request.subject.startswith(self.text[:-1])
        if self.action in _OF_HOSTS:
            return self.kind == "pattern" and request.subject.endswith(self.text[1:])
        if self.effect == "deny":
            return _forbids(self.text, self.kind, request.subject)
        return self.kind == "pattern" and _begins(self.text, request.subject)


def parse_rule(effect: Effect, text: str, exact: bool = False) -> PermissionRule:
    """Parse a rule as users write it, such as `run_command(make test)`. Raises InputError.

    It is a pattern if it is a glob with wildcards, or a command line with ` *` at its end;
    with `exact`, it never is.
    """
    found = _RULE.fullmatch(text.strip())
    if found is None:
        raise InputError(
            f"{text!r} is not a rule: write edit_file(GLOB), run_command(LINE), "
            "mcp(SERVER__TOOL), fetch_url(HOST) or web_search(HOST)."
        )
    action = next(one for one in get_args(RuleAction) if one == found.group(1))
    return make_rule(effect, action, found.group(2), exact)


def make_rule(effect: Effect, action: RuleAction, text: str, exact: bool = False) -> PermissionRule:
    """Return the rule for a path, a line, a tool, a host, or a pattern. Raises InputError."""
    text = text.removeprefix("./") if action == "edit_file" else text.strip()
    if action == "mcp" and not _TOOL.fullmatch(text):
        raise InputError(
            f"mcp({text}) is not a tool of a server: write mcp(SERVER__TOOL), or mcp(SERVER__*) "
            "for all of them."
        )
    if action in _OF_HOSTS:
        text = _check_host(effect, action, text)
    if exact or not _is_pattern(action, text):
        return PermissionRule(effect, action, text)
    if action == "edit_file":
        try:
            compile_glob(text)
        except BadPattern as error:
            raise InputError(str(error)) from error
    elif action == "run_command" and effect == "allow" and text == EVERY_COMMAND:
        raise InputError(
            "run_command(*) would allow every command. Not saved. Name the program, such "
            "as run_command(pytest *)."
        )
    return PermissionRule(effect, action, text, "pattern")


def _check_host(effect: Effect, action: RuleAction, text: str) -> str:
    """Return a host or a pattern of hosts as requests name them. Raises InputError."""
    if not _HOST.fullmatch(text):
        raise InputError(
            f"{action}({text}) is not a host: write {action}(docs.example.org), or "
            f"{action}(*.example.org) for all hosts of a domain."
        )
    if effect == "allow" and text == EVERY_HOST:
        raise InputError(
            f"{action}(*) is too broad: a page could make the model send data to any host. Not "
            f"saved. Name the host, such as {action}(docs.example.org)."
        )
    return text.lower()


def _is_pattern(action: RuleAction, text: str) -> bool:
    if action == "edit_file":
        return is_wild(text) or text.endswith("/")
    if action == "mcp":
        return text.endswith(EVERY_TOOL)
    if action in _OF_HOSTS:
        return text.startswith("*")
    return text == EVERY_COMMAND or text.endswith(REST)


def _selects(glob: str, path: str) -> bool:
    compiled = compile_glob(glob)
    return compiled is None or compiled.fullmatch(path) is not None


def _begins(pattern: str, line: str) -> bool:
    """Tell whether a line begins with the words of a pattern, and is one plain command."""
    wanted = _BLANKS.split(pattern)[:-1]
    return _BLANKS.split(line)[: len(wanted)] == wanted and not _COMPOUND.search(line)


def _forbids(text: str, kind: Kind, line: str) -> bool:
    """Tell whether a line runs what a rule forbids, anywhere in it.

    The words themselves are searched for too, in case the line cannot be parsed.
    """
    wanted = tuple(text.split())
    if kind == "pattern":
        wanted = wanted[:-1]
        if not wanted:
            return True
        words = tuple(line.split())
        runs = range(len(words) - len(wanted) + 1)
        if any(words[at : at + len(wanted)] == wanted for at in runs):
            return True
    is_whole = kind == "exact"
    return any(matches_program(words, wanted, is_whole) for words in list_programs(line))


class PermissionRules:
    """The rules of one project, kept in a file that holds those of all projects."""

    def __init__(self, file: Path, project: Path) -> None:
        self._file = file
        self._project = str(project)

    @classmethod
    def of(cls, state: Path, project: Path) -> PermissionRules:
        """Return the rules of a project, from the directory of the user's state."""
        return cls(state / "permissions.json", project)

    def all(self) -> list[PermissionRule]:
        """Return the rules, those that forbid first. Raises InputError if the file is bad."""
        found = dict.fromkeys(_read_rules(self._read().get(self._project), self._file))
        return sorted(found, key=lambda rule: rule.effect != "deny")

    def verdict(self, request: PermissionRequest) -> Effect | None:
        """Return what the rules say to a request: one that forbids beats all that allow."""
        return next((rule.effect for rule in self.all() if rule.matches(request)), None)

    def add(self, rule: PermissionRule) -> None:
        """Store a rule. Raises InputError if the file cannot be written."""
        self._write([*(one for one in self.all() if one != rule), rule])

    def remove(self, rule: PermissionRule) -> None:
        """Remove a rule."""
        self._write([one for one in self.all() if one != rule])

    def _write(self, rules: list[PermissionRule]) -> None:
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


def _read_rules(stored: Json, file: Path) -> Iterator[PermissionRule]:
    """Yield the rules of a project. Raises InputError."""
    if not isinstance(stored, dict):
        return
    # Until 0027, a rule was only its text, and an answer to "always this line" looked like a
    # pattern if the line had a `*`. Only a rule that the user wrote could forbid something.
    for text in stored.get("deny", []):
        yield parse_rule("deny", text)
    for text in stored.get("allow", []):
        yield parse_rule("allow", text, exact=True)
    for facts in stored.get("rules", []):
        yield _read_rule(facts, file)


def _read_rule(facts: Json, file: Path) -> PermissionRule:
    allowed = {"effect": get_args(Effect), "action": get_args(RuleAction), "kind": get_args(Kind)}
    if (
        not isinstance(facts, dict)
        or any(facts.get(name) not in values for name, values in allowed.items())
        or not isinstance(facts.get("text"), str)
    ):
        raise InputError(f"{file} has a rule that cannot be read: {facts}. Correct or remove it.")
    return PermissionRule(facts["effect"], facts["action"], facts["text"], facts["kind"])
