"""Stores and transcripts for the benchmark of hooks: long turns, and short ones."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.memory_scale import words_of_the_library
from ragforge.app.opening import open_app
from ragforge.config.layers import load_settings
from ragforge.domain.code import CodeReference
from ragforge.domain.conversations import Conversation, Message, ToolCall, ToolResult
from ragforge.domain.schema import CONVERSATION, MESSAGE

LONG_TURNS = 1_000
SHORT_TURNS = 20_000
TURNS_A_SESSION = 20
SHORT_A_SESSION = 100
FOLDERS = 12
FILES_A_FOLDER = 20
STRETCH = 3_000
"""From how many of the library's words a session takes its own."""
TEXTS = 10
LOOKS = 22
EDITS = 6
COMMANDS = 8
START = datetime(2026, 9, 1, 9, tzinfo=UTC)


class Worker:
    """Makes prompts and turns of an agent in a project, always the same ones."""

    def __init__(self, root: Path, seed: int = 11) -> None:
        self.root = root
        self._words = words_of_the_library()
        self._chance = random.Random(seed)
        names = sorted({word for word in self._words if word.isalpha() and 5 <= len(word) <= 12})
        self._chance.shuffle(names)
        self.files = [
            f"src/{names[folder].lower()}/{names[100 + folder * FILES_A_FOLDER + n].lower()}.py"
            for folder in range(FOLDERS)
            for n in range(FILES_A_FOLDER)
        ]

    def say(self, session: int, length: int) -> str:
        """Return words of the stretch that a session is about."""
        start = session * 7_919 % (len(self._words) - STRETCH - length)
        first = start + self._chance.randrange(STRETCH)
        return " ".join(self._words[first : first + length])

    def make_prompt(self, session: int) -> str:
        """Return a prompt; every third names a file."""
        prompt = self.say(session, self._chance.randrange(8, 40))
        if self._chance.random() < 1 / 3:
            prompt = f"In {self._pick_file(session)}: {prompt}"
        return prompt

    def make_short_turn(self, session: int) -> list[Message]:
        length = self._chance.randrange(20, 121)
        return [
            Message("user", self.say(session, self._chance.randrange(6, 21))),
            Message("assistant", self.say(session, length)),
        ]

    def make_long_turn(self, session: int) -> list[Message]:
        """Return a prompt, texts with tool calls between them, and an answer: about 45 kB."""
        calls = self._make_calls(session)
        share = len(calls) // TEXTS + 1
        replies = [
            Message(
                "assistant",
                self.say(session, self._chance.randrange(15, 60)),
                tool_calls=tuple(calls[n * share : (n + 1) * share]),
            )
            for n in range(TEXTS)
        ]
        answer = Message("assistant", self.say(session, self._chance.randrange(100, 300)))
        return [Message("user", self.make_prompt(session)), *replies, answer]

    def write_transcript(self, path: Path, session: int, size: int, name: str = "live") -> None:
        """Write a session of Claude Code of about this size."""
        written = number = 0
        with path.open("w") as file:
            while written < size:
                for line in self._make_lines(number, session, name):
                    text = json.dumps(line) + "\n"
                    file.write(text)
                    written += len(text)
                    number += 1

    def _make_calls(self, session: int) -> list[ToolCall]:
        given: list[tuple[str, Any, Any]] = []
        for _ in range(LOOKS):
            path = str(self.root / self._pick_file(session))
            given.append(("Read", {"file_path": path}, self.say(session, 150)))
        for _ in range(EDITS):
            path = str(self.root / self._pick_file(session))
            old, new = self.say(session, 30), self.say(session, 40)
            change = {"file": path, "diff": f"--- a\n+++ b\n@@ -1 +1 @@\n-{old}\n+{new}"}
            given.append(("Edit", {"file_path": path, "old_string": old}, {"changes": [change]}))
        for _ in range(COMMANDS):
            command = f"python -m pytest {self._pick_file(session)}"
            given.append(("Bash", {"command": command}, self.say(session, 120)))
        self._chance.shuffle(given)
        return [ToolCall(name, asked, ToolResult(True, said)) for name, asked, said in given]

    def _pick_file(self, session: int) -> str:
        """Return a file; most are of the folder that a session is about."""
        if self._chance.random() < 0.8:
            first = session % FOLDERS * FILES_A_FOLDER
            return self.files[first + self._chance.randrange(FILES_A_FOLDER)]
        return self._chance.choice(self.files)

    def _make_lines(self, number: int, session: int, name: str) -> Iterator[dict[str, Any]]:
        """Yield the lines of one turn of a session."""
        contents: list[tuple[str, Any]] = [("user", self.make_prompt(session))]
        for at, call in enumerate(self._make_calls(session)):
            if at % 4 == 0:
                text = {"type": "text", "text": self.say(session, 40)}
                contents.append(("assistant", [text]))
            id_ = f"toolu_{name}_{number}_{at}"
            asked = {"type": "tool_use", "id": id_, "name": call.tool_name, "input": call.arguments}
            said = call.result.result if call.result else ""
            said = said if isinstance(said, str) else "The file has been updated."
            result = {"type": "tool_result", "tool_use_id": id_, "content": said}
            contents += [("assistant", [asked]), ("user", [result])]
        for at, (role, content) in enumerate(contents, number):
            message: dict[str, Any] = {"role": role, "content": content}
            if role == "assistant":
                message |= {
                    "id": f"msg_{name}_{at}",
                    "model": "opus",
                    "usage": {"output_tokens": 90},
                }
            yield {
                "type": role,
                "uuid": f"{name}-{at}",
                "parentUuid": f"{name}-{at - 1}" if at else None,
                "message": message,
                "sessionId": name,
                "cwd": str(self.root),
                "version": "2.1.239",
                "gitBranch": "main",
                "timestamp": f"{START:%Y-%m-%dT%H:%M:%S.000Z}",
            }


async def fill(environ: dict[str, str], worker: Worker, long: int, short: int) -> None:
    """Store turns of one project: sessions of long ones, or of short ones."""
    settings = load_settings(worker.root, environ=environ).settings
    async with open_app(settings, worker.root, work=False) as app:
        for first, count, each in ((0, long, TURNS_A_SESSION), (0, short, SHORT_A_SESSION)):
            for session in range(first, count // each):
                conversation = Conversation(
                    *(str(worker.root), str(worker.root)),
                    project_id=app.project.id,
                    agent="claude-code",
                    agent_session=f"past-{each}-{session}",
                    title=worker.say(session, 8),
                    created_at=START + timedelta(hours=session),
                    updated_at=START + timedelta(hours=session),
                )
                await app.store.records.put(CONVERSATION, conversation)
                make = worker.make_long_turn if each == TURNS_A_SESSION else worker.make_short_turn
                turns = [make(session) for _ in range(each)]
                said = [message for turn in turns for message in turn]
                await app.store.timeline.append(conversation.uuid, said)
                await _link(app.store, worker.root, turns)
                if session % 10 == 0:
                    print(f"  {session * each} of {count} turns", end="\r", flush=True)


async def _link(store: Any, root: Path, turns: Sequence[Sequence[Message]]) -> None:
    """Store which files the turns edited, as an import does."""
    for turn in turns:
        edited = {
            change["file"].removeprefix(f"{root}/")
            for message in turn
            for call in message.tool_calls
            if call.result and isinstance(call.result.result, dict)
            for change in call.result.result["changes"]
        }
        links = [CodeReference(f"file:{file}", file, "", "", "edited") for file in sorted(edited)]
        if links:
            await store.timeline.link(MESSAGE, turn[0].uuid, links)
