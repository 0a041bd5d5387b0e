"""`ragforge ask`: where the question comes from, and how the answer looks."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace

import pytest

from ragforge.cli.commands.ask import MAX_QUESTION_BYTES, with_input
from ragforge.domain.chat import Usage
from ragforge.domain.receipts import Receipt
from ragforge.domain.turns import Passage
from tests.unit.cli.conftest import FakeApp, Ragforge

ANSWER = SimpleNamespace(
    content="We renew it every 20 seconds.",
    conversation_id="ab12cd34-0000",
    turn_index=3,
    model="openai:gpt-5-mini",
    problem=None,
    stopped=None,
    is_complete=True,
    reasoning="",
    tool_calls=(),
    usage=Usage(11, 7, 1, 0.001, cached_tokens=5),
    receipt=Receipt(max_chars=100, chars=0),
    passages=(Passage("The lease\nis renewed", "turn 1", 0.81234),),
)


class Piped(io.TextIOWrapper):
    def isatty(self) -> bool:
        return False


class Typed(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_ask_shows_the_answer_and_what_it_rests_on(ragforge: Ragforge, app: FakeApp) -> None:
    app.answer = ANSWER
    shown = ragforge("ask", "How often?")
    assert app.calls == [("ask", "How often?")]
    assert shown.out == (
        "We renew it every 20 seconds.\n\n[1] 0.81  turn 1  The lease is renewed\n"
    )


@pytest.mark.parametrize(
    ("options", "mode"),
    [((), "ask"), (("--yes",), "accept-edits"), (("--mode", "plan"), "plan")],
)
def test_ask_takes_a_mode(
    ragforge: Ragforge, app: FakeApp, options: tuple[str, ...], mode: str
) -> None:
    app.answer = ANSWER
    assert ragforge("ask", *options, "How often?").code == 0
    assert app.mode == mode
    assert ragforge(*options, "-p", "How often?").code == 0
    assert app.mode == mode


def test_a_mode_that_does_not_exist_is_named_with_those_that_do(ragforge: Ragforge) -> None:
    shown = ragforge("ask", "--mode", "yolo", "How often?")
    assert shown.code == 2
    assert all(name in shown.err for name in ("'ask'", "'plan'", "'accept-edits'"))
    assert ragforge("ask", "--mode", "plan", "--yes", "How often?").code == 2
    assert ragforge("--mode", "plan", "doctor").code == 2


def test_ask_names_a_source_once(ragforge: Ragforge, app: FakeApp) -> None:
    app.answer = SimpleNamespace(**{**vars(ANSWER), "content": "See [1] turn 1."})
    assert ragforge("ask", "How often?").out.count("turn 1") == 1


SOURCE = """\
async def _keep(self, job):
    \"\"\"Renew the lease of a job until it is done.\"\"\"
    seconds = self.lease.total_seconds() / 3
    while True:
        await asyncio.sleep(seconds)
        await self.queue.renew(job.key, self.holder)


def other():
    pass
"""


def test_without_a_model_each_place_shows_its_telling_lines(
    ragforge: Ragforge, app: FakeApp
) -> None:
    place = Passage(
        SOURCE,
        "src/worker.py:77-88 Worker._keep",
        0.8,
        "src/worker.py",
        77,
        "_keep",
        tuple(range(77, 89)),
        77,
    )
    said = Passage("Why so early?\nTwo beats may be lost.", "turn 1 of session ab12cd34", 0.6)
    more = {
        "content": 'One place in the code and one past exchange have "lease".\n[1] src/worker.py',
        "model": None,
        "passages": (place, said),
        "question": "How is the lease of a job renewed?",
        "related": ("src/worker.py:40-60 Worker.run",),
    }
    app.answer = SimpleNamespace(**{**vars(ANSWER), **more})
    shown = ragforge("ask", "How is the lease of a job renewed?")
    assert shown.out.splitlines() == [
        'One place in the code and one past exchange have "lease".',
        "",
        "src/worker.py:77  _keep",
        "  77  async def _keep(self, job):",
        '  78      """Renew the lease of a job until it is done."""',
        "  79      seconds = self.lease.total_seconds() / 3",
        "  80      while True:",
        "  81          await asyncio.sleep(seconds)",
        "  82          await self.queue.renew(job.key, self.holder)",
        "",
        "turn 1 of session ab12cd34",
        "  Why so early? Two beats may be lost.",
        "",
    ]
    assert "See also: src/worker.py:40-60 Worker.run" in shown.err


def test_ask_in_json_prints_only_json(ragforge: Ragforge, app: FakeApp) -> None:
    app.answer = ANSWER
    shown = ragforge("ask", "--json", "How often?")
    assert json.loads(shown.out) == {
        "content": "We renew it every 20 seconds.",
        "conversation_id": "ab12cd34-0000",
        "turn_index": 3,
        "model": "openai:gpt-5-mini",
        "problem": None,
        "stopped": None,
        "reasoning": "",
        "tool_calls": [],
        "usage": {"input_tokens": 11, "output_tokens": 7, "cached_tokens": 5, "usd": 0.001},
        "receipt": Receipt(max_chars=100, chars=0).to_json(),
        "passages": [
            {
                "source": "turn 1",
                "score": 0.8123,
                "text": "The lease\nis renewed",
                "file": None,
                "line": None,
            }
        ],
    }


@pytest.mark.parametrize("arguments", [("ask", "-"), ("ask",)])
def test_a_question_may_be_piped_in(
    ragforge: Ragforge,
    app: FakeApp,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
) -> None:
    app.answer = ANSWER
    monkeypatch.setattr("sys.stdin", Piped(io.BytesIO(b"\xef\xbb\xbfcaf\xe9?\nReally?\r\n")))
    ragforge(*arguments)
    assert app.calls == [("ask", "caf\ufffd?\nReally?")]


def test_without_a_question_nothing_is_asked(
    ragforge: Ragforge, app: FakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Typed(io.BytesIO(b"")))
    shown = ragforge("ask")
    assert shown.code == 2
    assert "give a question, or pipe one to stdin" in shown.err
    assert app.calls == []


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"", "is empty"), (b" \n", "is empty"), (b"x" * (MAX_QUESTION_BYTES + 1), "longer than")],
)
def test_a_piped_question_must_be_of_a_sensible_size(
    ragforge: Ragforge, app: FakeApp, monkeypatch: pytest.MonkeyPatch, data: bytes, said: str
) -> None:
    monkeypatch.setattr("sys.stdin", Piped(io.BytesIO(data)))
    shown = ragforge("ask", "-")
    assert shown.code == 2
    assert said in shown.err
    assert app.calls == []


def test_what_is_piped_in_is_fenced_so_that_it_cannot_get_out() -> None:
    assert with_input("Why?", "a\n```\nb\n````") == "Why?\n\n`````\na\n```\nb\n````\n`````"
    assert with_input("Why?", "a") == "Why?\n\n```\na\n```"
    assert with_input("Why?", " \n") == "Why?"


def test_a_session_is_chosen_once(ragforge: Ragforge, app: FakeApp) -> None:
    shown = ragforge("ask", "--new", "--session", "ab", "How often?")
    assert shown.code == 2
    assert app.calls == []


def test_an_answer_that_was_cut_off_has_its_own_exit_code(ragforge: Ragforge, app: FakeApp) -> None:
    app.answer = SimpleNamespace(**{**vars(ANSWER), "is_complete": False, "problem": "Too slow."})
    shown = ragforge("ask", "How often?")
    assert (shown.code, shown.err) == (3, "Too slow.\n")
    assert shown.out.startswith("We renew it every 20 seconds.\n")
