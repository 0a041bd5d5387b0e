"""Edits: the files that a call writes, whatever the tool is called."""

from __future__ import annotations

import json

import pytest

from ragforge.transcripts.edits import find_edits

PATCH = """*** Begin Patch
*** Update File: cart.py
*** Move to: basket.py
@@
-a
+b
*** Delete File: old.py
*** Add File: new.py
+x = 1
*** End Patch"""
PATCHED = ["cart.py", "basket.py", "old.py", "new.py"]


def list_files(name: str, arguments: object) -> list[str]:
    return [change.path for change in find_edits(name, arguments)]


@pytest.mark.parametrize(
    ("name", "arguments", "files"),
    [
        ("Write", {"file_path": "/a.py", "content": "x"}, ["/a.py"]),
        ("MultiEdit", {"file_path": "/a.py", "edits": [{"old_string": "a"}]}, ["/a.py"]),
        ("NotebookEdit", {"notebook_path": "/a.ipynb"}, ["/a.ipynb"]),
        ("edit_notebook", {"target_notebook": "a.ipynb"}, ["a.ipynb"]),
        ("mcp__acp__Edit", {"file_path": "/a.py"}, ["/a.py"]),
        ("mcp__filesystem__move_file", {"path": "a", "destination": "b"}, ["a", "b"]),
        ("edit_file", {"edits": [{"path": "a.py"}, {"path": "b.py"}]}, ["a.py", "b.py"]),
        ("appliedDiff", {"batchDiffs": [{"path": "a.py"}, {"path": "b.py"}]}, ["a.py", "b.py"]),
        ("replace_file_content", {"TargetFile": "/a.go"}, ["/a.go"]),
        ("Delete", {"path": "a.py"}, ["a.py"]),
        ("str_replace_editor", {"command": "view", "path": "a.py"}, []),
        ("Read", {"file_path": "a.py"}, []),
        ("Write", {"file_path": "x" * 10_000}, []),
        ("Write", {"path": "patches.md", "content": PATCH}, ["patches.md"]),
        ("apply_patch", PATCH, PATCHED),
        ("apply_patch", {"input": PATCH}, PATCHED),
        ("apply_patch", {"patchText": PATCH.replace("\n", "\r\n")}, PATCHED),
        ("shell", {"command": ["apply_patch", PATCH]}, PATCHED),
        ("shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"]}, PATCHED),
        ("exec_command", {"cmd": f"apply_patch <<EOF\n{PATCH}\nEOF\npytest"}, PATCHED),
        ("local_shell", {"type": "exec", "command": ["apply_patch", PATCH]}, PATCHED),
    ],
)
def test_a_call_writes_the_files_that_its_arguments_name(
    name: str, arguments: object, files: list[str]
) -> None:
    assert list_files(name, arguments) == files


@pytest.mark.parametrize(
    ("arguments", "folder"),
    [
        ({"command": ["apply_patch", PATCH], "workdir": "/work/shop/web"}, "/work/shop/web"),
        ({"command": f"cd web && apply_patch <<'EOF'\n{PATCH}\nEOF"}, "web"),
        ({"cmd": f"cd 'my web' && apply_patch <<EOF\n{PATCH}\nEOF", "workdir": "/w"}, "/w/my web"),
    ],
)
def test_the_paths_of_a_patch_begin_where_the_command_runs(arguments: object, folder: str) -> None:
    assert list_files("shell", arguments) == [f"{folder}/{name}" for name in PATCHED]


def test_deep_arguments_hold_no_patch() -> None:
    deep = json.loads("[" * 900 + "]" * 900)
    assert list_files("shell", {"command": deep}) == []
