"""read_skill: the text of a skill, when it is wanted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pydantic import Field

from ragforge.domain.text import Json
from ragforge.errors import InputError
from ragforge.llm.calls import Tool
from ragforge.records import dataclass
from ragforge.tools.confine import Root
from ragforge.tools.prompt_files import PromptFile, read_prompt_text
from ragforge.tools.tool import Arguments, as_tool


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
