"""sessions_about: which sessions touched some code, and what became of it since."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from ragforge.domain.projects import ProjectPlace
from ragforge.domain.text import Json
from ragforge.llm.calls import Tool
from ragforge.memory.code.about import ConversationAbout, TouchedCode, find_conversations_about
from ragforge.ports.store import Store
from ragforge.records import dataclass
from ragforge.tools.command.run import CommandRunner
from ragforge.tools.git_history import GitHistory
from ragforge.tools.tool import Arguments, as_tool

COMMITS = 5


class AboutArguments(Arguments):
    """What sessions_about is called with."""

    name: str = Field(
        min_length=1,
        max_length=1_000,
        description="Name of a function, class, …, or path of a file or directory",
    )
    limit: int = Field(10, ge=1, le=50, description="How many turns, the newest of each session")


@dataclass(frozen=True, slots=True)
class SessionsAbout:
    """Sessions with the turns in which they touched something."""

    found: tuple[ConversationAbout, ...]
    turn_ids: dict[tuple[str, int], str]
    limit: int

    def to_json(self) -> Json:
        left, sessions = self.limit, []
        for one in self.found:
            touched = [self._format_touched(code) for code in one.touched[:left]]
            left -= len(touched)
            if touched:
                about = one.conversation
                session: dict[str, Json] = {"session": about.uuid[:8], "title": about.title}
                sessions.append({**session, "touched": touched})
        every = sum(len(one.touched) for one in self.found)
        note = {} if every <= self.limit else {"note": f"{every - self.limit} more are not listed."}
        return {"sessions": sessions, **note}

    def _format_touched(self, code: TouchedCode) -> Json:
        touch, since = code.touch, code.since
        place: dict[str, Json] = {"turn": touch.first_turn}
        if touch.by_summary:
            place = {"turns": [touch.first_turn, touch.last_turn]}
        if (turn_id := self.turn_ids.get((touch.conversation_id, touch.first_turn))) is not None:
            place["id"] = turn_id
        commits = [
            f"{commit.id} {commit.when:%Y-%m-%d} {commit.author}: {commit.subject}"
            for commit in (since.commits or ())[:COMMITS]
        ]
        return {
            **place,
            "when": touch.when.isoformat(timespec="minutes"),
            "how": touch.how,
            "file": touch.file,
            "name": touch.name,
            "since": since.describe(touch),
            **({"commits": commits} if commits else {}),
        }


def make_sessions_about_tool(store: Store, project: ProjectPlace, runner: CommandRunner) -> Tool:
    """Return sessions_about for a model; it sees this project alone."""
    root = Path(project.path)

    async def call(given: AboutArguments) -> SessionsAbout:
        found = await find_conversations_about(
            store, given.name, root, project, log=GitHistory(runner)
        )
        turns = [
            (code.touch.conversation_id, code.touch.first_turn)
            for one in found
            for code in one.touched[: given.limit]
            if not code.touch.by_summary
        ]
        ids = {}
        for talk, turn in dict.fromkeys(turns[: given.limit]):
            for message in await store.timeline.messages(
                talk, turn, turn, limit=1, with_receipts=False
            ):
                ids[talk, turn] = message.uuid
        return SessionsAbout(tuple(found), ids, given.limit)

    return as_tool("sessions_about", AboutArguments, call)
