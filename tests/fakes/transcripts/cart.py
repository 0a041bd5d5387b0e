"""The same short session as each agent writes it: a question, calls of tools, an answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.fakes.transcripts import claude_code, cline, cursor, gemini, opencode
from tests.fakes.transcripts.aider import Aider
from tests.fakes.transcripts.claude_code import Claude
from tests.fakes.transcripts.codex import Codex
from tests.fakes.transcripts.copilot import Copilot
from tests.fakes.transcripts.files import write_json, write_lines
from tests.fakes.transcripts.gemini import Gemini
from tests.fakes.transcripts.goose import Goose
from tests.fakes.transcripts.kimi import Kimi
from tests.fakes.transcripts.opencode import OpenCode
from tests.fakes.transcripts.qwen import Qwen

ASKED = "Why does the cart total skip an item?"
SAID = "total() counts from one. It counts from zero now."
READ = {"file_path": "/work/shop/cart.py"}
CODE = "def total(items):\n    return sum(items[1:])\n"


def write_cart(agent: str, home: Path, shop: Path) -> None:
    """Write the session of an agent below a home, about a project."""
    path = _AGENTS[agent](home, shop)
    if path is not None and path.suffix != ".db":  # most fakes work in /work/shop
        path.write_text(path.read_text().replace("/work/shop", str(shop)))


def _write_aider(home: Path, shop: Path) -> None:
    one = Aider()
    one.begin()
    one.say(ASKED)
    block = "cart.py\n```python\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```"
    one.answer(f"{SAID}\n\n{block}")
    one.note("Applied edit to cart.py")
    one.begin("2026-03-02 10:00:00")
    one.write(shop)


def _write_claude(home: Path, shop: Path) -> Path:
    one = Claude()
    one.say(ASKED)
    one.answer(claude_code.call("t1", "Read", **READ))
    one.give_result("t1", CODE)
    one.answer(claude_code.call("t2", "Bash", command="pytest"))
    one.give_result("t2", "1 passed")
    one.answer(SAID)
    return one.write(home)


def _write_cline(home: Path, shop: Path) -> Path:
    edit = {"tool": "editedExistingFile", "path": "cart.py", "diff": "-a\n+b"}
    messages = [
        cline.show("text", ASKED, 0),
        cline.show("tool", json.dumps(edit), 6),
        cline.show("completion_result", SAID, 10),
    ]
    path = cline.write_task(home, "saoudrizwan.claude-dev", messages)
    write_json(path.parent / "history_item.json", {"id": "k1", "workspace": str(shop)})
    return path


def _write_codex(home: Path, shop: Path) -> Path:
    one = Codex()
    one.begin_turn("turn-1")
    one.say(ASKED)
    one.call("k1", "shell", command=["pytest"])
    one.give_output("k1", "1 passed")
    one.answer(SAID)
    return one.write(home)


def _write_copilot(home: Path, shop: Path) -> Path:
    one = Copilot()
    one.put("user.message", content=ASKED)
    request = {"toolCallId": "t1", "name": "bash", "arguments": '{"command": "pytest"}'}
    one.put("assistant.message", content="", toolRequests=[request])
    one.put("tool.execution_start", toolCallId="t1", toolName="bash", arguments={})
    one.put("tool.execution_complete", toolCallId="t1", success=True, result={"content": "1"})
    one.put("assistant.message", content=SAID)
    return one.write(home)


def _write_cursor(home: Path, shop: Path) -> Path:
    call = {"type": "tool_use", "name": "Bash", "input": {"command": "pytest"}}
    messages = [
        cursor.say("user", f"<user_query>{ASKED}</user_query>"),
        cursor.say("assistant", call),
        cursor.say("assistant", SAID),
        {"type": "turn_ended", "status": "success"},
    ]
    project = str(shop).strip("/").replace("/", "-")
    folder = home / ".cursor" / "projects" / project / "agent-transcripts"
    return write_lines(folder / "c1.jsonl", messages)


def _write_gemini(home: Path, shop: Path) -> Path:
    one = Gemini(directories=["/work/shop"])
    one.say(ASKED)
    one.answer("", gemini.call("t1", "read_file", CODE, **READ))
    one.answer(SAID)
    return one.write(home)


def _write_goose(home: Path, shop: Path) -> None:
    one = Goose(home)
    one.begin("s1", working_dir=str(shop))
    call = {"status": "success", "value": {"name": "developer__shell", "arguments": {"c": "ls"}}}
    done = {"status": "success", "value": {"content": [{"type": "text", "text": "cart.py"}]}}
    one.put("s1", "user", ASKED)
    one.put("s1", "assistant", {"type": "toolRequest", "id": "t1", "toolCall": call})
    one.put("s1", "user", {"type": "toolResponse", "id": "t1", "toolResult": done})
    one.put("s1", "assistant", SAID)
    one.connection.close()


def _write_kimi(home: Path, shop: Path) -> Path:
    one = Kimi()
    one.say(ASKED)
    one.happen("tool.call", toolCallId="Bash_0", name="Bash", args={"command": "ls"})
    one.happen("tool.result", toolCallId="Bash_0", result={"output": "cart.py"})
    one.happen("content.part", part={"type": "text", "text": SAID})
    folder = home / ".kimi-code" / "sessions" / "k1"
    write_json(folder / "state.json", {"workDir": str(shop)})
    return write_lines(folder / "agents" / "main" / "wire.jsonl", one.lines)


def _write_opencode(home: Path, shop: Path) -> None:
    (home / ".config" / "opencode").mkdir(parents=True)  # as it is after its first start
    one = OpenCode(home)
    one.begin(directory=str(shop))
    one.put("user", opencode.text(ASKED))
    one.put(
        "assistant",
        opencode.tool("t1", "read", CODE, input={"filePath": "cart.py"}),
        opencode.text(SAID),
    )
    one.close()


def _write_qwen(home: Path, shop: Path) -> Path:
    one = Qwen()
    one.put("user", {"text": ASKED})
    call = {"id": "t1", "name": "read_file", "args": {"path": "cart.py"}}
    one.put("assistant", {"functionCall": call}, model="coder")
    response = {"id": "t1", "name": "read_file", "response": {"output": CODE}}
    one.put("tool_result", {"functionResponse": response}, toolCallResult={"status": "success"})
    one.put("assistant", {"text": SAID}, model="coder")
    return one.write(home)


_AGENTS: dict[str, Callable[[Path, Path], Path | None]] = {
    "aider": _write_aider,
    "claude-code": _write_claude,
    "cline": _write_cline,
    "codex": _write_codex,
    "copilot": _write_copilot,
    "cursor": _write_cursor,
    "gemini": _write_gemini,
    "goose": _write_goose,
    "kimi": _write_kimi,
    "opencode": _write_opencode,
    "qwen": _write_qwen,
}
