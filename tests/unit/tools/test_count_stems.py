"""How often the words of a question occur in files."""

from __future__ import annotations

from pathlib import Path

from ragforge.tools.confine import Root
from ragforge.tools.scan import count_stems
from tests.fakes.projects import write


async def test_stems_are_counted_in_any_case_and_inside_names(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.py": "def setCookie(cookies):\n    return COOKIE\n",
            "b.py": "policies = read_policy()\n",
            "c.py": "nothing = 1\n",
        },
    )
    files = ["a.py", "b.py", "c.py"]

    found = await count_stems(Root.at(tmp_path), files, ["cooki", "polici"], 10)

    assert found == {"a.py": {"cooki": 3}, "b.py": {"polici": 2}}


async def test_a_short_stem_is_a_separate_word(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "set_x = set()\nreset = offset\n"})

    assert await count_stems(Root.at(tmp_path), ["a.py"], ["set"], 10) == {"a.py": {"set": 2}}


async def test_a_path_cannot_become_an_option(tmp_path: Path) -> None:
    write(tmp_path, {"--help": "cookie\n"})

    found = await count_stems(Root.at(tmp_path), ["--help"], ["cooki"], 10)

    assert found == {"--help": {"cooki": 1}}
