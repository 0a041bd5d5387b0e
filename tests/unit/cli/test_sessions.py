"""`ragforge sessions`: how sessions look, and what its commands do to a store."""

from __future__ import annotations

import asyncio
import io
import json
import stat
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.conversations import ConversationChanges, Message
from ragforge.domain.schema import CONVERSATION, MESSAGE, SUMMARY
from ragforge.domain.work import NewJob
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.store import Store
from ragforge.search.words.tokenise import WORDS
from tests.fakes.builders import (
    assistant,
    at,
    conversation,
    level_2,
    mention,
    reference,
    summary,
    tool_call,
    tool_result,
    user,
)
from tests.fakes.jobs import fail_job
from tests.unit.cli.conftest import Ragforge

Work = Callable[[Store], Awaitable[Any]]
InStore = Callable[[Work], Any]


@pytest.fixture
def in_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InStore:
    """Do something with the store that the commands use."""
    place = tmp_path / "store.db"
    monkeypatch.setenv("RAGFORGE_STORE", str(place))
    monkeypatch.setenv("RAGFORGE_EMBEDDINGS__MODEL", "none")

    def run(work: Work) -> Any:
        async def opened() -> Any:
            store = await open_sqlite(place, WORDS, REDACTOR)
            try:
                return await work(store)
            finally:
                await store.close()

        return asyncio.run(opened())

    return run


@pytest.fixture
def talk(in_store: InStore, project: Path) -> str:
    """A session of this directory, with two turns and two summaries."""
    uuid = "ab12cd34-0000"

    async def fill(store: Store) -> None:
        about = conversation(str(project.resolve()), uuid=uuid, title="Leases", tags=("jobs",))
        await store.records.put(CONVERSATION, about)
        failed = tool_call(
            "read_file", success=False, result=tool_result(None, error="no such file")
        )
        said: list[Message] = [
            user("Who renews\nthe lease?", uuid="turn-0", timestamp=at(0)),
            assistant("", tool_call(duration_ms=12), failed, uuid="step-0", timestamp=at(0)),
            assistant("The worker.", uuid="answer-0", timestamp=at(0)),
            user("And then?", uuid="turn-1", timestamp=at(1)),
        ]
        await store.timeline.append(uuid, said)
        await store.timeline.link(
            MESSAGE, "step-0", [reference("s", "src/worker.py", "Worker.keep")]
        )
        first = summary(uuid, uuid="l1-summary", key_findings=("Two beats may be lost.",))
        await store.timeline.save_summary(first)
        await store.timeline.save_summary(level_2([first], uuid="l2-summary"))
        await store.timeline.link(SUMMARY, "l1-summary", [], [mention("src/lease.py")])

    in_store(fill)
    return uuid


def other(in_store: InStore, uuid: str, **fields: Any) -> None:
    in_store(lambda store: store.records.put(CONVERSATION, conversation(uuid=uuid, **fields)))


def test_sessions_are_listed(ragforge: Ragforge, talk: str) -> None:
    shown = ragforge("sessions", "list")
    assert shown.code == 0
    assert shown.out.splitlines() == [
        "SESSION   STARTED           LAST ACTIVE       TURNS  TITLE         LAST MESSAGE",
        "ab12cd34  2026-01-05 12:00  2026-01-05 12:01  2      Leases #jobs  And then?",
    ]


def test_sessions_of_all_directories_name_theirs(
    ragforge: Ragforge, talk: str, in_store: InStore
) -> None:
    other(in_store, "else", cwd="/work/else")
    assert "else" not in ragforge("sessions", "list").out
    lines = ragforge("sessions", "list", "--all").out.splitlines()
    assert len(lines) == 3
    assert lines[2].startswith("else      /work/else")


