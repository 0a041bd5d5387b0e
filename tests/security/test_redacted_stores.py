"""Redaction: no secret reaches a store, whatever is written and by whom, on any engine."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from ragforge.domain import schema
from ragforge.domain.code import (
    CodeReference,
    File,
    FileMention,
    ParsedFile,
    Project,
    Relation,
    Scope,
)
from ragforge.domain.conversations import (
    Conversation,
    ConversationChanges,
    Message,
    ToolCall,
    ToolResult,
)
from ragforge.domain.kinds import STORED
from ragforge.domain.notes import Note
from ragforge.domain.schema import CONVERSATION, MESSAGE, NOTE, PROJECT, SUMMARY
from ragforge.domain.summaries import Summary
from ragforge.domain.transcripts import (
    CallResult,
    NewConversation,
    NewMessage,
    SessionUpdate,
    TokenCount,
    TranscriptCursor,
)
from ragforge.domain.work import Holder, NewJob
from ragforge.memory.store_copy import copy_store
from ragforge.ports.store import Store, list_record_kinds
from tests.fakes.builders import SHOP
from tests.fakes.code import find_named, list_scopes
from tests.fakes.copying import set_bookmark
from tests.fakes.engines import Engines
from tests.fakes.jobs import fail_job
from tests.fakes.projects import brain_of, snapshot, write
from tests.fakes.secrets import made
from tests.fakes.whole import Whole, WholeSummary, add_whole

SECRET = "ghp_" + made(36)
TEXT = f"say {SECRET} again"
JSON: Any = {"deep": [TEXT, {"password": SECRET}]}
REFERENCE = CodeReference("s1", "a.py", TEXT, "h")
ME = Holder("here", 1, 1.0)


def make_call() -> ToolCall:
    return ToolCall(TEXT, JSON, ToolResult(False, JSON, TEXT))


def make_message(**more: Any) -> Message:
    return Message("user", TEXT, TEXT, (make_call(),), receipt=JSON, model=TEXT, **more)


def make_summary(conversation: str, **more: Any) -> Summary:
    lists = dict.fromkeys(("files_mentioned", "key_findings", "tools_used", "topics"), (TEXT,))
    return Summary(
        conversation, 1, TEXT, 0, 0, 0, 1, actions_summary=TEXT, made_by=TEXT, **lists, **more
    )


def make_conversation(**more: Any) -> Conversation:
    given = {"title": TEXT, "summary": TEXT, "agent_version": TEXT, "git_branch": TEXT}
    return Conversation(SHOP, SHOP, tags=(TEXT,), **given, **more)


def make_file() -> ParsedFile:
    scope = Scope(TEXT, TEXT, "function", "a.py", 1, 1, TEXT, "h", "s1", None, TEXT, TEXT)
    return ParsedFile(File("a.py", "h", "f1", imports=(TEXT,)), (scope,))


async def write_everything(store: Store) -> None:
    """Call every method that writes text, with the secret in each text."""
    talk = make_conversation()
    await store.records.put(CONVERSATION, talk)
    [message] = await store.timeline.append(talk.uuid, [make_message()])
    begun = Message("assistant", "", None, (replace(make_call(), result=None),))
    await store.timeline.append(talk.uuid, [begun])
    finished = replace(begun.tool_calls[0], result=ToolResult(False, JSON, TEXT))
    await store.timeline.finish_calls(begun.uuid, [finished])
    await store.records.update(CONVERSATION, talk.uuid, ConversationChanges(TEXT, TEXT, (TEXT,)))
    await store.timeline.branch(message.uuid, make_conversation())
    await store.timeline.link(MESSAGE, message.uuid, [REFERENCE])
    summary = make_summary(talk.uuid)
    await store.timeline.save_summary(summary)
    await store.timeline.link(SUMMARY, summary.uuid, [REFERENCE], [FileMention("f1", "a.py", "h")])
    await store.records.put(NOTE, Note(TEXT, SHOP, (TEXT,)))
    await store.records.put(PROJECT, Project(SHOP, "shop", "p1"))
    await store.code.replace_files("p1", [make_file()])
    library = Relation("USES_LIBRARY", "f1", TEXT)
    await store.code.relate_files("p1", ["a.py"], [library], "related")
    await store.jobs.enqueue([NewJob("k", "x", JSON)])
    await store.jobs.claim(ME, timedelta(hours=1))
    await fail_job(store, "k", ME, TEXT, None)
    await set_bookmark(store, f"copy:bolt://ann:{SECRET}@host", "1")
    await import_everything(store)
    imported = make_conversation()
    summary = make_summary(imported.uuid)
    asked = make_message(turn_index=0, position=0)
    await add_whole(
        store,
        Whole(
            imported,
            (asked,),
            {asked.uuid: (REFERENCE,)},
            (WholeSummary(summary, (0,), scopes=(REFERENCE,)),),
            notes=(Note(TEXT, SHOP, (TEXT,), imported.uuid),),
        ),
    )


async def import_everything(store: Store) -> None:
    late = replace(make_call(), uuid="late", result=None)
    waiting = replace(make_message(), role="assistant", tool_calls=(late,))
    new = make_conversation(uuid="taken-in", agent="codex")
    cursor = TranscriptCursor("codex", "", "a.jsonl", "s", JSON)
    plain = Message("assistant", "Done.", model=TEXT)
    steps = [
        NewConversation(new),
        NewMessage("taken-in", waiting),
        NewMessage("taken-in", plain),
        TokenCount(plain.uuid, 7),
    ]
    assert await store.transcripts.take_in(cursor, steps)
    result = CallResult(waiting.uuid, replace(late, result=ToolResult(False, JSON, TEXT)))
    update = SessionUpdate("taken-in", TEXT, TEXT, TEXT, TEXT)
    assert await store.transcripts.take_in(replace(cursor, revision=1), [result, update])


async def find_secret(store: Store, engine: str, folder: Path) -> list[str]:
    """Return where the secret is in what an engine has written."""
    found = [
        f"{kind} {record}"
        for kind in list_record_kinds()
        for _, record in await store.archive.read(kind, None, 1_000)
        if SECRET in repr(record)
    ]
    if engine == "sqlite":
        files = [path for path in folder.iterdir() if path.name.startswith("store-")]
        assert files
        return found + [path.name for path in files if SECRET.encode() in path.read_bytes()]
    return found


async def find_in_neo4j(url: str) -> list[str]:
    import neo4j

    async with neo4j.AsyncGraphDatabase.driver(url) as driver:
        nodes, _, _ = await driver.execute_query("MATCH (n) RETURN labels(n), properties(n)")
        edges, _, _ = await driver.execute_query("MATCH ()-[r]->() RETURN type(r), properties(r)")
    return [repr(one) for one in (*nodes, *edges) if SECRET in repr(one)]


async def test_no_method_of_a_store_writes_a_secret(
    engine: str, engines: Engines, tmp_path: Path
) -> None:
    store = await engines.empty(engine)
    await write_everything(store)

    assert await store.archive.count("message") == 6
    assert await find_secret(store, engine, tmp_path) == []
    if engine == "neo4j":
        assert await find_in_neo4j(engines.location(engine)) == []


async def test_a_copy_of_a_store_with_secrets_has_none(
    engine: str, engines: Engines, tmp_path: Path
) -> None:
    old = tmp_path / "old"
    old.mkdir()
    source = await engines.open_at(str(old / "store-x.db"), redactor=STORED)
    await write_everything(source)
    assert await find_secret(source, "sqlite", old)

    target = await engines.empty(engine)
    await copy_store(source.archive, target.archive, "copy", lambda _: None)

    assert await find_secret(target, engine, tmp_path) == []
    assert await target.archive.count("scope") == 1


def test_every_text_of_a_record_is_on_the_list() -> None:
    identities = {
        *(
            "uuid",
            "cwd",
            "project_path",
            "project_id",
            "role",
            "status",
            "process",
            "type",
            "file",
            "hash",
        ),
        *(
            "path",
            "kind",
            "language",
            "state",
            "key",
            "conversation_id",
            "supersedes",
            "corrects",
            "keeps",
            "scope_id",
        ),
        *("embedding_hash", "parent_summaries", "how"),
        *("author", "host", "agent", "visibility", "agent_session", "parent_id"),
    }
    for kind, data in {
        schema.CONVERSATION: Conversation,
        schema.MESSAGE: Message,
        schema.TOOL_CALL: ToolCall,
        schema.TOOL_RESULT: ToolResult,
        schema.SUMMARY: Summary,
        schema.NOTE: Note,
        schema.FILE: File,
        schema.SCOPE: Scope,
        schema.REFERENCE: CodeReference,
    }.items():
        texts = {
            field.name
            for field in fields(data)  # type: ignore[arg-type]
            if str(field.type) in ("str", "str | None", "tuple[str, ...]", "Json")
        }
        assert texts - identities == set(kind.texts), kind.name


async def test_a_constant_is_redacted_in_place_and_ingestion_stays_incremental(
    engines: Engines, tmp_path: Path
) -> None:
    root = tmp_path / "project"
    source = f'import os\n\nTOKEN = "{SECRET}"\n\n\ndef use():\n    # Sent\n    return TOKEN\n'
    write(root, {"app.py": source, "notes.md": f"# Keys\n\nUse {SECRET}.\n\n## More\n\nText\n"})
    store = await engines.open_at(str(tmp_path / "store-a.db"))
    brain = brain_of(store, root)
    report, _ = await brain.ingest()
    first = await snapshot(store, root)

    scopes = await list_scopes(store, report.project_id, "app.py")
    [module] = [scope for scope in scopes if scope.type == "module"]
    assert 'TOKEN = "[redacted: GitHub token]"' in module.source
    [use] = (await find_named(store, report.project_id, ["use"]))["use"]
    assert (use.start_line, use.end_line) == (6, 8)
    assert await find_secret(store, "sqlite", tmp_path) == []

    again, _ = await brain.ingest()

    assert (again.read, again.removed) == (0, 0)
    assert await snapshot(store, root) == first
