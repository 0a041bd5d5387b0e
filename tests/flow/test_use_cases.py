"""What people do with a memory: hunt a bug over days, plan a refactoring, learn from the past."""

from __future__ import annotations

import json
import re
from pathlib import Path

from ragforge.permissions import allow_edits
from tests.fakes.http_server import Asked
from tests.fakes.talking import TITLE, call, talking
from tests.fakes.wires import Says

AUTH = '''\
def open_session(user):
    """Sign a user in."""
    return {"user": user}


def check_password(given, stored):
    """Tell whether a password is the right one."""
    return given.startswith(stored)


def close_session(session):
    """Sign a user out."""
    session.clear()
'''
WRONG, RIGHT = "given.startswith(stored)", "given == stored"

SERVICE = '''\
class UserService:
    """Users, their passwords and their letters."""

    def sign_in(self, name, password):
        for user in self.users:
            if user.name == name and user.password == password:
                return user

    def rename(self, user, name):
        user.name = name

    def send_letter(self, user, text):
        self.post.send(user.address, text)
'''


async def test_a_bug_is_hunted_over_several_questions_and_spoken_of_the_next_day(
    environ: dict[str, str], project: Path
) -> None:
    (project / "auth.py").write_text(AUTH)
    first_day = [
        Says(calls=(call("grep_files", pattern="**/*.py", regex="def .*(session|password)"),)),
        Says("There are open_session, check_password and close_session, all in auth.py."),
        Says("check_password does.", reasoning="Its name and docstring say so."),
        Says(calls=(call("read_file", path="auth.py", start_line=6, end_line=8),)),
        Says("It only looks at how the given password begins: anything longer passes."),
        Says(calls=(call("edit_file", path="auth.py", old_text=WRONG, new_text=RIGHT),)),
        Says("It compares them whole now."),
    ]
    async with talking(environ, project, first_day) as (agent, server):
        session = await agent.create_conversation(
            title="Anybody can sign in", tags=["debugging", "auth"]
        )
        listed = await session.send_message("Which functions deal with authentication?")
        which = await session.send_message("And which one of them validates passwords?")
        shown = await session.send_message("Show me what it does.")
        fixed = await session.send_message("Fix that.", approve=allow_edits)
        asked = [one.text for one in server.asked_in_turns]

    [grep] = listed.tool_calls
    assert grep.result is not None
    assert {match["line"] for match in grep.result.result["matches"]} == {1, 6, 11}
    assert "close_session, all in auth.py" in asked[2], "the second question knows the first answer"
    assert "validates passwords" in asked[2]
    assert which.reasoning == "Its name and docstring say so."
    assert "check_password does." in asked[3], "and the third knows what `it` is"
    assert "startswith" in asked[4], "the model has read the code"
    assert shown.content.startswith("It only looks")
    assert [one.tool_name for one in fixed.tool_calls] == ["edit_file"]
    assert RIGHT in (project / "auth.py").read_text()

    next_day = [Says("Yes: check_password compares whole passwords since yesterday.")]
    async with talking(environ, project, next_day) as (agent, server):
        [known] = await agent.list_conversations(status="active", tags=["auth"])
        resumed = await agent.load_conversation(known.id)
        answer = await resumed.send_message("Did we fix that bug?")
        history = await resumed.get_history(include_tool_calls=False)
        [edit] = await resumed.get_tool_calls(tool_name="edit_file", success=True)
        found = await resumed.search_history("how is a password compared", limit=2)
        remembered = server.asked_in_turns[0].text

    assert (known.id, known.facts.title) == (session.id, "Anybody can sign in")
    assert answer.turn_index == 4
    assert "It compares them whole now." in remembered
    assert "anything longer passes" in remembered
    assert {item.section for item in answer.context_used.items} >= {"recent_turns"}
    assert [m.content for m in history if m.role == "user"][-2:] == [
        "Fix that.",
        "Did we fix that bug?",
    ]
    assert edit.arguments["new_text"] == RIGHT
    assert any("password" in f"{hit.turn.user.content} {hit.turn.answer}" for hit in found)


