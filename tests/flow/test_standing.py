"""What a user said to hold from then on is in later requests, in other sessions as well."""

from __future__ import annotations

from pathlib import Path

from ragforge import App
from ragforge.context.entries import format_note
from ragforge.domain.conversations import Message
from ragforge.domain.hits import TurnHit
from ragforge.domain.schema import CONVERSATION
from ragforge.domain.turns import group_into_turns
from ragforge.memory.sessions import create_session
from tests.fakes.builders import user
from tests.flow.test_arrival import messages, opened

LIBRARIES = "Always include version numbers when I ask about libraries."


async def tell(app: App, *said: str) -> None:
    """Store an earlier session in which a user said this."""
    talk = await create_session(app.store, app.cwd, app.project)
    for text in said:
        turn = [Message("user", text), Message("assistant", "Understood.")]
        await app.recorder.store_turn(talk.uuid, turn)


async def test_an_instruction_of_an_earlier_session_is_in_the_request(
    environ: dict[str, str], project: Path
) -> None:
    async with opened(environ, project) as (app, server):
        await tell(app, "Where is the cart?\nAlways use tabs.", LIBRARIES)
        new = await create_session(app.store, app.cwd, app.project)
        answer = await app.ask("Write a parser for dates.", new.uuid)
        text = str(messages(server))
        await app.ask("Which libraries do we need?", new.uuid)
        about_libraries = str(messages(server))

    assert "* Always use tabs. (" in text
    assert f"* {LIBRARIES}" not in text  # it names a case, and this is another
    assert f"* {LIBRARIES} (" in about_libraries
    assert answer.receipt is not None
    [item] = [one for one in answer.receipt.items if one.section == "notes"]
    assert (item.source[:4], item.why) == ("turn", "found by instruction")


async def test_a_forgotten_session_takes_its_instructions_along(
    environ: dict[str, str], project: Path
) -> None:
    async with opened(environ, project) as (app, server):
        await tell(app, "Always use tabs.")
        [talk] = await app.sessions.find()
        await app.store.records.delete(CONVERSATION, talk.uuid)
        new = await create_session(app.store, app.cwd, app.project)
        await app.ask("Write a parser for dates.", new.uuid)

        assert "Always use tabs" not in str(messages(server))


def test_the_model_follows_only_the_readers_own_instructions() -> None:
    said = user("Always use tabs.", author="Bob <bob@example.org>")
    [turn] = group_into_turns([said])
    hit = TurnHit(turn, "c", 0.0, 1.0, ("instruction",))

    assert format_note(hit, "bob@example.org").startswith("* Always use tabs. (")
    assert format_note(hit, "ann@example.org").startswith("- Always use tabs. (Bob, ")


async def test_a_rule_is_in_every_request_and_its_correction_in_its_place(
    environ: dict[str, str], project: Path
) -> None:
    async with opened(environ, project) as (app, server):
        await tell(app, "Where is the cart?")
        await app.notes.remember("Always run the tests with -x.", rule=True)
        new = await create_session(app.store, app.cwd, app.project)
        answer = await app.ask("Write a haiku about autumn leaves.", new.uuid)
        before = str(messages(server))
        corrected = await app.notes.remember("Never run the tests with -x.")
        await app.ask("Write another one.", new.uuid)
        after = str(messages(server)[-1]["content"])

    assert "* Always run the tests with -x. (" in before
    assert answer.receipt is not None
    assert [one.why for one in answer.receipt.items if one.section == "notes"] == ["found by rule"]
    assert corrected.is_rule
    assert "* Never run the tests with -x. (" in after
    assert "Always run the tests" not in after


async def test_the_newer_of_two_instructions_holds(environ: dict[str, str], project: Path) -> None:
    async with opened(environ, project) as (app, server):
        await tell(app, "Always use tabs.")
        await tell(app, "Never use tabs.", "Always keep the port at 8080.")
        await app.notes.remember("The host is db1.")
        rules = await app.notes.find_rules()
        new = await create_session(app.store, app.cwd, app.project)
        await app.ask("Write a parser for dates.", new.uuid)
        text = str(messages(server))

    assert "* Never use tabs. (" in text
    assert "Always use tabs" not in text
    replaced = {rule.text: rule.replaced_by and rule.replaced_by.text for rule in rules}
    assert replaced["Always use tabs."] == "Never use tabs."
    assert replaced["Never use tabs."] is None
    assert all(rule.source.startswith("ragforge, session ") for rule in rules)


async def test_a_note_and_an_instruction_correct_each_other_until_the_user_says_no(
    environ: dict[str, str], project: Path
) -> None:
    async with opened(environ, project) as (app, _):
        await tell(app, "Always run the tests with -x.")
        note = await app.notes.remember("Never run the tests with -x.", rule=True)
        [linked] = await app.notes.find_corrections(linked=True)
        await app.notes.decide(linked.id, replaces=False)
        both = await app.notes.find_rules()
        await tell(app, "Never use tabs in the web folder.")
        await app.notes.remember("Use tabs.")
        await tell(app, "Always deploy on Mondays.")
        older = await app.notes.remember("Deploy on Fridays.")
        asked = await app.notes.find_corrections()

    assert (linked.newer.id, linked.older.is_note) == (note.uuid, False)
    assert [rule.replaced_by for rule in both] == [None, None]
    assert older.uuid not in {one.older.id for one in asked}
