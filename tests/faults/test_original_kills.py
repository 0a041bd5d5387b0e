"""kill -9 while a transcript is kept: what was kept is whole, and the next run continues."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from ragforge.originals.files import OriginalFiles
from tests.conftest import Effort

_KEEP = """
import sys
from pathlib import Path
from ragforge.originals import keep
from ragforge.originals.files import OriginalFiles

keep.CHUNK_BYTES = 2000
path, files = Path(sys.argv[1]), OriginalFiles(Path(sys.argv[2]))
keep.keep(files, "codex", path, ["talk"])  # the first time, modules are loaded
print("begins", flush=True)
while True:
    with path.open("a") as file:
        for number in range(20):
            file.write('{"n": %d, "text": "The okapi eats leaves."}\\n' % number)
    keep.keep(files, "codex", path, ["talk"])
"""


def test_a_kill_leaves_a_transcript_that_can_be_read(tmp_path: Path, effort: Effort) -> None:
    path, files = tmp_path / "a.jsonl", OriginalFiles(tmp_path / "originals")
    path.write_text('{"n": -1}\n')
    chance = random.Random(20261118)
    for _ in range(effort(3, 30)):
        process = subprocess.Popen(
            [sys.executable, "-c", _KEEP, str(path), str(files.folder)],
            env={name: value for name, value in os.environ.items() if "RAGFORGE_" not in name},
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"begins\n"
        time.sleep(chance.uniform(0.01, 0.1))
        process.kill()
        process.communicate()

        found = files.find_all()
        assert len(found) <= 1  # it is the same version
        for one in found:
            content = b"".join(files.read(one))
            assert path.read_bytes().startswith(content)
            assert content.endswith(b"\n")
    assert found
