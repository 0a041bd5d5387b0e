"""Sessions in a store: by directory, by the start of an id, branched, tagged and renamed."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge.app.features.sessions import Sessions
from ragforge.domain.conversations import Identity
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.schema import CONVERSATION
from ragforge.errors import AmbiguousId, ConversationNotFound, InputError
from ragforge.memory.sessions import create_session, get_sessions_by_cwd, load_session
from ragforge.ports.store import Store
from tests.fakes.builders import SHOP, assistant, at, conversation, exchange, user
from tests.fakes.whole import read_whole


def sessions_of(store: Store) -> Sessions:
    """Return the sessions of a store, as one user in one project sees them."""
    return Sessions(store, Path(SHOP), ProjectPlace.at(SHOP), None, Identity("Ann", "host"))


async def test_sessions_belong_to_exactly_one_directory(store: Store, tmp_path: Path) -> None:
    talk = store.timeline
    place = tmp_path / "project" / "src"
    (tmp_path / "project" / ".git").mkdir(parents=True)
    place.mkdir()
    (tmp_path / "link").symlink_to(place)
    first = await create_session(store, place)
    await talk.append(first.uuid, exchange("How are you?", "Well."))
    second = await create_session(store, tmp_path / "link" / ".." / "src")

    for name in (place, tmp_path / "link", Path(f"{place}/"), place / ".." / "src"):
        lines = await get_sessions_by_cwd(store, name)
        assert {line.conversation.uuid for line in lines} == {first.uuid, second.uuid}
    assert await get_sessions_by_cwd(store, tmp_path / "project") == []
    assert first.project_path == second.project_path == str((tmp_path / "project").resolve())
    [line] = [one for one in lines if one.conversation.uuid == first.uuid]
    assert line.last_message == "Well."
    assert line.conversation.turn_count == 1
    assert line.conversation.created_at == at(0)  # when its first message was sent


async def test_a_session_is_loaded_with_its_turns(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    await store.timeline.append("c", [*exchange("One?", "1"), *exchange("Two?", "2")])

    session = await load_session(store, "c")

    assert [turn.answer for turn in session.turns] == ["1", "2"]
    with pytest.raises(ConversationNotFound):
        await load_session(store, "nobody")


async def test_the_start_of_an_id_is_enough_where_it_is_the_only_one(store: Store) -> None:
    for uuid in ("ab12", "ab", "cd34", "cd35"):
        await store.records.put(CONVERSATION, conversation(uuid=uuid, title=f"About\n{uuid}"))

    assert (await sessions_of(store).load("ab1")).uuid == "ab12"
    assert (
        await sessions_of(store).load(" ab ")
    ).uuid == "ab"  # all of it beats the start of another
    with pytest.raises(AmbiguousId, match=r"'cd': cd34 \(About cd34\); cd35 \(About cd35\)"):
        await sessions_of(store).load("cd")
    with pytest.raises(ConversationNotFound, match="'x'"):
        await sessions_of(store).load("x")
    with pytest.raises(InputError, match="empty"):
        await sessions_of(store).load("  ")


async def test_many_candidates_are_listed_in_part(store: Store) -> None:
    for number in range(8):
        await store.records.put(CONVERSATION, conversation(uuid=f"a{number}"))
    with pytest.raises(AmbiguousId) as caught:
        await sessions_of(store).load("a")
    assert len(caught.value.candidates) == 6
    assert caught.value.candidates[-1] == "…"


async def test_a_branch_starts_at_a_turn_or_at_a_message(store: Store) -> None:
    talk = store.timeline
    await store.records.put(CONVERSATION, conversation(uuid="c", title="Leases", tags=("jobs",)))
    said = [user(uuid="u0"), assistant(uuid="a0"), user(uuid="u1"), assistant(uuid="a1")]
    await talk.append("c", said)
    source = await store.records.get(CONVERSATION, "c")

    after_turn = await sessions_of(store).branch(source, "0")
    at_message = await sessions_of(store).branch(source, "u1", title="Another way")

    assert (after_turn.title, after_turn.tags) == ("Leases (branch)", ("jobs",))
    assert (after_turn.cwd, after_turn.project_path) == (source.cwd, source.project_path)
    assert (after_turn.message_count, at_message.message_count) == (2, 3)
    assert at_message.title == "Another way"
    assert len((await read_whole(store, "c")).branches) == 2
    for nothing in ("7", "zz", "", "½"):
        with pytest.raises(InputError, match="Its turns are 0 to 1"):
            await sessions_of(store).branch(source, nothing)
    with pytest.raises(AmbiguousId, match=r"u0 \(turn 0\); u1 \(turn 1\)"):
        await sessions_of(store).branch(source, "u")


async def test_what_follows_a_branch_stays_on_its_side(store: Store) -> None:
    talk = store.timeline
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    await talk.append("c", exchange("One?", "1"))
    other = await sessions_of(store).branch(await store.records.get(CONVERSATION, "c"), "0")
    await talk.append("c", exchange("Two?", "2"))
    await talk.append(other.uuid, exchange("Another?", "3"))

    assert [t.answer for t in (await load_session(store, "c")).turns] == ["1", "2"]
    assert [t.answer for t in (await load_session(store, other.uuid)).turns] == ["1", "3"]


async def test_tags_are_added_once_and_removed(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c", tags=("old",), created_at=at(5)))

    tagged = await sessions_of(store).retag(
        await store.records.get(CONVERSATION, "c"), add=[" auth ", "old", "auth"]
    )
    assert tagged.tags == ("old", "auth")
    assert tagged.updated_at == at(5)
    assert (await sessions_of(store).retag(tagged, remove=["old", "never there"])).tags == ("auth",)
    with pytest.raises(InputError, match="empty"):
        await sessions_of(store).retag(tagged, add=["fine", " "])


async def test_a_title_is_one_line_without_secrets(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    token = "ghp_" + "Ab1" * 12

    renamed = await sessions_of(store).rename(
        await store.records.get(CONVERSATION, "c"), f" About\n {token} "
    )

    assert renamed.title is not None
    assert renamed.title.startswith("About [redacted")
    with pytest.raises(InputError, match="empty"):
        await sessions_of(store).rename(renamed, " \n")
