"""`ragforge ingest --scip`: the index of an exact indexer, in a terminal."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from tests.fakes.projects import LONG_AGO
from tests.fakes.zygote import run_module

FIXTURE = Path(__file__).parents[1] / "fixtures" / "scip" / "typescript"


def test_an_index_is_taken_by_name_and_what_changed_is_said(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    shutil.copytree(FIXTURE, root)
    for file in root.rglob("*"):
        os.utime(file, (LONG_AGO, LONG_AGO))
    (root / "src" / "store.ts").touch()
    (root / ".git").mkdir()
    (root / "bad.scip").write_bytes(b"\xff" * 99)
    (tmp_path / "user.yaml").touch()
    environ = {"HOME": str(tmp_path), "RAGFORGE_CONFIG": str(tmp_path / "user.yaml")}

    def ragforge(*arguments: str) -> tuple[int, str, str]:
        done = run_module("ragforge", *arguments, cwd=root, env=environ)
        return done.returncode, done.stdout, done.stderr

    code, _, said = ragforge("ingest")
    assert (code, "exact relations" in said) == (0, False)  # the folder is not trusted
    code, _, said = ragforge("ingest", "--scip", "bad.scip")
    assert code == 1
    assert "bad.scip is not an index in the SCIP format, or is damaged." in said
    code, _, said = ragforge("ingest", "--scip", "index.scip")
    assert code == 0
    assert "index.scip: exact relations of 1 files." in said
    assert "Changed since, so found by names: src/store.ts." in said
    code, shown, _ = ragforge("ingest", "--json")
    assert json.loads(shown)["scip"] == {
        "file": str(root / "index.scip"),
        "used": 1,
        "changed": ["src/store.ts"],
    }
    code, shown, _ = ragforge("explore", "checkout", "-r", "callees", "--json")
    assert json.loads(shown)["callees"] == ["src/store.ts: Store.save:2"]
    assert ragforge("ingest", "src/cart.ts", "--scip", "index.scip")[0] == 2
