"""remember: a note for all later sessions of the project."""

from __future__ import annotations

from pydantic import Field

from ragforge.domain.notes import Note
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.text import Json
from ragforge.llm.calls import Tool
from ragforge.memory.notes import MAX_CHARS, Notebook
from ragforge.records import dataclass
from ragforge.tools.tool import Arguments, as_tool


class RememberArguments(Arguments):
    """What remember is called with."""

    text: str = Field(
        min_length=1,
        max_length=MAX_CHARS,
        description="One fact, in a sentence that can be understood by itself",
    )
    tags: list[str] = Field(default=[], max_length=10, description="A few words to find it by")
    supersedes: str | None = Field(
        None, description="The id of a note that this one corrects, as search_memory gives it"
    )


@dataclass(frozen=True, slots=True)
class SavedNote:
    """A note that was stored."""

    note: Note

    def to_json(self) -> Json:
        note = self.note
        return {
            "id": note.uuid,
            "text": note.text,
            "supersedes": note.supersedes,
            "corrects": list(note.corrects),
        }


def make_remember_tool(notebook: Notebook, project: ProjectPlace, conversation_id: str) -> Tool:
    """Return remember for a model; it writes notes of this project alone."""

    async def call(given: RememberArguments) -> SavedNote:
        note = await notebook.remember(
            given.text,
            project,
            tags=given.tags,
            supersedes=given.supersedes,
            conversation_id=conversation_id,
        )
        return SavedNote(note)

    return as_tool("remember", RememberArguments, call)
