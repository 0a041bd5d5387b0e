"""Live session: the end of an agent's transcript tells what its next prompt is about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragforge.app.hook import prompt_memory
from ragforge.app.hook.prompt_memory import read_session
from tests.fakes.transcripts.claude_code import Claude, call, edit_result

ROOT = "/work/shop"


def write(folder: Path, claude: Claude) -> str:
    path = folder / "live.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in claude.lines))
    return str(path)


@pytest.fixture
def claude() -> Claude:
    """A session that edits a file in one turn and reads another one in the next."""
    claude = Claude(cwd=ROOT)
    claude.say("Set the cookie on the parent domain")
    claude.answer(call("t1", "Edit", file_path=f"{ROOT}/src/login.py", old_string="a"))
    claude.give_result("t1", "ok", toolUseResult=edit_result(f"{ROOT}/src/login.py", *"aab"))
    claude.answer("Done.")
    claude.say("and the cart?")
    claude.answer(call("t2", "Read", file_path=f"{ROOT}/src/cart.py"))
    claude.give_result("t2", "x")
    claude.answer("It has none.")
    return claude


def test_what_was_said_and_touched_last_is_known(tmp_path: Path, claude: Claude) -> None:
    session = read_session("claude-code", write(tmp_path, claude), "go on", ROOT, ROOT)

    assert "parent domain" in session.said
    assert "It has none." in session.said
    assert [*session.files] == ["src/login.py", "src/cart.py"]
    assert session.files["src/login.py"] > session.files["src/cart.py"]


def test_the_prompt_itself_is_left_out(tmp_path: Path, claude: Claude) -> None:
    claude.say("use okapi now")

    session = read_session("claude-code", write(tmp_path, claude), "use okapi now", ROOT, ROOT)

    assert "okapi" not in session.said


def test_the_end_of_a_long_transcript_is_read(
    tmp_path: Path, claude: Claude, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, claude)
    monkeypatch.setattr(prompt_memory, "END_BYTES", Path(path).stat().st_size // 2)

    session = read_session("claude-code", path, "go on", ROOT, ROOT)

    assert "It has none." in session.said
    assert "parent domain" not in session.said


@pytest.mark.parametrize("content", ["", "not json\n", "[1, 2]\n{}\n", "\x00\xff\n"])
def test_what_cannot_be_read_tells_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / "live.jsonl"
    path.write_text(content)

    assert not read_session("claude-code", str(path), "go on", ROOT, ROOT)
    assert not read_session("claude-code", str(tmp_path / "gone"), "go on", ROOT, ROOT)
    assert not read_session("aider", str(path), "go on", ROOT, ROOT)
    assert not read_session("claude-code", "", "go on", ROOT, ROOT)
