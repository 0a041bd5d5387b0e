"""The desk benchmark: labels come from what agents really did, and a small replay works."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.desk import documents, silence, ways
from benchmarks.desk.__main__ import measure, parse_options
from benchmarks.desk.deeds import Paths, Turn, read_turns
from benchmarks.desk.labels import History, names_something
from benchmarks.desk.sessions import CHECKPOINTS, merge, read_logs

CWD = "/home/ann/shop"
PATHS = Paths.of(("shop/basket.py", "shop/prices.py", "README.md"), (CWD,))
TOTAL = """def total_of(basket):
    prices = [price_of(item) for item in basket.items]
    discount = find_discount_of(basket.owner)
    return sum(prices) - discount
"""

Entry = dict[str, Any]


def say(at: str, text: str, session: str = "s1", **extra: Any) -> Entry:
    message = {"role": "user", "content": text}
    return _line(at, "user", message, session, **extra)


def do(at: str, tool: str, session: str = "s1", **given: Any) -> Entry:
    block = {"type": "tool_use", "id": f"call-{at}", "name": tool, "input": given}
    return _line(at, "assistant", {"role": "assistant", "content": [block]}, session)


def fail(at: str, call: str) -> Entry:
    block = {"type": "tool_result", "tool_use_id": f"call-{call}", "is_error": True}
    return _line(at, "user", {"role": "user", "content": [block]}, "s1")


def _line(at: str, kind: str, message: Entry, session: str, **extra: Any) -> Entry:
    about = {"type": kind, "uuid": f"{session}-{at}", "sessionId": session, "cwd": CWD}
    return {**about, "timestamp": f"2026-01-{at}Z", "message": message, **extra}


def read(folder: Path, entries: Sequence[Entry]) -> list[Turn]:
    text = "".join(json.dumps(entry) + "\n" for entry in entries)
    (folder / "s1.jsonl").write_text(text)
    return [turn for log in read_logs(folder) for turn in read_turns(log, PATHS)]


def edit(at: str, session: str = "s1", old: str = TOTAL) -> Entry:
    return do(at, "Edit", session, file_path=f"{CWD}/shop/basket.py", old_string=old, new_string="")


def test_failed_edits_and_what_the_user_did_not_type_make_no_deeds(tmp_path: Path) -> None:
    (turn,) = read(
        tmp_path,
        [
            say("02T09:00", "Repair the total"),
            edit("02T09:01"),
            fail("02T09:02", "02T09:01"),
            say("02T09:03", "A summary of all before", isCompactSummary=True),
            do("02T09:04", "Edit", file_path=f"{CWD}/README.md", old_string="a", new_string="b"),
        ],
    )
    assert turn.edited == {"README.md"}


def test_edits_in_place_count_for_few_named_files_only(tmp_path: Path) -> None:
    turns = read(
        tmp_path,
        [
            say("02T09:00", "Rename it"),
            do("02T09:01", "Bash", command="sed -i s/a/b/ shop/basket.py README.md"),
            say("02T09:02", "Rename it everywhere"),
            do("02T09:03", "Bash", command="sed -i s/a/b/ shop/*.py README.md"),
        ],
    )
    assert [turn.edited for turn in turns] == [{"shop/basket.py", "README.md"}, set()]


def test_a_sub_agents_edits_belong_to_the_turn_that_started_it(tmp_path: Path) -> None:
    inner = edit("02T09:01")
    told = {**inner, "type": "progress", "data": {"type": "agent_progress", "message": inner}}
    del told["message"]
    (turn,) = read(tmp_path, [say("02T09:00", "Repair the total"), told])
    assert turn.edited == {"shop/basket.py"}


def test_slash_commands_and_repeated_prompts_are_not_asked(tmp_path: Path) -> None:
    turns = read(
        tmp_path,
        [
            say("02T09:00", "<command-name>/fix</command-name><command-args>it</command-args>"),
            edit("02T09:01"),
            say("02T09:02", "go on"),
            edit("02T09:03"),
            say("02T09:04", "go  on"),
            edit("02T09:05"),
        ],
    )
    assert [turn.at for turn in History.of(turns).list_askable()] == ["2026-01-02T09:02Z"]


def test_turns_of_other_sessions_that_edited_the_same_lines_are_strong(tmp_path: Path) -> None:
    turns = read(
        tmp_path,
        [
            say("02T09:00", "Repair the total", "s1"),
            edit("02T09:01", "s1"),
            say("02T10:00", "Change another thing", "s2"),
            edit("02T10:01", "s2", "something_else_entirely(here)\nwith_two(lines)"),
            say("03T09:00", "Subtract what is off", "s3"),
            edit("03T09:01", "s3"),
        ],
    )
    history = History.of(turns)
    label = history.label(turns[2], turns[2].at, frozenset({"shop/basket.py"}))
    assert list(label.strong) == ["s1-02T09:00"]
    assert label.same_file == {"s1-02T09:00", "s2-02T10:00"}
    assert label.edited == label.fresh == {"shop/basket.py"}
    before = history.label(turns[2], turns[0].at, frozenset())
    assert not before.strong
    assert not before.edited


def test_snapshots_of_a_session_become_one_transcript() -> None:
    first, second, third = (
        json.dumps(say(f"02T09:0{number}", "word")).encode() for number in range(3)
    )
    assert merge([first + b"\n{broken", second + b"\n" + first, third]) == [first, second, third]


def test_a_prompt_names_something_if_it_has_a_path_or_an_identifier() -> None:
    assert names_something("Look at shop/basket.py")
    assert names_something("Why does total_of fail?")
    assert not names_something("Yes, let's do this. See https://example.org/a/b_c.py")


def test_a_prompt_is_shown_if_it_follows_its_sessions_id() -> None:
    text = "[2026-01-02, session 1234abcd]\nuser: yes please\nanswer: Done.\n"
    assert re.search(ways.make_pattern("1234abcd", "yes please"), text, re.DOTALL)
    assert not re.search(ways.make_pattern("1234abcd", "yes"), text, re.DOTALL)
    assert not re.search(ways.make_pattern("5678abcd", "yes please"), text, re.DOTALL)


def test_folders_of_sessions_are_traced_to_their_clone() -> None:
    files = ("shop/basket.py", "web/site/index.html")
    paths = Paths.of(files, ("/a/shop", "/b/clone", "/b/clone/web", "/c/clone/web/site"))
    assert set(paths.roots) == {"/a/shop", "/b/clone", "/c/clone"}
    assert paths.find("/b/clone/web/site/index.html") == "web/site/index.html"
    assert paths.find("site/index.html", "/b/clone/web") == "web/site/index.html"
    assert paths.find("/elsewhere/index.html") is None


def make_repository(folder: Path) -> Path:
    """Make a repository that keeps the transcripts of three sessions."""
    git(folder.parent, "init", "-q", "-b", "main", str(folder))
    (folder / "shop").mkdir()
    (folder / "shop" / "basket.py").write_text(TOTAL)
    commit(folder, "Begin")
    git(folder, "checkout", "-q", "--orphan", CHECKPOINTS)
    for number, words in enumerate(
        ("The total of a basket forgets the discount", "Round the total of a basket", "ok do it"), 1
    ):
        name, day = f"s{number}", f"0{number + 1}"
        place = folder / "aa" / str(number)
        place.mkdir(parents=True)
        entries = [say(f"{day}T09:00", words, name), edit(f"{day}T09:01", name)]
        text = "".join(json.dumps(entry) + "\n" for entry in entries)
        (place / "full.jsonl").write_text(text)
        about = {"session_id": f"2026-01-{day}-{name}", "created_at": f"2026-01-{day}T10:00:00Z"}
        (place / "metadata.json").write_text(json.dumps(about))
    commit(folder, "Checkpoints")
    git(folder, "checkout", "-q", "main")
    return folder


def commit(folder: Path, message: str) -> None:
    git(folder, "add", "--all")
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    git(folder, *who, "commit", "-q", "-m", message)


def git(folder: Path, *arguments: str) -> None:
    when = "2026-01-01T00:00:00Z"
    environ = {"PATH": "/usr/bin:/bin", "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, env=environ)


async def test_a_small_replay_finds_the_turn_that_edited_the_same_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts = [silence.Prompt("dev", "en", "talk", "thanks!")]
    monkeypatch.setattr(silence, "read_prompts", lambda: prompts)
    repository = make_repository(tmp_path / "shop")
    cache = str(tmp_path / "cache")
    options = parse_options([str(repository), "--cut-offs", "2", "--cache", cache])
    everything = await measure(options)
    assert everything["turns"] == 3
    assert everything["questions"]["questions"] == {}  # none is about this repository
    assert everything["silence"]["dev"]["hook"] == 0.0
    listed = everything["documents"]
    assert listed["prompts"] == 0  # nothing but code was edited
    assert listed["ways"][documents.PRODUCT]["silence"] == 0.0
    results = everything["foresight"]
    assert results["prompts"] == 3
    assert results["prompts that name something"] == 0
    assert results["all"][ways.BM25]["strong@5"] == 0.5  # "ok do it" has no word of it
    assert results["all"][ways.NEWEST]["strong@5"] == 1.0
    assert results["all"][ways.CODE]["edited"] == 1.0
    assert results["all"][ways.MAX_FILES]["edited"] == 0.667  # the first has no past


def test_documents_and_configuration_are_scored_apart_from_code() -> None:
    listed = documents.Listed(["README.md", "README.md", "shop/basket.py", "go.mod"], 200)
    wanted = frozenset(("README.md", ".github/workflows/ci.yml"))

    assert documents.score(listed, wanted) == {"edited": 0.5, "files": 2.0, "chars": 200.0}
    assert documents.score(listed, frozenset()) == {"files for code": 2.0}
    assert not documents.is_document("shop/basket.py")
    assert not documents.is_document("go.sum")
    assert documents.is_document("Makefile")
