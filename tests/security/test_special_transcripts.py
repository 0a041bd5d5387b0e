"""Pipes, sockets and devices among transcripts: they are named, and never waited for."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

from ragforge.app import open_app
from ragforge.config.settings import Settings
from ragforge.transcripts.source import TranscriptSource
from ragforge.transcripts.sources import SOURCES
from tests.fakes.transcripts import goose
from tests.fakes.transcripts.claude_code import Claude, find_folder

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes")

NAMES = {
    "claude-code": ["s.jsonl"],
    "codex": ["rollout-1.jsonl", "rollout-1.jsonl.zst"],
    "gemini": ["chats/session-1.jsonl", "chats/session-1.json"],
    "opencode": ["opencode.db", "storage/session/p/ses_1.json"],
    "aider": [".aider.chat.history.md"],
    "copilot": ["events.jsonl"],
    "qwen": ["chats/1.jsonl"],
    "kimi": ["wire.jsonl"],
    "cursor": ["agent-transcripts/1.jsonl", "chats/1/store.db"],
    "goose": ["sessions.db"],
    "cline": ["ui_messages.json", "1.messages.json"],
    "roo": ["ui_messages.json"],
}
EVERY = [(source, name) for source in SOURCES for name in NAMES[source.name]]


@pytest.fixture(autouse=True)
def _deadline() -> Iterator[None]:
    """Fail instead of waiting for ever."""

    def end(number: int, frame: FrameType | None) -> None:
        raise TimeoutError("a special file was waited for")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def make_link(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def make_link_to_pipe(path: Path) -> None:
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to(path.with_name("pipe"))


def make_socket(path: Path) -> None:
    folder = os.getcwd()
    os.chdir(path.parent)  # the path of a socket must be short
    try:
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind(path.name)
    finally:
        os.chdir(folder)


SPECIAL = {
    "a pipe": os.mkfifo,
    "a pipe ": make_link_to_pipe,
    "a device": make_link("/dev/zero"),
    "a device ": make_link("/dev/tty"),
    "a socket": make_socket,
    "a folder": Path.mkdir,
}


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize(("source", "name"), EVERY, ids=[f"{s.name} {n}" for s, n in EVERY])
def test_only_regular_files_are_read(
    source: TranscriptSource, name: str, kind: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    SPECIAL[kind](path)
    assert source.fits(path)
    reason = f"it is {kind.strip()}, not a regular file"
    with pytest.raises(OSError, match=reason):
        source.stamp(path)
    with pytest.raises(OSError, match=reason):
        list(source.read(path))


@pytest.mark.parametrize(("source", "name"), EVERY, ids=[f"{s.name} {n}" for s, n in EVERY])
def test_a_file_that_becomes_a_pipe_after_it_was_looked_at_is_not_waited_for(
    source: TranscriptSource, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    really_open = os.open

    def open_late(what: Path, flags: int, *rest: int, **named: int) -> int:
        if what == path:
            path.unlink()
            os.mkfifo(path)
        return really_open(what, flags, *rest, **named)

    monkeypatch.setattr(os, "open", open_late)
    with pytest.raises(OSError, match="it is a pipe, not a regular file"):
        list(source.read(path))


@pytest.mark.parametrize(
    ("agent", "name", "neighbour"),
    [
        ("claude-code", "s/subagents/agent-1.jsonl", "s/subagents/agent-1.meta.json"),
        ("cline", "ui_messages.json", "history_item.json"),
        ("kimi", "wire.jsonl", "state.json"),
        ("gemini", "p/chats/session-1.jsonl", "p/.project_root"),
        ("gemini", "a/p/chats/session-1.jsonl", "projects.json"),
        ("opencode", "storage/session/p/ses_1.json", "storage/message/ses_1/m.json"),
    ],
)
def test_a_pipe_next_to_a_transcript_is_not_waited_for(
    agent: str, name: str, neighbour: str, tmp_path: Path
) -> None:
    path, pipe = tmp_path / name, tmp_path / neighbour
    for one in (path, pipe):
        one.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"id": "ses_1", "messages": []}\n')
    [source] = [one for one in SOURCES if one.name == agent]
    alone = list(source.read(path))
    os.mkfifo(pipe)

    assert list(source.read(path)) == alone


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal"])
def test_a_pipe_in_place_of_a_databases_log_is_named(end: str, tmp_path: Path) -> None:
    one = goose.Goose(tmp_path)
    goose.fill_rich_session(one)
    one.connection.close()
    neighbour = one.path.with_name(one.path.name + end)
    neighbour.unlink(missing_ok=True)
    os.mkfifo(neighbour)
    [source] = [other for other in SOURCES if other.name == "goose"]
    with pytest.raises(OSError, match="it is a pipe, not a regular file"):
        list(source.read(one.path))


async def test_an_import_names_what_is_not_a_file_and_reads_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    one = Claude("s1", cwd=str(tmp_path))
    one.say("Why is the total wrong?")
    one.write(tmp_path)
    os.mkfifo(find_folder(tmp_path) / "pipe.jsonl")
    (find_folder(tmp_path) / "zero.jsonl").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / ".aider.chat.history.md")
    settings = Settings.model_validate({"store": {"url": str(tmp_path / "store.db")}})
    async with open_app(settings, tmp_path, work=False) as app:
        report = await app.imports.run(["claude-code", "aider"])
        by_name = await app.imports.run(["aider"], tmp_path / ".aider.chat.history.md")
    assert report.of("claude-code").turns == 1
    assert {one.path.name: one.reason for one in report.problems} == {
        "pipe.jsonl": "it is a pipe, not a regular file",
        "zero.jsonl": "it is a device, not a regular file",
        ".aider.chat.history.md": "it is a pipe, not a regular file",
    }
    assert [one.reason for one in by_name.problems] == ["it is a pipe, not a regular file"]