async def test_a_refactoring_is_planned_summed_up_and_tried_another_way(
    environ: dict[str, str], project: Path
) -> None:
    (project / "users.py").write_text(SERVICE)
    steps = [
        {"text": "Move sign_in to AuthService", "state": "doing"},
        {"text": "Move send_letter to Letters", "state": "open"},
    ]
    script = [
        Says(calls=(call("search_code", query="UserService"),)),
        Says("UserService does three things: signing in, names, letters."),
        Says("sign_in walks through all users, and letters have nothing to do with users."),
        Says(calls=(call("plan", items=steps),)),
        Says("Split it: AuthService for signing in, Letters for the post."),
        Says("Then keep one class and only take the letters out."),
    ]
    summary = "UserService does too much; AuthService and Letters are to be split off."

    def aside(asked: Asked) -> Says:
        if "conversation_summary" not in asked.text:
            return TITLE
        draft = {
            "conversation_summary": summary,
            "key_findings": ["sign_in walks through all users"],
            "files_mentioned": ["users.py"],
            "topics": ["refactoring"],
        }
        return Says(json.dumps(draft))

    async with talking(environ, project, script, aside) as (agent, server):
        await agent.app.brain.ingest()
        planning = await agent.create_conversation(title="Refactor UserService")
        analysed = await planning.send_message("Analyse how complex UserService is.")
        issues = await planning.send_message("What are the main issues?")
        strategy = await planning.send_message("Suggest a strategy.")
        told = await planning.summarize()
        context = await planning.build_context(strategy="recent", recent_messages=2)
        [similar] = await agent.find_similar_conversations("splitting AuthService off", limit=3)
        said = await planning.get_history()
        until = next(message for message in said if message.content == issues.content)
        branch = await planning.branch(from_message_id=until.uuid, title="With less change")
        other = await branch.send_message("And if we change as little as possible?")
        asked = server.asked_in_turns[-1].text
        rest = await planning.get_history()

    [search] = analysed.tool_calls
    assert search.result is not None
    assert search.result.result["code"][0]["file"] == "users.py"
    assert [one.tool_name for one in strategy.tool_calls] == ["plan"]
    assert told == summary
    assert context.summary == summary
    assert [m.content for m in context.recent][-1] == strategy.content
    assert similar.conversation.summary == summary
    assert other.content.startswith("Then keep one class")
    assert issues.content in asked
    recent = [item.source for item in other.context_used.items if item.section == "recent_turns"]
    assert recent == [f"turn {number} of session {branch.id[:8]}" for number in (0, 1)]
    assert [m.content for m in rest] == [m.content for m in said]


async def test_past_conversations_are_found_analysed_and_learned_from(
    environ: dict[str, str], project: Path
) -> None:
    past = {
        "Tokens": ("How did we refactor authentication?", "The token went into a cookie."),
        "Passwords": ("Refactoring the password check?", "Authentication uses argon2 now."),
        "Cart": ("Why is the total of the cart wrong?", "Cents were rounded twice."),
    }
    analysed: list[str] = []

    def aside(asked: Asked) -> Says:
        if "main_topic" not in asked.text:
            return TITLE
        analysed.append(asked.text)
        topics = re.findall(r"Title: (\w+)", asked.text)
        insights = [
            {"main_topic": topic, "key_findings": [past[topic][1]], "action_items": []}
            for topic in topics
        ]
        if len(insights) == 1:
            return Says(json.dumps(insights[0]))
        entries = [{"id": n, "output": insight} for n, insight in enumerate(insights)]
        return Says(json.dumps({"entries": entries}))

    script = [Says("Use argon2, and keep the token in a cookie: both were decided before.")]
    async with talking(environ, project, script, aside) as (agent, server):
        for title, (question, answer) in past.items():
            talk = await agent.create_conversation(title=title, tags=["past"])
            await talk.store_turn(question, answer)
        await agent.app.jobs.wait(60)

        similar = await agent.find_similar_conversations(
            query="refactoring authentication", limit=3
        )
        talks = await agent.list_conversations(tags=["past"], limit=50)
        insights = await agent.batch_analyze(
            [*talks[:2], talks[2].facts],
            "Extract what was learned in this conversation.",
            {
                "main_topic": {"type": "string"},
                "key_findings": {"type": "array", "items": {"type": "string"}},
                "action_items": {"type": "array", "items": {"type": "string"}},
            },
        )
        for talk, insight in zip(talks, insights.outputs, strict=True):
            assert insight is not None
            told = insight.model_dump()
            text = f"{told['main_topic']}: {' '.join(told['key_findings'])}"
            await agent.remember(text, tags=["insight"], conversation=talk)
        await agent.app.jobs.wait(60)
        [learned, *_] = await agent.notes("which hash do passwords use", tags=["insight"])
        fresh = await agent.create_conversation()
        answer = await fresh.send_message("How should the new service do authentication?")
        asked = server.asked_in_turns[0].text

    assert {one.conversation.title for one in similar[:2]} == {"Tokens", "Passwords"}
    for question, said in past.values():
        assert question in "".join(analysed)
        assert said in "".join(analysed)
    assert not insights.failed
    topics = [insight.model_dump()["main_topic"] for insight in insights.outputs if insight]
    assert topics == [talk.facts.title for talk in talks], "one each, in the order of the items"
    assert learned.text == "Passwords: Authentication uses argon2 now."
    assert "argon2" in asked
    assert "cookie" in asked
    assert answer.content.startswith("Use argon2")
