"""Prompt files: commands, skills and agents that users write, and the tool read_skill."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import Field

from ragforge.domain.text import Json, shorten_end, to_one_line
from ragforge.errors import InputError
from ragforge.llm.calls import Tool
from ragforge.records import dataclass
from ragforge.tools.confine import Root
from ragforge.tools.tool import Arguments, as_tool

Kind: TypeAlias = Literal["commands", "skills", "agents"]

PROJECT_FOLDER = ".ragforge"
SKILL_FILE = "SKILL.md"
MAX_BYTES = 200_000
MAX_FILES = 200
DESCRIPTION_CHARS = 300
SKILLS_LEAD = (
    "# Skills\n\n"
    "The user has written down how some work is to be done. Before you do such work, read the "
    "skill with read_skill and follow it."
)
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_HEAD = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?\r?\n)??---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_PLACE = re.compile(r"\$(ARGUMENTS\b|[1-9])")


@dataclass(frozen=True, slots=True)
class PromptFile:
    """A command, a skill or an agent: its name, what it is for, and its text."""

    name: str
    description: str
    argument_hint: str
    body: str
    folder: Path  # of the file
    root: Root | None  # the project that it belongs to; None: it is the user's own
    header: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PromptFolders:
    """Where prompt files are: the user's folder and, if it is trusted, the project's."""

    user: Path
    project: Path
    is_trusted: Callable[[], bool]

    def find(self, kind: Kind) -> list[PromptFile]:
        """Return the files of a kind, sorted by name. Files that cannot be read are skipped.

        A user's own comes before one of the project's with the same name.
        """
        found = {one.name: one for one in _read_all(self.user / kind, None)}
        if self.is_trusted():
            for one in find_project_prompts(self.project, kind):
                found.setdefault(one.name, one)
        return sorted(found.values(), key=lambda one: one.name)


def find_project_prompts(project: Path, kind: Kind) -> list[PromptFile]:
    """Return the files of a kind that a project brings, whether it is trusted or not."""
    try:
        root = Root.at(project)
    except InputError:
        return []
    return list(_read_all(Path(root.path, PROJECT_FOLDER, kind), root))


def expand_arguments(body: str, arguments: str) -> str:
    """Return the text of a command with `$ARGUMENTS` and `$1` to `$9` filled in.

    Arguments for which it has no place are added at its end.
    """
    try:
        words = shlex.split(arguments)
    except ValueError:  # a quote that is not closed
        words = arguments.split()

    def fill(found: re.Match[str]) -> str:
        if found[1] == "ARGUMENTS":
            return arguments
        at = int(found[1]) - 1
        return words[at] if at < len(words) else ""

    filled, places = _PLACE.subn(fill, body)
    return filled.strip() if places or not arguments else f"{filled.strip()}\n\n{arguments}"


def read_prompt_text(folder: Path, name: str, root: Root | None) -> str:
    """Return the text of a file. Raises OSError, InputError, UnicodeDecodeError.

    In a project no link is followed: it could lead out of it.
    """
    path = folder / name
    if root is None:
        with path.open("rb") as stream:
            return stream.read(MAX_BYTES).decode("utf-8")
    with root.open(root.inside(str(path))) as stream:
        return stream.read(MAX_BYTES).decode("utf-8")


def _read_all(folder: Path, root: Root | None) -> Iterator[PromptFile]:
    """Yield `NAME.md` of commands and agents, and `NAME/SKILL.md` of skills."""
    try:
        names = sorted(os.listdir(folder))[:MAX_FILES]
    except OSError:
        return
    for name in names:
        is_skill = folder.name == "skills"
        stem = name if is_skill else name.removesuffix(".md")
        if not _NAME.fullmatch(stem) or (stem == name) != is_skill:
            continue
        place, file = (folder / name, SKILL_FILE) if is_skill else (folder, name)
        try:
            text = read_prompt_text(place, file, root)
        except (OSError, InputError, UnicodeDecodeError):
            continue
        yield _parse(stem, text, place, root)


def _parse(name: str, text: str, folder: Path, root: Root | None) -> PromptFile:
    head = _HEAD.match(text)
    facts = _read_facts(head[1] or "") if head else {}
    body = (text[head.end() :] if head else text).strip()
    first = next((line.strip("# \t") for line in body.splitlines() if line.strip("# \t")), "")
    description = to_one_line(_to_text(facts.get("description"))) or first
    hint = to_one_line(_to_text(facts.get("argument-hint")))
    short = shorten_end(description, DESCRIPTION_CHARS)
    return PromptFile(name, short, shorten_end(hint, 60), body, folder, root, facts)


def _read_facts(head: str) -> dict[str, Json]:
    import yaml  # most turns have no such files

    try:
        facts = yaml.safe_load(head)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return facts if isinstance(facts, dict) else {}


def _to_text(value: Json) -> str:
    """Return a fact as its writer meant it: `[file]` is a hint, though YAML makes a list of it."""
    if isinstance(value, list):
        return f"[{', '.join(map(str, value))}]"
    return "" if value is None else str(value)


def describe_skills(skills: Sequence[PromptFile]) -> str:
    """Return the names and purposes of skills for the system prompt; empty if there are none."""
    lines = [f"- {one.name}: {one.description}" for one in skills]
    return f"{SKILLS_LEAD}\n\n" + "\n".join(lines) if lines else ""


class SkillArguments(Arguments):
    """What read_skill is called with."""

    name: str = Field(min_length=1, description="The name of the skill")
    file: str | None = Field(
        None, min_length=1, description="A further file of the skill that its text names"
    )


@dataclass(frozen=True, slots=True)
class SkillText:
    """The text of a skill, or of a file of it."""

    name: str
    text: str

    def to_json(self) -> Json:
        return {"name": self.name, "skill": self.text}


def make_skill_tool(skills: Sequence[PromptFile]) -> Tool:
    """Return read_skill for a model."""

    async def call(given: SkillArguments) -> SkillText:
        return await asyncio.to_thread(read_skill, skills, given)

    return as_tool("read_skill", SkillArguments, call)


def read_skill(skills: Sequence[PromptFile], given: SkillArguments) -> SkillText:
    """Return a skill or a file in its folder. Raises InputError if there is none."""
    skill = next((one for one in skills if one.name == given.name), None)
    if skill is None:
        names = ", ".join(one.name for one in skills) or "none"
        raise InputError(f"There is no skill {given.name!r}. There are: {names}.")
    if given.file is None:
        return SkillText(skill.name, skill.body)
    inside = Root.at(skill.folder).inside(given.file)  # raises OutsideProject
    try:
        return SkillText(skill.name, read_prompt_text(skill.folder, inside, skill.root))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{given.file!r} of the skill cannot be read: {error}.") from error
