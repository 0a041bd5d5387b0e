"""Usage: what the transcripts of each agent say that its requests took."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TypeAlias

import pytest

from ragforge.transcripts.aider import AIDER
from ragforge.transcripts.claude_code import CLAUDE_CODE
from ragforge.transcripts.cline import CLINE
from ragforge.transcripts.codex import CODEX
from ragforge.transcripts.copilot import COPILOT
from ragforge.transcripts.gemini import GEMINI
from ragforge.transcripts.kimi import KIMI
from ragforge.transcripts.opencode import OPENCODE
from ragforge.transcripts.qwen import QWEN
from ragforge.transcripts.source import TranscriptSource
from tests.fakes.transcripts.aider import Aider
from tests.fakes.transcripts.claude_code import Claude, call
from tests.fakes.transcripts.cline import show, write_task
from tests.fakes.transcripts.codex import Codex
from tests.fakes.transcripts.copilot import Copilot
from tests.fakes.transcripts.files import START, write_lines
from tests.fakes.transcripts.gemini import Gemini
from tests.fakes.transcripts.keeping import Keeper
from tests.fakes.transcripts.kimi import Kimi
from tests.fakes.transcripts.opencode import OpenCode, text
from tests.fakes.transcripts.qwen import Qwen

Said: TypeAlias = tuple[str | None, int, int, int, int, float | None]
CACHED = {
    "input_tokens": 3,
    "cache_creation_input_tokens": 20,
    "cache_read_input_tokens": 700,
    "output_tokens": 9,
}


def list_usage(kept: Keeper) -> list[Said]:
    """Return model, input, output, read from and written to the cache, and price."""
    return [
        (
            one.model,
            one.input_tokens,
            one.output_tokens,
            one.cached_tokens,
            one.written_tokens,
            one.usd,
        )
        for one in kept.usage.values()
    ]


def write_claude(home: Path) -> Path:
    one = Claude()
    one.say("Why?")
    one.answer("Because.")
    one.lines[-1]["message"]["usage"] = CACHED
    one.lines[-1]["costUSD"] = 0.25
    return one.write(home)


def write_gemini(home: Path) -> Path:
    one = Gemini()
    one.say("Why?")
    tokens = {"input": 900, "output": 4, "cached": 800, "thoughts": 6, "tool": 1}
    one.answer("Because.")["tokens"] = tokens
    return one.write(home)


def write_qwen(home: Path) -> Path:
    one = Qwen()
    one.put("user", {"text": "Why?"})
    counts = {"promptTokenCount": 50, "candidatesTokenCount": 7, "totalTokenCount": 60}
    counts |= {"cachedContentTokenCount": 40}
    one.put("assistant", {"text": "Because."}, model="coder", usageMetadata=counts)
    return one.write(home)


def write_kimi(home: Path) -> Path:
    one = Kimi()
    one.say("Why?")
    one.happen("content.part", part={"type": "text", "text": "Because."})
    one.happen("step.end", usage={"output": 5})
    usage = {"inputOther": 10, "output": 5, "inputCacheRead": 30, "inputCacheCreation": 2}
    one.put("usage.record", usage=usage, model="k2")
    return write_lines(home / "wire.jsonl", one.lines)


def write_opencode(home: Path) -> Path:
    one = OpenCode(home)
    one.begin()
    one.put("user", text("Why?"))
    tokens = {"input": 5, "output": 6, "reasoning": 1, "cache": {"read": 90, "write": 4}}
    one.put("assistant", text("Because."), modelID="sonnet", tokens=tokens, cost=0.5)
    return one.close()


def write_copilot(home: Path) -> Path:
    one = Copilot()
    one.put("user.message", content="Why?")
    one.put("assistant.message", content="Because.")
    usage = {"inputTokens": 70, "outputTokens": 8, "cacheReadTokens": 60, "cacheWriteTokens": 5}
    metrics = {"gpt-5": {"requests": {"count": 3, "cost": 1}, "usage": usage}}
    one.put("session.shutdown", modelMetrics=metrics)
    return one.write(home)


def write_cline(home: Path) -> Path:
    usage = {"tokensIn": 3, "tokensOut": 4, "cacheWrites": 10, "cacheReads": 20, "cost": 0.125}
    said = [show("text", "Why?", 0), show("api_req_started", json.dumps(usage), 1)]
    return write_task(home, "saoudrizwan.claude-dev", [*said, show("text", "Because.", 2)])


def write_aider(home: Path) -> Path:
    one = Aider()
    one.begin()
    one.say("Why?")
    one.text += "\nBecause.\n\n"
    one.note("Tokens: 2.1k sent, 80 received. Cost: $0.02 message, $0.09 session.")
    return one.write(home)


def write_codex(home: Path) -> Path:
    one = Codex()
    one.begin_turn("turn-1")
    one.say("Why?")
    one.answer("Because.")
    last = {"input_tokens": 900, "cached_input_tokens": 800, "output_tokens": 42}
    last |= {"reasoning_output_tokens": 30}
    count(one, last, 942)
    return one.write(home)


def count(one: Codex, last: dict[str, int], total: int) -> None:
    info = {"last_token_usage": last, "total_token_usage": {"total_tokens": total}}
    one.put("event_msg", type="token_count", info=info)


@pytest.mark.parametrize(
    ("source", "write", "expected"),
    [
        (CLAUDE_CODE, write_claude, ("opus", 723, 9, 700, 20, 0.25)),
        (CODEX, write_codex, ("gpt-x", 900, 42, 800, 0, None)),
        (GEMINI, write_gemini, ("pro", 901, 10, 800, 0, None)),
        (QWEN, write_qwen, ("coder", 50, 10, 40, 0, None)),
        (KIMI, write_kimi, ("k2", 42, 5, 30, 2, None)),
        (OPENCODE, write_opencode, ("sonnet", 99, 7, 90, 4, 0.5)),
        (COPILOT, write_copilot, ("gpt-5", 70, 8, 60, 5, None)),
        (CLINE, write_cline, (None, 33, 4, 20, 10, 0.125)),
        (AIDER, write_aider, ("sonnet", 2_100, 80, 0, 0, 0.02)),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_the_tokens_of_each_agent_are_read(
    source: TranscriptSource, write: Callable[[Path], Path], expected: Said, tmp_path: Path
) -> None:
    path = write(tmp_path)
    kept = Keeper().take_in(source, path)
    assert list_usage(kept) == [expected]
    [record] = kept.usage.values()
    assert record.conversation_id in kept.conversations
    kept.cursors.clear()
    assert list_usage(kept.take_in(source, path)) == [expected]  # read again, counted once


def test_lines_of_one_answer_count_once_with_the_largest_output(tmp_path: Path) -> None:
    one = Claude()
    one.say("Why?")
    for tokens in (1, 1, 30):
        one.answer("Because.", call("t1", "Read"), message="m", requestId="r", tokens=tokens)
    one.answer("Again.", message="n", requestId="s", tokens=4)
    kept = Keeper().take_in(CLAUDE_CODE, one.write(tmp_path))
    assert [said[2] for said in list_usage(kept)] == [30, 4]


def test_a_fork_counts_only_what_it_asked_itself(tmp_path: Path) -> None:
    one = Claude()
    one.say("Why?")
    one.answer("Because.", tokens=10)
    fork = one.fork("s2")
    fork.say("And now?")
    fork.answer("Now too.", tokens=3, message="own")
    kept = Keeper().take_in(CLAUDE_CODE, one.write(tmp_path), fork.write(tmp_path))
    talks = list(kept.conversations)
    assert [
        (one.output_tokens, talks.index(one.conversation_id)) for one in kept.usage.values()
    ] == [
        (10, 0),
        (3, 1),
    ]


def test_the_running_totals_of_codex_are_not_added_and_a_fork_repeats_nothing(
    tmp_path: Path,
) -> None:
    parent = Codex("c1")
    parent.begin_turn("turn-1")
    parent.say("Why?")
    parent.answer("Because.")
    count(parent, {"input_tokens": 100, "output_tokens": 10}, 110)
    count(parent, {"input_tokens": 100, "output_tokens": 10}, 110)  # the limits changed
    parent.answer("More.")
    count(parent, {"input_tokens": 120, "output_tokens": 5}, 235)
    fork = parent.fork("c2", forked_from_id="c1")
    fork.begin_turn("turn-2")
    fork.say("And now?")
    fork.answer("Now too.")
    count(fork, {"input_tokens": 150, "output_tokens": 7}, 392)
    kept = Keeper().take_in(CODEX, parent.write(tmp_path), fork.write(tmp_path))
    assert [said[1:3] for said in list_usage(kept)] == [(100, 10), (120, 5), (150, 7)]


def test_a_request_is_dated_by_its_line(tmp_path: Path) -> None:
    kept = Keeper().take_in(CLAUDE_CODE, write_claude(tmp_path))
    [record] = kept.usage.values()
    assert record.created_at == START + timedelta(minutes=1)


@pytest.mark.parametrize("usage", [None, [], "x", {}, {"input_tokens": -5, "output_tokens": "9"}])
def test_counts_of_another_shape_are_left_out(usage: object, tmp_path: Path) -> None:
    one = Claude()
    one.say("Why?")
    one.answer("Because.")
    one.lines[-1]["message"]["usage"] = usage
    kept = Keeper().take_in(CLAUDE_CODE, one.write(tmp_path))
    assert kept.usage == {}
