"""The arguments of a tool call say which files another agent has read or changed."""

from __future__ import annotations

from typing import Any

import pytest

from ragforge.app.hook.call import MAX_FILES, list_files

PATCH = """*** Begin Patch
*** Update File: src/a.py
@@
-old
+new *** Update File: no.py
*** Add File: b.py
+x
*** End Patch"""


@pytest.mark.parametrize(
    ("tool", "given", "files"),
    [
        ("Read", {"file_path": "/p/a.py", "limit": 5}, ("/p/a.py",)),
        ("Edit", {"file_path": "/p/a.py", "old_string": "path"}, ("/p/a.py",)),
        ("NotebookEdit", {"notebook_path": "/p/a.ipynb"}, ("/p/a.ipynb",)),
        ("read_file", {"absolute_path": "/p/a.py"}, ("/p/a.py",)),
        ("replace", {"file_path": "./x/../a.py"}, ("/p/a.py",)),
        ("apply_patch", {"command": PATCH}, ("/p/src/a.py", "/p/b.py")),
        ("apply_patch", PATCH, ("/p/src/a.py", "/p/b.py")),
        ("Bash", {"command": PATCH}, ()),
        ("Grep", {"path": "/p"}, ()),
        ("Read", {"file_path": 5}, ()),
        ("Read", "a.py", ()),
        (None, None, ()),
        ("Read", {"file_path": "x" * 5_000}, ()),
    ],
)
def test_files_are_those_that_the_arguments_name(
    tool: Any, given: Any, files: tuple[str, ...]
) -> None:
    assert list_files(tool, given, "/p") == files


def test_a_patch_of_many_files_names_the_first() -> None:
    patch = "\n".join(f"*** Add File: f{number}.py" for number in range(50))

    assert len(list_files("apply_patch", {"input": patch}, "/p")) == MAX_FILES
