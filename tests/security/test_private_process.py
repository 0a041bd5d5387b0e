"""RagForge's own environment, which holds its keys, cannot be read by what it starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
KEY = "canary-key-of-the-user"
PROGRAM = """
import asyncio, os, subprocess
from ragforge.tools.command.approved import ApprovedCommands

async def main():
    os.environ["SET_LATER"] = "later"
    commands = ApprovedCommands(os.getcwd(), MODE, environment=("KEPT",))
    print(await commands.run(f"cat -v /proc/{os.getpid()}/environ; echo $KEPT", os.getcwd()))
    os.environ["EVEN_LATER"] = "even later"
    print("own", os.environ["API_KEY"])
    variables = subprocess.run(["env"], capture_output=True, text=True).stdout.splitlines()
    print("inherited", sorted(variables))

asyncio.run(main())
"""


@pytest.mark.parametrize("mode", ["auto", "off"])
def test_an_approved_command_cannot_read_the_keys_of_ragforge(tmp_path: Path, mode: str) -> None:
    given = {"PATH": os.environ["PATH"], "API_KEY": KEY, "KEPT": "kept", "HOME": str(tmp_path)}

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("MODE", repr(mode))],
        cwd=tmp_path,
        env=given,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    command, own, inherited = done.stdout.splitlines()
    assert KEY not in command
    assert "kept" in command, "what the user passes on arrives"
    assert own == f"own {KEY}"
    for variable in (f"API_KEY={KEY}", "KEPT=kept", "SET_LATER=later", "EVEN_LATER=even later"):
        assert repr(variable) in inherited, "nothing is lost for RagForge and its own processes"
