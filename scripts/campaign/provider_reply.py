"""Provider's replies: a model that writes the note that it is asked for, then says so."""

from __future__ import annotations

import re

from tests.fakes.chat_server import TASK
from tests.fakes.http_server import Answered, Asked, HttpServer
from tests.fakes.talking import TITLE
from tests.fakes.wires import Call, OpenAiWire, Says

_MARK = re.compile(r"note (m[0-9]+) ")


def question_of(mark: str) -> str:
    return f"Please write note {mark} for me."


def answer_of(mark: str) -> str:
    return f"The note {mark} is written. " + "It is a short one. " * 10


def path_of(mark: str) -> str:
    return f"notes/{mark}.txt"


def content_of(mark: str) -> str:
    return f"This is the note {mark}, of which all lines are alike.\n" * 8


class NoteWriter(HttpServer):
    """Answers every question; remembers whose questions reached it."""

    wire = OpenAiWire()

    def __init__(self) -> None:
        super().__init__(self._reply)
        self.heard: set[str] = set()

    def environ(self) -> dict[str, str]:
        """Return the variables that point RagForge at it."""
        model = f"{self.wire.provider}:{self.wire.model}"
        address = self.url + self.wire.base_path
        return {"RAGFORGE_LLM__MODEL": model, "RAGFORGE_LLM__BASE_URL": address}

    def _reply(self, asked: Asked) -> Answered:
        self.asked.clear()  # thousands of requests would stay in memory
        if asked.method == "GET":  # how large the window of its model is
            return Answered(404)
        if TASK in asked.text:
            return self.wire.answer(TITLE, asked)
        mark = _MARK.findall(asked.text)[-1]
        self.heard.add(mark)
        if asked.body["messages"][-1]["role"] == "tool":
            return self.wire.answer(Says(answer_of(mark)), asked)
        wanted = Call("write_file", {"path": path_of(mark), "content": content_of(mark)})
        return self.wire.answer(Says("I write it.", calls=(wanted,)), asked)
