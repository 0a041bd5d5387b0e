"""grep_files: what matches, where, and how it is shown."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from ragforge.errors import BadPattern, OutsideProject
from ragforge.tools.grep_files import FileMatch, GrepArguments, Matches, grep_files
from ragforge.tools.workspace import Workspace
from tests.unit.tools.conftest import write


async def grep(workspace: Workspace, regex: str, pattern: str = "**/*", **more: Any) -> Matches:
    given = GrepArguments(pattern=pattern, regex=regex, **more)
    return await grep_files(workspace, given, seconds=60)


async def test_a_match_tells_file_line_content_and_what_matched(workspace: Workspace) -> None:
    found = await grep(workspace, r"def auth\w+", "**/*.py")

    assert found == Matches(
        matches=(
            FileMatch(
                "src/auth.py", 4, "def authenticate(user, password):", "def authenticate", 4, 4
            ),
        ),
        files_searched=2,
        total_matches=1,
    )


async def test_the_result_is_json_with_the_names_that_a_model_sees(workspace: Workspace) -> None:
    found = (await grep(workspace, "jwt")).to_json()

    assert found == {
        "matches": [
            {
                "file": "src/auth.py",
                "line": 1,
                "content": "import jwt",
                "match": "jwt",
                "startLine": 1,
                "endLine": 1,
            }
        ],
        "files_searched": 4,
        "total_matches": 1,
        "truncated": False,
    }


async def test_only_files_of_the_glob_are_searched(workspace: Workspace) -> None:
    found = await grep(workspace, "authenticate", "*.md")

    assert [match.file for match in found.matches] == ["README.md"]
    assert found.files_searched == 1


async def test_case_counts_by_default(workspace: Workspace) -> None:
    assert not (await grep(workspace, "AUTHENTICATE")).matches
    assert (await grep(workspace, "AUTHENTICATE", ignore_case=True)).total_matches == 2


async def test_context_shows_the_lines_around_and_which_they_are(workspace: Workspace) -> None:
    [match] = (await grep(workspace, "class Auth", context_lines=2)).matches

    assert (match.line, match.start_line, match.end_line) == (8, 6, 9)
    assert match.content == "\n\nclass AuthenticationError(Exception):\n    pass"


async def test_context_is_clipped_to_the_ends_of_the_file(workspace: Workspace) -> None:
    [match] = (await grep(workspace, "import jwt", context_lines=50)).matches

    assert (match.start_line, match.end_line) == (1, 9)


async def test_content_has_at_most_200_characters_with_the_match_in_sight(
    workspace: Workspace, root: Path
) -> None:
    write(root, {"long.txt": "a" * 1000 + "needle" + "b" * 1000})

    [match] = (await grep(workspace, "needle")).matches

    assert len(match.content) <= 200
    assert "aneedleb" in match.content


async def test_context_has_at_most_5000_characters_and_true_line_numbers(
    workspace: Workspace, root: Path
) -> None:
    lines = [f"{number:03} " + "x" * 300 for number in range(1, 101)]
    write(root, {"long.txt": "\n".join(lines)})

    [match] = (await grep(workspace, "^050", context_lines=50)).matches

    assert len(match.content) <= 5_000
    assert match.start_line <= 50 <= match.end_line
    assert match.content.split("\n") == lines[match.start_line - 1 : match.end_line]


async def test_a_long_line_in_context_is_cut_around_the_match(
    workspace: Workspace, root: Path
) -> None:
    write(root, {"long.txt": "first\n" + "é" * 20_000 + "needle" + "b" * 20_000 + "\nlast"})

    [match] = (await grep(workspace, "needle", context_lines=3)).matches

    assert len(match.content) <= 5_000
    assert "éneedleb" in match.content
    assert (match.start_line, match.end_line) == (2, 2)


async def test_there_are_at_most_as_many_matches_as_wanted_the_first_by_path(
    workspace: Workspace, root: Path
) -> None:
    write(root, {f"many/{number:04}.txt": "hit\nhit\n" for number in range(700)})

    found = await grep(workspace, "hit", max_results=5)

    places = [(match.file[-8:], match.line) for match in found.matches]
    assert places == [
        ("0000.txt", 1),
        ("0000.txt", 2),
        ("0001.txt", 1),
        ("0001.txt", 2),
        ("0002.txt", 1),
    ]
    assert found.truncated
    assert found.files_searched == 704


async def test_exactly_as_many_matches_as_wanted_are_not_truncated(workspace: Workspace) -> None:
    found = await grep(workspace, "authenticate", max_results=2)

    assert found.total_matches == 2
    assert not found.truncated


@pytest.mark.parametrize("regex", ["foo(", "[a", "*x", "(?P<n", r"a{2,1}"])
async def test_a_bad_regex_is_named_in_the_error(workspace: Workspace, regex: str) -> None:
    with pytest.raises(BadPattern) as caught:
        await grep(workspace, regex)

    assert repr(regex) in str(caught.value)
    assert len(str(caught.value)) < 300


async def test_a_bad_regex_is_an_error_even_where_no_file_is_selected(
    workspace: Workspace,
) -> None:
    with pytest.raises(BadPattern):
        await grep(workspace, "foo(", "*.nothing")
    assert (await grep(workspace, "foo", "*.nothing")).files_searched == 0


async def test_a_glob_that_leads_out_is_refused(workspace: Workspace) -> None:
    with pytest.raises(OutsideProject):
        await grep(workspace, "root", "/etc/*")


async def test_looking_around_and_back_is_possible(workspace: Workspace) -> None:
    found = await grep(workspace, r"(?<=def )auth\w+(?=\()|(s)\1word")

    assert [match.match for match in found.matches] == ["authenticate", "ssword"]


async def test_a_regex_may_look_like_an_option(workspace: Workspace, root: Path) -> None:
    write(root, {"options.txt": "use --files here\n"})

    assert (await grep(workspace, "--files")).total_matches == 1


async def test_ignored_files_are_not_searched_and_ragforge_rules_override_others(
    workspace: Workspace, root: Path
) -> None:
    write(root, {".gitignore": "*.log\n", ".ragforgeignore": "!kept.log\nsecret/\n"})
    write(root, {"a.log": "hit", "kept.log": "hit", "secret/b.py": "hit"})
    write(root, {"node_modules/x.js": "hit", ".git/config": "hit"})

    assert [match.file for match in (await grep(workspace, "^hit")).matches] == ["kept.log"]


async def test_binary_files_are_skipped_and_a_late_nul_does_not_make_one(
    workspace: Workspace, root: Path
) -> None:
    write(root, {"a.bin": b"hit\0\nhit\n", "late.txt": b"hit\n" + b"x\n" * 9000 + b"\0\nhit\n"})

    found = await grep(workspace, "hit")

    assert [(match.file, match.line) for match in found.matches] == [
        ("late.txt", 1),
        ("late.txt", 9003),
    ]


async def test_line_ends_encodings_and_missing_last_ends_make_no_difference(
    workspace: Workspace, root: Path
) -> None:
    write(root, {"crlf.txt": "one\r\nhit é\r\n", "end.txt": "hit é", "bom.txt": "\ufeffhit é\n"})
    write(root, {"utf16.txt": "one\r\nhit é\r\n".encode("utf-16"), "old.txt": b"hit \xe9\n"})

    found = await grep(workspace, "^hit", "*.txt")
    ends = await grep(workspace, "^hit .$", "{crlf,end,bom,utf16}.txt")

    assert [(match.file, match.line, match.content) for match in found.matches] == [
        ("bom.txt", 1, "hit é"),
        ("crlf.txt", 2, "hit é"),
        ("end.txt", 1, "hit é"),
        ("old.txt", 1, "hit é"),
        ("utf16.txt", 2, "hit é"),
    ]
    assert ends.total_matches == 4


async def test_odd_names_are_searched_and_returned_as_they_are(
    workspace: Workspace, root: Path
) -> None:
    names = ["-", "--pre=x", "a b.py", "new\nline.py", "ünïcode 中.py", "'\"`$(x).py", "*.py"]
    write(root, dict.fromkeys(names, "hit\n"))

    found = await grep(workspace, "^hit")

    assert [match.file for match in found.matches] == sorted(names)


async def test_what_the_user_configured_for_ripgrep_does_not_count(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rc").write_text("--invert-match\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rc"))

    assert (await grep(workspace, "import jwt")).total_matches == 1


async def test_searches_may_run_together(workspace: Workspace) -> None:
    found = await asyncio.gather(*(grep(workspace, "authenticate") for _ in range(5)))

    assert {len(each.matches) for each in found} == {2}


async def test_a_search_again_sees_what_changed_meanwhile(workspace: Workspace, root: Path) -> None:
    for path in (root, *root.rglob("*")):
        os.utime(path, (1_600_000_000, 1_600_000_000))  # so that the first look is remembered
    assert (await grep(workspace, "hit", "*.txt")).files_searched == 0

    write(root, {"src/new.txt": "hit\n"})
    added = await grep(workspace, "hit", "*.txt")
    write(root, {".gitignore": "*.txt\n"})
    ignored = await grep(workspace, "hit", "*.txt")

    assert [match.file for match in added.matches] == ["src/new.txt"]
    assert not ignored.matches
