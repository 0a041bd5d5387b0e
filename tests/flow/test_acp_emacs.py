"""RagForge as the agent of a real editor: Emacs without a screen, with the package acp."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.chat_server import ChatServer
from tests.fakes.remembered_shop import make_environ
from tests.fakes.talking import TITLE, call, with_model
from tests.fakes.wires import OpenAiWire, Says

CLIENT = Path(__file__).parent.parent / "fakes" / "emacs_editor.el"
PLACE = "RAGFORGE_TEST_ACP_EL"
"""A folder with acp.el, where the package is not installed in Emacs."""
CODE = "def lease_seconds():\n    return 60\n"


@pytest.fixture
def emacs() -> list[str]:
    """The program with the package acp loaded; skipped where there is none."""
    pytest.importorskip("acp", reason="no ACP: the package agent-client-protocol is not installed")
    if (program := shutil.which("emacs")) is None:
        pytest.skip("no editor: emacs is not installed")
    command = [program, "--batch", "-Q", "-f", "package-initialize"]
    if folder := os.environ.get(PLACE):
        command += ["-L", folder]
    if subprocess.run([*command, "-l", "acp"], capture_output=True, check=False).returncode:
        pytest.skip(f"no client for emacs: install acp there, or name its folder in {PLACE}")
    return command


async def test_emacs_sees_an_answer_and_an_edit_of_what_was_typed_and_not_saved(
    emacs: list[str], tmp_path: Path
) -> None:
    project = tmp_path / "project"
    subprocess.run(["git", "init", "-q", project], check=True)
    file = project / "leases.py"
    file.write_text(CODE)
    edit = {"path": "leases.py", "old_text": "return 60", "new_text": "return 90"}
    script = [
        Says(calls=(call("read_file", path="leases.py"),)),
        Says(calls=(call("edit_file", **edit),)),
        Says("Now ninety seconds."),
    ]
    async with ChatServer(OpenAiWire(), script, aside=TITLE) as server:
        environ = {
            **with_model(make_environ(tmp_path), server),
            "RAGFORGE_JOBS__DETACH": "false",
            "RAGFORGE_AGENT__CONTEXT__PLAN_BY": "rules",
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PROGRAM": "\n".join((sys.executable, "-m", "ragforge", "acp")),
            "PROJECT": str(project),
            "FILE": str(file),
            "QUESTION": "Make the lease ninety seconds.",
        }
        process = await asyncio.create_subprocess_exec(
            *emacs,
            "-l",
            str(CLIENT),
            env=environ,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, problems = await process.communicate()
    assert process.returncode == 0, problems.decode()
    seen = json.loads(out)
    assert seen["stop"] == "end_turn"
    assert seen["answer"] == "Now ninety seconds."
    assert seen["permissions"] == ["allow_once"]
    assert {"available_commands_update", "tool_call", "tool_call_update"} <= set(seen["updates"])
    assert "# typed, not saved" in server.asked_in_turns[1].text  # what the editor holds was read
    assert file.read_text() == CODE.replace("60", "90") + "# typed, not saved\n"