def test_sessions_are_chosen_by_status_tag_and_number(
    ragforge: Ragforge, talk: str, in_store: InStore
) -> None:
    other(in_store, "old", status="archived", tags=("a",))
    other(in_store, "new", tags=("b", "c"), created_at=at(9))

    def listed(*options: str) -> list[str]:
        told = json.loads(ragforge("sessions", "list", "--all", "--json", *options).out)
        return [one["conversation_id"] for one in told["sessions"]]

    assert listed() == ["new", talk]
    assert listed("--status", "archived") == ["old"]
    assert listed("--status", "any") == ["new", talk, "old"]
    assert listed("--status", "any", "--tag", "a", "--tag", "c") == ["new", "old"]
    assert listed("--limit", "1") == ["new"]
    assert "--limit shows more" in ragforge("sessions", "list", "--all", "--limit", "1").err
    assert ragforge("sessions", "list", "--status", "lost").code == 2
    assert ragforge("sessions", "list", "--limit", "0").code == 2
    nothing = ragforge("sessions", "list", "--tag", "zebra")
    assert nothing.err == "There are no active sessions tagged zebra of this project. Try --all.\n"


def test_sessions_in_json_have_stable_keys(ragforge: Ragforge, talk: str, project: Path) -> None:
    (session,) = json.loads(ragforge("sessions", "list", "--json").out)["sessions"]
    assert session == {
        "conversation_id": talk,
        "title": "Leases",
        "summary": None,
        "status": "active",
        "cwd": str(project.resolve()),
        "project_path": str(project.resolve()),
        "tags": ["jobs"],
        "turn_count": 2,
        "created_at": "2026-01-05T12:00:00.000+00:00",
        "updated_at": "2026-01-05T12:01:00.000+00:00",
        "author": None,
        "agent": "ragforge",
        "agent_version": None,
        "agent_session": None,
        "git_branch": None,
        "parent_id": None,
        "visibility": "shared",
        "last_message": "And then?",
    }


def test_no_sessions_is_a_note_and_an_empty_list(ragforge: Ragforge, in_store: InStore) -> None:
    assert ragforge("sessions", "list").err.startswith("There are no active sessions of this")
    assert json.loads(ragforge("sessions", "list", "--json").out) == {"sessions": []}


def test_a_session_is_shown_with_its_turns_tools_states_and_summaries(
    ragforge: Ragforge, talk: str
) -> None:
    shown = ragforge("sessions", "show", "ab1")
    assert shown.code == 0
    for line in (
        "Leases",
        "  session     ab12cd34-0000",
        "  tags        jobs",
        "Turn 0  2026-01-05 12:00  turn-0  stored, summarised",
        "  Who renews",
        "  the lease?",
        '  → grep_files {"pattern": "**/*.py"}: 12 ms, 3 matches',
        '  → read_file {"pattern": "**/*.py"}: failed, 0 ms, no such file',
        "  The worker.",
        "Turn 1  2026-01-05 12:01  turn-1  stored",
        "Summary L1  turns 0 to 0  l1-summa  by extractive",
        "  Two beats may be lost.",
        "Summary L2  turns 0 to 0, made of l1-summa  l2-summa  by extractive",
    ):
        assert line in shown.out.splitlines(), line


def test_only_the_latest_turns_are_shown_when_asked(ragforge: Ragforge, talk: str) -> None:
    shown = ragforge("sessions", "show", "ab1", "--turns", "1")
    assert "Turn 1" in shown.out
    assert "Turn 0" not in shown.out
    assert shown.err == "1 of 2 turns is shown. --turns 2 shows all.\n"
    assert "Turn 1" not in ragforge("sessions", "show", "ab1", "--turns", "0").out


def test_long_texts_are_cut_unless_all_is_wanted(
    ragforge: Ragforge, talk: str, in_store: InStore
) -> None:
    in_store(lambda store: store.timeline.append(talk, [user("long " * 1_000 + "end")]))
    assert "end" not in ragforge("sessions", "show", "ab1").out
    assert "long end" in ragforge("sessions", "show", "ab1", "--full").out


