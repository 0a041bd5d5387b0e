"""Other systems: the commands of a first hour, in a Python that says it is Windows or macOS."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes import other_system

QUESTION = "How is the total computed?"
COMMANDS = [
    ["ingest", "--json"],
    ["search", "total"],
    ["ask", QUESTION],
    ["remember", "Totals are rounded down: Müller said “5 €”."],
    ["context", "Are totals rounded down?"],
    ["sessions", "list"],
    ["connect", "--status"],
    ["doctor", "--json"],
]
CODE = b'def total(items):\r\n    """Return the price."""\r\n    return sum(items)\r\n'


@pytest.mark.parametrize(
    ("system", "folder"), [("win32", "AppData"), ("darwin", "Library/Application Support")]
)
def test_a_first_hour_works_with_the_branches_of_another_system(
    system: str, folder: str, tmp_path: Path
) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    subprocess.run(["git", "init", "--quiet", project], check=True)
    (project / "cart.py").write_bytes(CODE)
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "LOCALAPPDATA": str(tmp_path / "AppData"),
        "APPDATA": str(tmp_path / "Roaming"),
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "PYTHONIOENCODING": "cp850",  # a console of Western Europe
        "NO_COLOR": "1",
        "RAGFORGE_JOBS__DETACH": "false",
    }

    done = subprocess.run(
        [sys.executable, "-P", other_system.__file__, system],
        cwd=project,
        env=environ,
        input=json.dumps(COMMANDS),
        capture_output=True,
        text=True,
        check=True,
    )

    said = {
        command[0]: result
        for command, result in zip(COMMANDS, json.loads(done.stdout), strict=False)
    }
    assert {name: code for name, (code, _, _) in said.items()} == dict.fromkeys(said, 0), said
    assert not [err for _, _, err in said.values() if "unexpected" in err]
    assert "cart.py:1-3  total" in said["search"][1]
    assert 'Return the price."""\n' in said["ask"][1], "no trace of the carriage returns"
    assert "rounded down" in said["context"][1]
    assert QUESTION in said["sessions"][1]
    assert (tmp_path / folder / "ragforge" / "ragforge.db").is_file()
    checks = {check["name"]: check for check in json.loads(said["doctor"][1])["checks"]}
    assert checks["store"]["status"] == "ok"
