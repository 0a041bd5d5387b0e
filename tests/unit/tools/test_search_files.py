"""search_files: lines and file names that are nearly what was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragforge.errors import InputError
from ragforge.tools.grep_files import Matches
from ragforge.tools.search_files import SearchArguments, search_files
from ragforge.tools.workspace import Workspace
from tests.unit.tools.conftest import write


async def search(workspace: Workspace, query: str, pattern: str = "**/*", **more: Any) -> Matches:
    given = SearchArguments(pattern=pattern, query=query, **more)
    return await search_files(workspace, given, seconds=60)


def places(found: Matches) -> list[tuple[str, int]]:
    return [(match.file, match.line) for match in found.matches]


async def test_a_typo_finds_what_was_meant(workspace: Workspace) -> None:
    found = await search(workspace, "authentification")

    [best] = found.matches
    assert (best.file, best.line) == ("src/auth.py", 8)
    assert best.match == "AuthenticationError"
    assert best.content == "class AuthenticationError(Exception):"
    assert best.similarity == 0.875


async def test_the_style_of_a_name_makes_no_difference(workspace: Workspace) -> None:
    found = await search(workspace, "username")

    assert places(found) == [("src/deep/models.py", 2), ("src/users.ts", 1)]
    assert {match.similarity for match in found.matches} == {1.0}


async def test_file_names_are_found_as_well(workspace: Workspace) -> None:
    [match] = (await search(workspace, "modles")).matches

    assert (match.file, match.line, match.in_name) == ("src/deep/models.py", 1, True)
    assert match.match == "models"
    assert match.to_json()["in_name"] is True


async def test_a_path_is_found_by_words_with_a_slash(workspace: Workspace) -> None:
    found = await search(workspace, "deep/modles")

    assert [match.file for match in found.matches if match.in_name] == ["src/deep/models.py"]


async def test_the_most_similar_come_first_then_by_file_then_by_line(
    workspace: Workspace, root: Path
) -> None:
    write(root, {"b.txt": "reciever\nreceiver\nreceiver\n", "a.txt": "receiver\n", "c.txt": "x"})

    found = await search(workspace, "receiver", "*.txt")

    assert places(found) == [("a.txt", 1), ("b.txt", 2), ("b.txt", 3), ("b.txt", 1)]
    similar = [match.similarity or 0 for match in found.matches]
    assert similar == sorted(similar, reverse=True)


async def test_what_is_less_similar_than_the_threshold_is_left_out(
    workspace: Workspace,
) -> None:
    assert not (await search(workspace, "authentification", threshold=0.95)).matches


async def test_a_word_that_is_everywhere_gives_the_first_files_of_the_nearest(
    workspace: Workspace, root: Path
) -> None:
    write(root, {f"many/{number:04}.txt": "common commen\n" * 5 for number in range(600)})
    write(root, {"zzz.txt": "comon\n"})

    found = await search(workspace, "common", max_results=3)

    assert places(found) == [("many/0000.txt", line) for line in (1, 2, 3)]
    assert found.truncated


async def test_several_words_must_be_in_one_line(workspace: Workspace, root: Path) -> None:
    write(root, {"log.txt": "connection reset\nthe conection was refused\nrefused\nconnection\n"})

    found = await search(workspace, "connection refused", "*.txt")

    assert places(found) == [("log.txt", 2)]


async def test_context_lines_come_with_a_match_and_with_a_name(workspace: Workspace) -> None:
    [line, *_] = (await search(workspace, "authentification", context_lines=1)).matches
    [name] = (await search(workspace, "modles", context_lines=50)).matches

    assert (line.start_line, line.end_line) == (7, 9)
    assert line.content == "\nclass AuthenticationError(Exception):\n    pass"
    assert (name.start_line, name.end_line) == (1, 2)
    assert name.content == "class User:\n    user_name = None"


async def test_words_of_other_scripts_are_found(workspace: Workspace, root: Path) -> None:
    write(root, {"a.txt": "подключение закрыто\n", "b.txt": "désactivée\n"})

    assert places(await search(workspace, "подключние")) == [("a.txt", 1)]
    assert places(await search(workspace, "desactivée")) == [("b.txt", 1)]


async def test_a_query_without_words_is_a_clear_error(workspace: Workspace) -> None:
    with pytest.raises(InputError, match="has no words in it"):
        await search(workspace, "->")


async def test_nothing_found_is_not_an_error(workspace: Workspace) -> None:
    found = await search(workspace, "quetzalcoatl")

    assert found == Matches((), 4, 0)


async def test_ignored_and_binary_files_are_left_out(workspace: Workspace, root: Path) -> None:
    write(root, {".gitignore": "*.log\n", "a.log": "zeppelin", "zeppelin.png": b"\x89PNG"})
    write(root, {"b.dat": b"zeppelin\0\n"})

    assert not (await search(workspace, "zepelin")).matches