def test_a_session_in_json_has_everything(ragforge: Ragforge, talk: str) -> None:
    shown = json.loads(ragforge("sessions", "show", talk, "--json").out)
    assert shown["conversation_id"] == talk
    first, second = shown["turns"]
    assert (first["question"], first["answer"]) == ("Who renews\nthe lease?", "The worker.")
    assert first["states"] == ["stored", "summarised"]
    assert [call["tool_name"] for call in first["tool_calls"]] == ["grep_files", "read_file"]
    assert [said["message_id"] for said in first["messages"]] == ["turn-0", "step-0", "answer-0"]
    assert second["states"] == ["stored"]
    assert [one["covers"] for one in shown["summaries"]] == [[0], []]
    assert shown["branch_of"] is None
    assert shown["failed_jobs"] == []


def test_a_turn_that_failed_says_so(ragforge: Ragforge, talk: str, in_store: InStore) -> None:
    async def fail(store: Store) -> None:
        from datetime import timedelta

        from ragforge.adapters.stores.holders import this_process

        holder = this_process()
        jobs = [NewJob("embed-turn:turn-1:m", "embed_turns"), NewJob(f"sum:{talk}:1", "summarise")]
        await store.jobs.enqueue(jobs)
        for _ in jobs:
            job = await store.jobs.claim(holder, timedelta(minutes=1))
            assert job is not None
            await fail_job(store, job.key, holder, f"{job.kind} broke", None)

    in_store(fail)
    shown = ragforge("sessions", "show", talk)
    assert "Turn 1  2026-01-05 12:01  turn-1  stored, failed" in shown.out
    assert "  embed_turns broke" in shown.out
    assert shown.err == "A job failed permanently: summarise: summarise broke\n"


def test_stored_text_cannot_steer_the_terminal(
    ragforge: Ragforge, talk: str, in_store: InStore
) -> None:
    evil = "\x1b[2Jgone\u202e"
    in_store(lambda store: store.timeline.append(talk, [user(evil)]))
    for command in (("list",), ("show", talk), ("similar", "gone"), ("about", evil)):
        shown = ragforge("sessions", *command)
        assert "\x1b" not in shown.out + shown.err, command


@pytest.mark.parametrize(
    "command",
    [
        ("show", "zz"),
        ("export", "zz"),
        ("branch", "zz", "--from", "0"),
        ("archive", "ab12", "zz"),
        ("unarchive", "zz"),
        ("tag", "zz", "t"),
        ("untag", "zz", "t"),
        ("rename", "zz", "t"),
        ("delete", "ab12", "zz", "--yes"),
    ],
    ids=lambda command: command[0],
)
def test_an_unknown_session_is_reported_in_one_sentence_and_changes_nothing(
    ragforge: Ragforge, talk: str, command: tuple[str, ...]
) -> None:
    before = ragforge("sessions", "show", talk, "--json").out
    shown = ragforge("sessions", *command)
    assert shown.code == 1
    assert shown.out == ""
    assert shown.err.startswith("No session has an id that starts with 'zz'. `ragforge sessions")
    assert ragforge("sessions", "show", talk, "--json").out == before


def test_an_ambiguous_start_names_the_candidates(
    ragforge: Ragforge, talk: str, in_store: InStore
) -> None:
    other(in_store, "ab99", title="Another")
    shown = ragforge("sessions", "show", "ab")
    assert shown.code == 1
    assert shown.err == (
        "Several sessions start with 'ab': ab12cd34-0000 (Leases); ab99 (Another). "
        "Give more of the id.\n"
    )


def test_a_branch_is_made_and_linked(ragforge: Ragforge, talk: str) -> None:
    made = ragforge("sessions", "branch", "ab1", "--from", "0", "--json")
    branch = json.loads(made.out)
    assert (branch["title"], branch["turn_count"]) == ("Leases (branch)", 1)
    assert branch["branch_of"] == talk
    assert (
        f"  branches    {branch['conversation_id'][:8]}"
        in ragforge("sessions", "show", talk).out.splitlines()
    )
    again = ragforge("sessions", "branch", "ab1", "--from", "answer-0", "--title", "Mine")
    assert "(Mine) branches from ab12cd34 (Leases), with 1 turn." in again.err
    assert ragforge("sessions", "branch", "ab1", "--from", "9").code == 1
    assert ragforge("sessions", "branch", "ab1").code == 2


