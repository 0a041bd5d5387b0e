"""Every agent: its transcripts are imported, and a second import adds nothing."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ragforge.domain.conversations import ConversationFilter, Identity
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.schema import CONVERSATION
from ragforge.memory.code.traces import read_edits
from ragforge.memory.importer.files import Importer, ImportReport
from ragforge.ports.store import Store
from ragforge.transcripts.aider import AIDER
from ragforge.transcripts.claude_code import CLAUDE_CODE
from ragforge.transcripts.goose import GOOSE
from ragforge.transcripts.kimi import KIMI
from ragforge.transcripts.opencode import OPENCODE
from ragforge.transcripts.source import TranscriptSource
from tests.fakes.engines import Engines, counts
from tests.fakes.transcripts import aider, goose, opencode
from tests.fakes.transcripts.claude_code import Claude, call, edit_result
from tests.fakes.transcripts.files import write_lines
from tests.fakes.transcripts.rich import RICH
from tests.fakes.whole import read_whole


async def find_place(cwd: str, remote: str | None) -> ProjectPlace:
    return ProjectPlace.at(cwd, f"project of {cwd}")


async def take_in(store: Store, source: TranscriptSource, *paths: Path) -> ImportReport:
    report = ImportReport()
    importer = Importer(store, Identity("Ann", "host"), "", find_place, 200_000)
    read = (await store.transcripts.stamps("")).get(source.name, {})
    await importer.import_files(source, paths, read, report)
    assert report.problems == []
    return report


def write_rich(source: TranscriptSource, folder: Path) -> Path:
    if source is AIDER:
        return aider.make_rich_history().write(folder)
    if source is OPENCODE:
        one = opencode.OpenCode(folder)
        opencode.fill_rich_session(one)
        one.connection.close()
        return one.path
    if source is GOOSE:
        other = goose.Goose(folder)
        goose.fill_rich_session(other)
        other.connection.close()
        return other.path
    [lines] = [make() for one, make in RICH if one is source]
    return write_lines(folder / "transcript.jsonl", lines)


@pytest.mark.parametrize(
    "source", [*(one for one, _ in RICH), AIDER, OPENCODE, GOOSE], ids=lambda one: one.name
)
async def test_what_an_agent_wrote_is_imported_once(
    engines: Engines, tmp_path: Path, source: TranscriptSource
) -> None:
    store = await engines.empty("sqlite")
    path = write_rich(source, tmp_path / "here")

    first = await take_in(store, source, path)
    before = await counts(store)
    path.touch()
    again = await take_in(store, source, path)
    other = tmp_path / "other"
    other.mkdir()
    moved = await take_in(store, source, path.rename(other / path.name))

    assert first.of(source.name).turns > 0
    assert {one.agent for one in await store.records.find(CONVERSATION, ConversationFilter())} == {
        source.name
    }
    assert again.is_empty
    if source not in (AIDER, KIMI):  # their sessions are named by the folder
        assert moved.is_empty
        assert await counts(store) == before


async def test_a_session_of_another_agent_says_what_it_is(store: Store, tmp_path: Path) -> None:
    source, make = RICH[0]
    report = await take_in(store, source, write_lines(tmp_path / "s1.jsonl", make()))

    found = await store.records.find(CONVERSATION, ConversationFilter())
    first = min(found, key=lambda one: one.created_at)
    assert report.of("claude-code").sessions == len(found) == 2  # it was rewound once
    assert (first.title, first.agent_session, first.agent_version) == ("The cart", "s1", "2.1.239")
    assert (first.cwd, first.project_id) == ("/work/shop", "project of /work/shop")
    assert (first.author, first.git_branch, first.host) == ("Ann", "main", "host")
    [branch] = [one for one in found if one.uuid != first.uuid]
    whole = await read_whole(store, branch.uuid)
    assert whole.branch_of is not None
    assert whole.branch_of.conversation_id == first.uuid


async def test_only_the_bad_file_fails_with_its_reason(store: Store, tmp_path: Path) -> None:
    source, make = RICH[0]
    good = write_lines(tmp_path / "good.jsonl", make())
    odd = tmp_path / "odd.jsonl"
    odd.write_bytes(b'{"type": "novel", "uuid": 3}\nno json\n\xff\xfe\n{"cut off')
    folder = tmp_path / "folder.jsonl"
    folder.mkdir()
    report = ImportReport()
    importer = Importer(store, Identity("Ann", "host"), "", find_place, 200_000)
    paths = [tmp_path / "gone.jsonl", folder, odd, good]
    await importer.import_files(source, paths, {}, report)

    assert [one.path.name for one in report.problems] == ["gone.jsonl", "folder.jsonl"]
    assert all(one.reason for one in report.problems)
    about = report.of("claude-code")
    assert about.sessions == 2
    assert about.unknown["novel"] == 1
    assert sum(about.skipped.values()) == 2


async def test_a_look_stores_nothing_and_counts_the_same(store: Store, tmp_path: Path) -> None:
    source, make = RICH[0]
    path = write_lines(tmp_path / "s1.jsonl", make())
    empty = await counts(store)
    report = ImportReport()
    looking = Importer(store, Identity("Ann", "host"), "", find_place, 200_000, only_look=True)
    await looking.import_files(source, [path], {}, report)
    assert await counts(store) == empty
    assert await store.transcripts.stamps("") == {}
    done = await take_in(store, source, path)
    assert replace(done.of(source.name)) == report.of(source.name)


async def test_what_another_process_imports_meanwhile_is_not_counted_but_named(
    store: Store, tmp_path: Path
) -> None:
    source, make = RICH[0]
    paths = [write_lines(tmp_path / f"{name}.jsonl", make()) for name in "ab"]
    others: list[ImportReport] = []

    async def find_place_late(cwd: str, remote: str | None) -> ProjectPlace:
        if not others:
            others.append(await take_in(store, source, *paths))
        return await find_place(cwd, remote)

    report = ImportReport()
    importer = Importer(store, Identity("Ann", "host"), "", find_place_late, 200_000)
    await importer.import_files(source, paths, {}, report)

    assert others[0].of(source.name).sessions == 2
    assert report.of(source.name).sessions == 0
    assert report.of(source.name).elsewhere == 2


STRANGE = {
    AIDER: "# A diary\n\nDear diary,\n",
    OPENCODE: "CREATE TABLE pages (id)",
    GOOSE: "CREATE TABLE pages (id)",
}


@pytest.mark.parametrize(
    "source", [*(one for one, _ in RICH), AIDER, OPENCODE, GOOSE], ids=lambda one: one.name
)
async def test_a_file_of_another_shape_says_why_it_gives_nothing(
    engines: Engines, tmp_path: Path, source: TranscriptSource
) -> None:
    store = await engines.empty("sqlite")
    path = tmp_path / "transcript.jsonl"
    strange = STRANGE.get(source, '{"event": "began", "who": "me"}\n{"event": "ended"}\n')
    if strange.startswith("CREATE"):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(strange)
    else:
        path.write_text(strange)
    report = ImportReport()
    importer = Importer(store, Identity("Ann", "host"), "", find_place, 200_000)
    await importer.import_files(source, [path], {}, report)
    [said] = [*report.problems, *report.empty]
    assert said.path == path
    assert said.reason
    assert report.of(source.name).sessions == 0


@pytest.mark.parametrize("limit", [200_000, 300])
async def test_which_files_were_changed_is_kept_with_a_cut_output(
    engines: Engines, tmp_path: Path, limit: int
) -> None:
    store = await engines.empty("sqlite")
    claude = Claude()
    claude.say("Fix the cart.")
    claude.answer(call("t1", "Edit", file_path="/work/shop/cart.py"))
    change = edit_result("/work/shop/cart.py", "a\n", "a", "b")
    claude.give_result("t1", "Updated. " * 50_000, toolUseResult=change)
    report = ImportReport()
    importer = Importer(store, Identity("Ann", "host"), "", find_place, limit)
    await importer.import_files(CLAUDE_CODE, [claude.write(tmp_path)], {}, report)
    [conversation_id] = report.conversations
    whole = await read_whole(store, conversation_id)
    [done] = [one for message in whole.messages for one in message.tool_calls]
    assert [edit.file for edit in read_edits(done)] == ["/work/shop/cart.py"]
    assert done.result is not None
    assert len(json.dumps(done.result.result)) < limit + 500


async def test_an_imported_session_does_not_begin_after_its_messages(
    store: Store, tmp_path: Path
) -> None:
    claude = Claude()
    claude.say("One.", timestamp="2026-03-02T10:00:00Z")
    claude.answer("Two.", timestamp="2026-03-02T09:00:00Z")  # the clock was set back
    claude.answer("Three.", timestamp="2026-03-02T09:10:00Z")
    report = await take_in(store, CLAUDE_CODE, claude.write(tmp_path))
    [conversation_id] = report.conversations
    whole = await read_whole(store, conversation_id)
    assert [message.content for message in whole.messages] == ["One.", "Two.", "Three."]
    about = whole.conversation
    assert about.created_at == min(message.timestamp for message in whole.messages)
    assert about.created_at < about.updated_at
