"""Quick: turns are ranked for a hook, the same on every engine."""

from __future__ import annotations

import pytest

from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.app.hook.prompt_memory import find_for_prompt
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.passages import PassageFilter
from ragforge.domain.schema import CONVERSATION, PASSAGE
from ragforge.memory.embed import embed_missing
from ragforge.memory.search.quick import rank_quickly
from ragforge.memory.search.signals import NO_SESSION
from ragforge.ports.store import Store
from ragforge.search.turn_rank import LastTurn, SessionSoFar
from tests.fakes.builders import assistant, conversation, tool_call, tool_result, user

ROOT = "/home/ann/shop"
SHOP = MemoryFilter(project_ids=["shop"])
LONG = "The cookie's domain was the host.\n\n" + "Nothing else had changed since then. " * 90


def edit(file: str) -> object:
    path = f"{ROOT}/{file}"
    result = tool_result({"changes": [{"file": path, "diff": "@@ -1 +1 @@\n-a\n+b\n"}]})
    return tool_call("Edit", arguments={"file_path": path}, result=result)


@pytest.fixture
async def shop(store: Store) -> Store:
    """Two turns of a project that edited a file each, and one of another project."""
    for project, uuid, asked, file, said in (
        ("shop", "login", "The login loops: look at the cookie", "src/login.py", LONG),
        ("shop", "cart", "Add the tax to the totals of the cart", "src/cart.py", "Done."),
        ("other", "far", "The login loops because of the cookie", "src/far.py", "Done."),
    ):
        talk = conversation(uuid=f"c-{uuid}", project_path=ROOT, cwd=ROOT, project_id=project)
        await store.records.put(CONVERSATION, talk)
        answer = assistant(said, edit(file))  # type: ignore[arg-type]
        await store.timeline.append(talk.uuid, [user(asked, uuid=uuid), answer])
    await embed_missing(store, BundledEmbedder())
    return store


@pytest.mark.parametrize("embedder", [None, BundledEmbedder()], ids=["words", "meaning"])
async def test_the_turn_that_holds_the_words_is_first(
    shop: Store, embedder: BundledEmbedder | None
) -> None:
    ranking = await rank_quickly(shop, embedder, "why did the login loop? the cookie?", SHOP)

    assert next(iter(ranking.scores)) == "login"
    assert "far" not in ranking.scores
    assert ranking.relevance > 0.5


@pytest.mark.parametrize("message", ["thanks!", "commit this", "yes", "how do I boil an egg?"])
async def test_what_needs_nothing_gets_nothing(shop: Store, message: str) -> None:
    assert not (await rank_quickly(shop, BundledEmbedder(), message, SHOP)).scores


async def test_the_session_finds_what_a_prompt_does_not_name(shop: Store) -> None:
    session = SessionSoFar.of([LastTurn("round the totals", ["src/cart.py"])])

    ranking = await rank_quickly(shop, BundledEmbedder(), "yes, go on", SHOP, session)

    assert next(iter(ranking.scores)) == "cart"
    assert [passage.files for passage in ranking.found.session_deeds] == [("src/cart.py",)]


async def test_the_passages_of_some_turns_are_compared(shop: Store) -> None:
    vector = await BundledEmbedder().embed_query("which domain had the cookie?")
    of_login = PassageFilter(kind="said", turn_ids=["login"])

    found = await shop.index.search(PASSAGE, "", vector, of_login, 9)

    assert found.by_vector[0].id == "login:1"
    assert {match.id.partition(":")[0] for match in found.by_vector} == {"login"}


async def test_the_end_of_a_long_turn_is_shown_if_only_its_prompt_matches(shop: Store) -> None:
    talk = conversation(uuid="c-okapi", project_path=ROOT, cwd=ROOT, project_id="shop")
    await shop.records.put(CONVERSATION, talk)
    said = "\n\n".join(f"Step {number}: " + "nothing happened here. " * 40 for number in range(15))
    asked = user("Where does the okapi of the zoo sleep?", uuid="okapi")
    await shop.timeline.append(talk.uuid, [asked, assistant(f"{said}\n\nAt the very end: in hay.")])

    found = find_for_prompt(shop, None, "the okapi of the zoo sleeps where?", ["shop"], NO_SESSION)
    entries = [entry async for entry in found]

    assert "At the very end: in hay." in entries[-1].text
