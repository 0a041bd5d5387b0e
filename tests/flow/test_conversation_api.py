"""Every call of a program: conversations through the library, on every engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from ragforge import ConversationAgent, ask, load_settings
from ragforge.domain.conversations import Message, ToolCall, ToolResult
from ragforge.domain.instants import now
from ragforge.domain.schema import CONVERSATION
from ragforge.errors import (
    ConversationNotFound,
    DuplicateId,
    InputError,
    MessageNotFound,
    ModelMissing,
)
from ragforge.events import (
    ContextBuilt,
    Done,
    Event,
    QuestionStored,
    Text,
    ToolFinished,
    ToolStarted,
)
from ragforge.permissions import PermissionRequest, Verdict
from tests.fakes.builders import at, conversation, summary
from tests.fakes.chat_server import Breaks, ChatServer
from tests.fakes.talking import TITLE, call, talking, with_model
from tests.fakes.wires import OpenAiWire, Says

KEY = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


@pytest.fixture
async def agent(environ: dict[str, str], project: Path) -> AsyncIterator[ConversationAgent]:
    small = environ | {"RAGFORGE_AGENT__MEMORY__MAX_CONTEXT_CHARS": "4000"}
    settings = load_settings(project, environ=small).settings
    async with await ConversationAgent.open(settings, project) as agent:
        yield agent


async def test_a_conversation_is_made_listed_and_loaded(agent: ConversationAgent) -> None:
    first = await agent.create_conversation(title="Refactor auth", tags=["auth"])
    second = await agent.create_conversation(title="Fix the cart", tags=["shop"])

    listed = await agent.list_conversations(status="active", tags=["auth"])
    assert [one.id for one in listed] == [first.id]
    assert {one.id for one in await agent.list_conversations()} == {first.id, second.id}
    loaded = await agent.load_conversation(first.id[:13])
    assert (loaded.id, loaded.facts.title, loaded.facts.tags) == (
        first.id,
        "Refactor auth",
        ("auth",),
    )
    with pytest.raises(ConversationNotFound):
        await agent.load_conversation("none")


async def test_sessions_are_created_listed_and_loaded_by_their_directory(
    agent: ConversationAgent, project: Path, tmp_path: Path
) -> None:
    below, other = project / "src", tmp_path / "other"
    for folder in (below, other):
        folder.mkdir()
    here = await agent.create_session()
    inside = await agent.create_session("src")
    elsewhere = await agent.create_session(f"{below}/../../other/")
    of_project = await agent.create_session(other, project_path=project)
    await inside.store_turn("How long is a lease?", "Ten minutes.")

    [line] = await agent.get_sessions_by_cwd(project)
    assert (line.conversation.uuid, line.turn_count, line.last_message) == (here.id, 0, "")
    [line] = await agent.get_sessions_by_cwd(f"{project}/src/")
    assert line.conversation.uuid == inside.id
    assert (line.turn_count, line.last_message) == (1, "Ten minutes.")
    assert line.started_at <= line.last_activity
    there = {one.conversation.uuid for one in await agent.get_sessions_by_cwd(other)}
    assert there == {elsewhere.id, of_project.id}
    project_id = here.facts.project_id
    assert inside.facts.project_id == of_project.facts.project_id == project_id
    assert elsewhere.facts.project_id != project_id

    session = await agent.load_session(inside.id[:13])
    assert [turn.answer for turn in session.turns] == ["Ten minutes."]
    with pytest.raises(ConversationNotFound):
        await agent.load_session("nothing begins so")


async def test_a_program_is_told_whether_a_summary_is_due(agent: ConversationAgent) -> None:
    talk = await agent.create_session()
    await talk.store_turn("How long is a lease?", "Ten minutes.")
    due = await agent.should_create_l1_summary(talk)
    assert (due.should_create, due.current_char_count, due.threshold) == (False, 32, 400)

    await talk.store_turn("And why?", "Because. " * 60)
    due = await agent.should_create_l1_summary(talk.id)
    assert due.should_create
    assert (due.char_range_start, due.char_range_end) == (0, due.current_char_count)
    assert [turn.user.content for turn in due.turns_to_summarize] == [
        "How long is a lease?",
        "And why?",
    ]


async def test_turns_are_stored_read_and_found_without_their_secrets(
    agent: ConversationAgent,
) -> None:
    talk = await agent.create_conversation()
    calls = [
        ToolCall("grep_files", {"regex": "password"}, ToolResult(True, {"matches": []})),
        ToolCall(
            "read_file", {"path": "x"}, ToolResult(False, error="no such file"), success=False
        ),
    ]
    await talk.store_turn("Where are passwords validated?", "In auth.py.", tool_calls=calls)
    await talk.store_turn("Thanks", "Welcome.", reasoning=f"The token is {KEY}")
    await talk.store_messages(
        [Message("user", "And?"), Message("assistant", "Hm."), Message("assistant", "That is all.")]
    )

    history = await talk.get_history(limit=5)
    assert [message.content for message in history] == [
        "Thanks",
        "Welcome.",
        "And?",
        "Hm.",
        "That is all.",
    ]
    assert history[1].reasoning is not None
    assert KEY not in history[1].reasoning
    bare = await talk.get_history(include_tool_calls=False, include_reasoning=False)
    assert not any(message.tool_calls or message.reasoning for message in bare)
    [hit, *_] = await talk.search_history("password validation", limit=5)
    assert hit.turn.answer == "In auth.py."
    [call] = await talk.get_tool_calls(tool_name="grep_files", success=True, limit=5)
    assert call.arguments == {"regex": "password"}
    assert (await talk.refresh()).turn_count == 3
    [asked] = await talk.get_last_user_queries(limit=1)
    [latest] = await talk.get_recent_turns(limit=1)
    assert (asked.user_message, asked.turn_index) == (latest.user.content, 2)
    assert asked.timestamp == latest.user.timestamp
    assert await talk.get_raw_history_char_count() == talk.facts.total_chars


async def test_many_turns_are_stored_together_or_not_at_all(agent: ConversationAgent) -> None:
    talk = await agent.create_conversation()
    turns = [[Message("user", f"Is {n} paid?"), Message("assistant", f"{n} is.")] for n in range(9)]

    stored = await talk.store_turns(turns)
    with pytest.raises(InputError):
        await talk.store_turns([turns[0], [Message("assistant", "no question")]])

    assert [turn.user.turn_index for turn in stored] == list(range(9))
    assert (await talk.refresh()).turn_count == 9
    await agent.app.jobs.wait(60)
    [hit, *_] = await talk.search_history("is 7 paid")
    assert hit.turn.user.content == "Is 7 paid?"


async def test_another_conversations_turns_are_not_found(agent: ConversationAgent) -> None:
    one, other = await agent.create_conversation(), await agent.create_conversation()
    await one.store_turn("The zebra is striped.", "Noted.")
    assert await other.search_history("zebra") == []


async def test_a_context_is_recent_relevant_or_both(agent: ConversationAgent) -> None:
    talk = await agent.create_conversation()
    await talk.store_turn("The zebra crossing is 4711.", "Noted.")
    for number in range(10):
        await talk.store_turn(f"Number {number}?", f"It is {number}.")
    await talk.store_turn("Which zebra crossing?", "Let me think.")

    recent = await talk.build_context(strategy="recent", recent_messages=3)
    assert [m.content for m in recent.recent] == [
        "It is 9.",
        "Which zebra crossing?",
        "Let me think.",
    ]
    assert recent.relevant == ()
    relevant = await talk.build_context(strategy="relevant", relevant_messages=2)
    assert relevant.recent == ()
    assert "4711" in {hit.turn.user.content.split()[-1].rstrip(".") for hit in relevant.relevant}
    both = await talk.build_context(recent_messages=2, relevant_messages=10, query="zebra")
    assert [m.content for m in both.recent] == ["Which zebra crossing?", "Let me think."]
    assert both.relevant[0].turn.user.content == "The zebra crossing is 4711."
    with pytest.raises(InputError, match="no strategy 'best'"):
        await talk.build_context(strategy="best")  # type: ignore[arg-type]


async def test_a_conversation_is_summarised_up_to_its_last_turn(agent: ConversationAgent) -> None:
    talk = await agent.create_conversation()
    assert await talk.summarize() == ""
    for number in range(8):
        await talk.store_turn(f"Is invoice {number} paid? {'x' * 60}", f"Invoice {number} is paid.")
    await agent.app.jobs.wait(60)
    await talk.store_turn("And the zebra?", "The zebra is striped.")

    text = await talk.summarize()
    assert "nvoice" in text
    assert "zebra" in text
    assert (await talk.build_context()).summary == text


async def test_a_conversation_goes_out_and_comes_back(agent: ConversationAgent) -> None:
    talk = await agent.create_conversation(title="Refactor auth")
    await talk.store_turn("Where is the login?", "In auth.py.")
    document = await talk.export()

    with pytest.raises(DuplicateId):
        await agent.import_conversation(document)
    copy = await agent.import_conversation(document, as_new=True)
    assert copy.id != talk.id
    assert [m.content for m in await copy.get_history()] == ["Where is the login?", "In auth.py."]


@pytest.mark.both_engines
async def test_a_branch_shares_the_past_and_no_later_history(agent: ConversationAgent) -> None:
    talk = await agent.create_conversation(title="Refactor auth")
    first = await talk.store_turn("Plan A?", "Yes.")
    await talk.store_turn("Plan B?", "No.")

    branch = await talk.branch(first.replies[-1].uuid, title="Alternative approach")
    await branch.store_turn("Plan C?", "Maybe.")

    assert branch.facts.title == "Alternative approach"
    assert [m.content for m in await branch.get_history()] == [
        "Plan A?",
        "Yes.",
        "Plan C?",
        "Maybe.",
    ]
    assert len(await talk.get_history()) == 4
    with pytest.raises(MessageNotFound):
        await branch.branch(first.user.uuid)


async def test_similar_conversations_are_found(agent: ConversationAgent) -> None:
    auth = await agent.create_conversation(title="Auth")
    cart = await agent.create_conversation(title="Cart")
    await auth.store_turn("How do we refactor authentication?", "Move the token to a cookie.")
    await cart.store_turn("Why is the total wrong?", "Rounding.")

    [best, *_] = await agent.find_similar_conversations("refactoring authentication", limit=3)
    assert best.conversation.uuid == auth.id


async def test_an_answer_tells_its_tools_its_reasoning_and_what_it_rests_on(
    environ: dict[str, str], project: Path
) -> None:
    (project / "auth.py").write_text("def login(user):\n    return user\n")
    script = [
        Says(calls=(call("grep_files", pattern="**/*.py", regex="def login"),)),
        Says("In auth.py, line 1.", reasoning="The search found it."),
    ]
    heard: list[Event] = []
    async with talking(environ, project, script) as (agent, _):
        talk = await agent.create_conversation(title="Refactor auth", tags=["auth"])
        response = await talk.send_message("Where is `login` defined?", on_event=heard.append)
        history = await talk.get_history(limit=50, include_tool_calls=True, include_reasoning=True)
        calls = await talk.get_tool_calls(tool_name="grep_files", success=True, limit=5)

    assert response.content == "In auth.py, line 1."
    assert response.reasoning == "The search found it."
    assert [one.tool_name for one in response.tool_calls] == ["grep_files"]
    assert "auth.py:1-2" in [item.source.split()[0] for item in response.context_used.items]
    assert isinstance(heard[-1], Done)
    assert [len(message.tool_calls) for message in history] == [0, 1, 0]
    assert history[-1].reasoning == "The search found it."
    assert [one.arguments for one in calls] == [one.arguments for one in response.tool_calls]


async def test_an_answer_streams_and_its_last_event_is_the_whole(
    environ: dict[str, str], project: Path
) -> None:
    (project / "notes.md").write_text("Sixty seconds.\n")
    look = Says("Let me look. ", calls=(call("read_file", path="notes.md"),))
    async with talking(environ, project, [look, Says("Sixty seconds.")]) as (agent, _):
        talk = await agent.create_conversation()
        events = [event async for event in talk.stream_message("How long is a lease?")]
        with pytest.raises(InputError, match="empty"):
            [event async for event in talk.stream_message(" ")]

    kinds = [type(event) for event in events]
    assert kinds[:2] == [QuestionStored, ContextBuilt]
    assert kinds.index(ToolStarted) < kinds.index(ToolFinished)
    said = "".join(event.text for event in events if isinstance(event, Text))
    assert said == "Let me look. Sixty seconds."
    last = events[-1]
    assert isinstance(last, Done)
    assert last.answer.content == "Sixty seconds."


async def test_a_caller_that_stops_listening_interrupts_the_turn_and_finds_it_stored(
    environ: dict[str, str], project: Path
) -> None:
    async with talking(environ, project, [Says("One two three four five six.")]) as (agent, _):
        talk = await agent.create_conversation()
        async with aclosing(talk.stream_message("Count.")) as events:
            async for event in events:
                if isinstance(event, Text):
                    break
        history = await talk.get_history()

    assert history[0].content == "Count."
    assert history[-1].role == "system"
    assert "Interrupted" in history[-1].content


async def test_an_interrupted_turn_can_be_continued(environ: dict[str, str], project: Path) -> None:
    script = [Breaks(Says("It lasts sixty seconds, as"), after=4), Says("Sixty.")]
    async with talking(environ, project, script) as (agent, _):
        talk = await agent.create_conversation()
        with pytest.raises(InputError, match="no turn"):
            await talk.retry()
        broken = await talk.send_message("How long is a lease?")
        answer = await talk.retry()
        history = await talk.get_history()

    assert broken.stopped == "failed"
    assert (answer.content, answer.turn_index) == ("Sixty.", 0)
    assert [message.role for message in history].count("user") == 1


async def test_a_turn_that_was_continued_is_found_by_its_whole_meaning(
    environ: dict[str, str], project: Path
) -> None:
    script = [Breaks(Says("Let me think about it for"), after=4), Says("Zebras have stripes.")]
    async with talking(environ, project, script) as (agent, _):
        talk = await agent.create_conversation()
        await talk.send_message("Which animals do you know?")
        await agent.app.jobs.wait(60)
        first = await talk.export(with_embeddings=True)
        await talk.retry()
        await agent.app.jobs.wait(60)
        second = await talk.export(with_embeddings=True)

    assert first["embeddings"]
    assert len(second["embeddings"]) == len(first["embeddings"])
    assert second["embeddings"] != first["embeddings"]


async def test_an_edit_is_allowed_by_the_program_and_taken_back(
    environ: dict[str, str], project: Path
) -> None:
    (project / "lease.py").write_text("SECONDS = 60\n")
    wishes: list[PermissionRequest] = []

    async def approve(wish: PermissionRequest) -> Verdict:
        wishes.append(wish)
        return Verdict("once")

    edit = call("edit_file", path="lease.py", old_text="60", new_text="90")
    async with talking(environ, project, [Says(calls=(edit,)), Says("Ninety.")]) as (agent, _):
        talk = await agent.create_conversation()
        await talk.send_message("Make it ninety.", approve=approve)
        edited = (project / "lease.py").read_text()
        undone = await talk.undo()

    assert [(wish.action, wish.subject) for wish in wishes] == [("edit_file", "lease.py")]
    assert edited == "SECONDS = 90\n"
    assert undone.file == "lease.py"
    assert (project / "lease.py").read_text() == "SECONDS = 60\n"


async def test_the_context_of_a_message_comes_with_its_receipt_and_is_not_stored(
    agent: ConversationAgent, project: Path
) -> None:
    (project / "lease.py").write_text("def renew_lease():\n    return 60\n")
    talk = await agent.create_conversation()
    await talk.store_turn("How long is a lease?", "Sixty seconds.")
    other = await agent.create_conversation()
    await other.store_turn("Who renews the lease?", "The worker does.")

    context = await talk.build_enriched_context("Where is `renew_lease`?")

    assert "def renew_lease" in context.text
    assert "The worker does." in context.text
    sections = {item.section for item in context.receipt.items}
    assert {"code", "recent_turns", "past_turns"} <= sections
    assert context.receipt.chars == len(context.text)
    assert (await talk.refresh()).turn_count == 1
    with pytest.raises(InputError, match="empty"):
        await talk.build_enriched_context("")


async def test_one_call_asks_in_the_current_session_of_a_directory(
    environ: dict[str, str], project: Path
) -> None:
    async with ChatServer(OpenAiWire(), [Says("Noted."), Says("Otter.")], TITLE) as server:
        settings = load_settings(project, environ=with_model(environ, server)).settings
        heard: list[Event] = []
        first = await ask("The release is called Otter.", project, settings)
        second = await ask(
            "What is the release called?", cwd=project, config=settings, on_event=heard.append
        )
        asked = server.asked_in_turns[-1].text

    assert (first.content, second.content) == ("Noted.", "Otter.")
    assert first.conversation_id == second.conversation_id
    assert "The release is called Otter." in asked
    assert isinstance(heard[-1], Done)


async def test_one_call_takes_keys_over_the_configured_ones(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)

    answer = await ask("Where is the login?", cwd=project, config={"embeddings.model": "none"})

    assert answer.model is None
    assert "remembered from now on" in answer.content
    with pytest.raises(InputError, match="empty"):
        await ask("  ", cwd=project)


async def test_analysing_without_a_model_says_what_is_missing(agent: ConversationAgent) -> None:
    with pytest.raises(ModelMissing, match=r"set llm\.model"):
        await agent.batch_analyze(["one"], "Count.", {"count": {"type": "integer"}})


async def test_summaries_are_listed_by_date_level_and_conversation_and_trimmed(
    agent: ConversationAgent,
) -> None:
    talk, other = await agent.create_conversation(), await agent.create_conversation()
    for one in (talk, other):
        await one.store_turn("Why?", "Because.")
    new = summary(talk.id, uuid="new", conversation_summary="Leases.", created_at=now())
    old = summary(other.id, uuid="old", conversation_summary="Leases, of old.")
    for one in (new, old):
        await agent.app.store.timeline.save_summary(one)

    assert {one.uuid for one in await agent.get_summaries_by_date_range()} == {"new", "old"}
    assert await agent.get_recent_summaries(days=7) == [new]
    assert await agent.get_recent_summaries(days=7, conversation=other) == []
    assert await agent.get_summaries_by_date_range(until=at(1), level=1) == [old]
    assert await agent.get_summaries_by_date_range(level=2) == []
    found = await agent.search_conversation_history("leases", include_turns=False, levels=(1,))
    assert {hit.summary.uuid for hit in found if hit.type == "summary"} == {"new", "old"}
    [hit] = await agent.search_conversation_history(
        "leases", include_turns=False, conversation=other
    )
    assert hit.type == "summary"
    assert hit.summary == old
    assert await agent.trim_summaries_by_date(at(1)) == 1
    assert await agent.get_summaries_by_date_range() == [new]


async def test_summaries_of_other_projects_are_trimmed_only_on_request(
    agent: ConversationAgent,
) -> None:
    mine, second = await agent.create_conversation(), await agent.create_conversation()
    other = conversation("/elsewhere", uuid="other", project_id="another project")
    await agent.app.store.records.put(CONVERSATION, other)
    for name in (mine.id, second.id, other.uuid):
        await agent.app.store.timeline.save_summary(summary(name, uuid=f"of {name}"))

    assert await agent.trim_summaries_by_date(at(1), conversation=second) == 1
    assert await agent.trim_summaries_by_date(at(1)) == 1
    left = await agent.get_summaries_by_date_range(everywhere=True)
    assert [one.uuid for one in left] == ["of other"]
    assert await agent.trim_summaries_by_date(at(1), everywhere=True) == 1


async def test_code_is_ingested_and_searched_by_the_program(
    agent: ConversationAgent, project: Path
) -> None:
    (project / "lease.py").write_text("def renew_lease(job):\n    return job\n")

    report = await agent.ingest()
    [hit, *_] = await agent.search_code("who renews a lease", limit=3)
    [near, *_] = await agent.search_code_semantic("renew lease", max_chars=1_000)

    assert report.files == 1
    assert hit.scope.name == near.scope.name == "renew_lease"
    assert await agent.search_code_semantic("renew lease", cwd="/") == []


async def test_without_a_chat_model_the_executor_says_what_to_configure(
    agent: ConversationAgent,
) -> None:
    with pytest.raises(ModelMissing, match=r"llm\.model"):
        agent.executor  # noqa: B018