def test_an_export_goes_to_stdout_or_to_a_private_file(
    ragforge: Ragforge, talk: str, tmp_path: Path
) -> None:
    shown = ragforge("sessions", "export", "ab1")
    target = tmp_path / "out.json"
    target.write_text("something older")
    written = ragforge("sessions", "export", "ab1", "-o", str(target))
    assert (shown.code, shown.err, written.out) == (0, "", "")
    assert target.read_text("utf-8") == shown.out
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert written.err == f"Wrote {target.stat().st_size:,} bytes to {target}.\n"
    assert json.loads(shown.out)["format"] == "ragforge.conversation"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_an_export_that_cannot_be_written_is_reported_in_one_sentence(
    ragforge: Ragforge, talk: str, tmp_path: Path
) -> None:
    shown = ragforge("sessions", "export", "ab1", "-o", str(tmp_path / "no" / "x.json"))
    assert shown.code == 1
    assert shown.err.endswith("x.json cannot be written: No such file or directory.\n")


def test_what_was_exported_is_imported_again(ragforge: Ragforge, talk: str, tmp_path: Path) -> None:
    target = str(tmp_path / "out.json")
    ragforge("sessions", "export", talk, "-o", target)
    before = ragforge("sessions", "export", talk).out
    refused = ragforge("sessions", "import", target)
    assert refused.code == 1
    assert refused.err == (
        "There is already a conversation 'ab12cd34-0000'. Nothing was changed. "
        "--as-new imports a copy with new ids.\n"
    )
    assert ragforge("sessions", "delete", talk, "--yes").code == 0
    done = ragforge("sessions", "import", target)
    assert done.err.startswith("Imported ab12cd34 (Leases) with 2 turns into ")
    after = ragforge("sessions", "export", talk).out
    assert after.splitlines()[4:] == before.splitlines()[4:], "all but whose it is"


def test_a_copy_is_imported_into_this_directory(
    ragforge: Ragforge, talk: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = ragforge("sessions", "export", talk).out.encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    monkeypatch.chdir(tmp_path)
    done = json.loads(ragforge("sessions", "import", "-", "--as-new", "--here", "--json").out)
    assert done["conversation_id"] != talk
    assert done["cwd"] == done["project_path"] == str(tmp_path.resolve())
    assert (done["turn_count"], done["redacted"]) == (2, 0)


@pytest.mark.parametrize("content", [None, b"", b"{}", b"\xff", b'{"format": 1}', b"[" * 5_000])
def test_a_bad_import_is_reported_in_one_sentence_and_changes_nothing(
    ragforge: Ragforge, talk: str, tmp_path: Path, content: bytes | None
) -> None:
    before = ragforge("sessions", "list", "--all", "--status", "any", "--json").out
    file = tmp_path / "bad.json"
    if content is not None:
        file.write_bytes(content)
    shown = ragforge("sessions", "import", str(file))
    assert (shown.code, shown.out) == (1, "")
    assert "cannot be " in shown.err
    assert "Traceback" not in shown.err
    assert ragforge("sessions", "list", "--all", "--status", "any", "--json").out == before


def test_sessions_are_archived_and_brought_back(ragforge: Ragforge, talk: str) -> None:
    assert ragforge("sessions", "archive", "ab1").err == "ab12cd34 (Leases) is archived.\n"
    assert "(archived)" in ragforge("sessions", "list", "--status", "any").out
    told = json.loads(ragforge("sessions", "unarchive", "ab1", "--json").out)
    assert told["sessions"][0]["status"] == "active"


def test_sessions_are_tagged_and_renamed(ragforge: Ragforge, talk: str) -> None:
    assert ragforge("sessions", "tag", "ab1", "x", "jobs").err == (
        "ab12cd34 (Leases) is tagged jobs, x.\n"
    )
    assert ragforge("sessions", "untag", "ab1", "x", "jobs").err == (
        "ab12cd34 (Leases) has no tags.\n"
    )
    assert ragforge("sessions", "tag", "ab1", " ").code == 1
    assert ragforge("sessions", "tag", "ab1").code == 2
    assert ragforge("sessions", "rename", "ab1", "New name").err == (
        "It is ab12cd34 (New name) now.\n"
    )
    assert ragforge("sessions", "rename", "ab1", " ").code == 1


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1), ("", 1)])
def test_deleting_asks_in_a_terminal(
    ragforge: Ragforge, talk: str, monkeypatch: pytest.MonkeyPatch, answer: str, code: int
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    shown = ragforge("sessions", "delete", "ab1")
    assert shown.code == code
    assert "Delete ab12cd34 (Leases) with 2 turns?" in shown.err
    left = json.loads(ragforge("sessions", "list", "--json").out)["sessions"]
    assert len(left) == (0 if code == 0 else 1)


def test_deleting_without_a_terminal_needs_a_yes(
    ragforge: Ragforge, talk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    shown = ragforge("sessions", "delete", "ab1")
    assert shown.code == 2
    assert "add --yes" in shown.err
    assert ragforge("sessions", "delete", "ab1", "ab12", "--yes").err == (
        "Deleted ab12cd34 (Leases).\n"
    )


def test_similar_sessions_are_found_by_words(ragforge: Ragforge, talk: str) -> None:
    shown = ragforge("sessions", "similar", "lease renewal")
    first, second = shown.out.splitlines()
    assert first.startswith("ab12cd34  1.00  words  2026-01-05 12:01  Leases")
    assert second == "  turn 0: Who renews the lease?"
    (found,) = json.loads(ragforge("sessions", "similar", "lease", "--json").out)["sessions"]
    assert (found["conversation_id"], found["turn_index"]) == (talk, 0)
    assert ragforge("sessions", "similar", "giraffe").err == "Nothing found. Try --all.\n"
    assert ragforge("sessions", "similar", " ").code == 2


def test_what_a_session_was_about_is_listed_and_shown(
    ragforge: Ragforge, in_store: InStore, talk: str
) -> None:
    assert "ABOUT" not in ragforge("sessions", "list").out
    changes = ConversationChanges(summary="A worker renews\nits lease.")
    in_store(lambda store: store.records.update(CONVERSATION, talk, changes))

    heads, row = ragforge("sessions", "list").out.splitlines()
    assert row[heads.index("ABOUT") :].startswith("A worker renews its lease.")
    similar = ragforge("sessions", "similar", "lease renewal").out.splitlines()
    assert similar[1] == "  A worker renews its lease."
    assert "A worker renews its lease." in ragforge("sessions", "show", talk).out


def test_sessions_about_code_are_found(ragforge: Ragforge, talk: str) -> None:
    for subject in ("Worker.keep", "keep", "src/worker.py", "./src/lease.py"):
        shown = ragforge("sessions", "about", subject)
        assert shown.out.splitlines()[0].startswith("ab12cd34"), subject
    shown = ragforge("sessions", "about", "keep")
    head, turn, since = shown.out.splitlines()
    assert head == "ab12cd34  2026-01-05 12:01  Leases"
    assert turn == "  turn 0  2026-01-05 12:00  named  Worker.keep  src/worker.py"
    assert since == "    gone"  # the project was read first
    (found,) = json.loads(ragforge("sessions", "about", "keep", "--json").out)["sessions"]
    assert found["conversation_id"] == talk
    [touched] = found["touched"]
    assert (touched["turn_index"], touched["how"], touched["name"]) == (0, "named", "Worker.keep")
    assert (touched["since"]["state"], touched["since"]["commits"]) == ("gone", None)
    nothing = ragforge("sessions", "about", "Giraffe")
    assert (nothing.code, nothing.out) == (0, "")
    assert nothing.err.startswith("No session of this project touched Giraffe.")
