"""A rich store: every kind of fact that a store can hold, at least twice where it may be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from ragforge.domain.chat import UsageRecord
from ragforge.domain.code import FileMention, Project, Relation, Scope
from ragforge.domain.conversations import Conversation
from ragforge.domain.projects import Checkout
from ragforge.domain.schema import (
    CHECKOUT,
    CONVERSATION,
    MESSAGE,
    NOTE,
    PASSAGE,
    PROJECT,
    SUMMARY,
    TURN,
    USAGE,
)
from ragforge.domain.summaries import Summary
from ragforge.domain.work import Holder, NewJob
from ragforge.ports.store import Store
from tests.fakes.builders import (
    assistant,
    at,
    conversation,
    direction,
    document,
    level_2,
    mention,
    note,
    parsed,
    project,
    reference,
    scope,
    summary,
    system,
    tool_call,
    tool_result,
    user,
    vector,
    web_page,
)
from tests.fakes.code import embed_scopes
from tests.fakes.hostile import HOSTILE
from tests.fakes.jobs import fail_job, finish_job
from tests.fakes.projects import relate

ELSEWHERE = Holder("another-host", 4711, 1_700_000_000.25, "token of another host")


@dataclass(frozen=True, slots=True)
class Rich:
    """What was put into a rich store."""

    cart: Conversation
    billing: Conversation
    branch: Conversation
    turn_ids: tuple[str, ...]  # the turns of `cart`, oldest first
    summaries: tuple[Summary, ...]  # two L1 of `cart`, then the L2 over them
    shop: Project
    bank: Project
    scopes: tuple[Scope, ...]  # of `shop`: Cart, Cart.add, total


async def fill(store: Store) -> Rich:
    """Put every kind of fact into an empty store, and a lock."""
    await _fill_jobs(store)
    await store.locks.acquire("ingestion", ELSEWHERE, timedelta(hours=1))
    return await fill_facts(store)


async def fill_facts(store: Store) -> Rich:
    """Put conversations, summaries and code into a store."""
    shop, bank, scopes = await _fill_code(store)
    cart = conversation(uuid="cart", title="Cart", tags=("shop", "été", ""), updated_at=at(1, 5.5))
    said = {
        "agent": "claude-code",
        "agent_version": "2.1",
        "agent_session": "s",
        "parent_id": "cart",
    }
    billing = conversation(
        *("/work/bank",), uuid="billing", summary="", status="archived", git_branch="main", **said
    )
    for new in (cart, billing):
        await store.records.put(CONVERSATION, new)
    turn_ids = await _fill_messages(store, scopes)
    asked = UsageRecord("cart", "gpt-5", 1_200, 80, 1_000, 7, 2, 0.25, "usage-1", at(0, 9))
    unpriced = UsageRecord("billing", None, 10, 5, uuid="usage-2", created_at=at(2))
    await store.records.put(USAGE, asked, unpriced)
    summaries = await _fill_summaries(store, scopes)
    await _fill_notes(store)
    branch = await store.timeline.branch(
        "answer-1", conversation(uuid="branch", title="Another way", created_at=at(60))
    )
    await store.records.put(CONVERSATION, conversation(uuid="deleted", agent="codex"))
    await store.timeline.append("deleted", [user(uuid="deleted-0")])
    await store.records.delete(CONVERSATION, "deleted")  # its ids stay
    return Rich(cart, billing, branch, turn_ids, summaries, shop, bank, scopes)


async def _fill_code(store: Store) -> tuple[Project, Project, tuple[Scope, ...]]:
    shop, bank = project(uuid="shop", state="ready"), project("/work/bank", uuid="bank")
    for one in (shop, bank):
        await store.records.put(PROJECT, one)
        place = Checkout(one.path, one.project_id, "ann", f"host/{one.uuid}", ("1" * 40, "2" * 40))
        await store.records.put(
            CHECKOUT, replace(place, uuid=one.uuid, former_ids=("/old",), seen_at=at(4))
        )
    path = "src/cart.py"
    whole = scope("Cart", path, (1, 30), uuid="Cart", type="class", docstring="Holds zebras.")
    add = scope("add", path, (5, 9), uuid="Cart.add", qualified_name="Cart.add", language="python")
    total = scope("total", path, (32, 40), uuid="total", signature="def total(cart) -> int")
    files = [
        parsed(path, whole, add, total, uuid="f-cart", language="python", size=9, mtime=at(0, -3)),
        parsed("src/ümlaut dir/%_[a].py", uuid="f-odd", language=None),
        document("docs/guide.md", "Install", "Upgrade"),
        web_page("https://docs.example.org/a/guide?v=2", "Leases"),
    ]
    await store.code.replace_files(shop.uuid, files)
    await store.code.replace_files(bank.uuid, [parsed(path, scope("Cart", path), uuid="b-cart")])
    relations = [
        Relation("HAS_PARENT", add.uuid, whole.uuid),
        Relation("CONSUMES", total.uuid, add.uuid),
        Relation("INHERITS_FROM", whole.uuid, total.uuid),
        Relation("IMPORTS", "f-cart", "f-odd"),
        Relation("USES_LIBRARY", "f-cart", "numpy"),
    ]
    await relate(store, shop.uuid, relations)
    await embed_scopes(store, {whole.uuid: vector(1, 0, 0, model="code-model")}, whole.hash)
    older = {total.uuid: vector(0, 0.5, 0, model="code-model")}
    await embed_scopes(store, older, "an older hash")
    return shop, bank, (whole, add, total)


async def _fill_messages(store: Store, scopes: tuple[Scope, ...]) -> tuple[str, ...]:
    talk = store.timeline
    failed = tool_result(None, success=False, error="no such file", timestamp=at(3, 2))
    await talk.append(
        "cart",
        [
            system(uuid="rules"),
            user("Where do zebras go?", uuid="turn-0", timestamp=at(0, 9), token_count=0),
            assistant(
                "",
                tool_call(uuid="call-0", arguments={"regex": "zebra\ud800", "n": [1, 2.5, None]}),
                tool_call("read_file", uuid="call-1", result=failed, success=False, iteration=2),
                tool_call("run_command", uuid="call-2", result=None, duration_ms=12),
                reasoning="Perhaps in the cart.",
                uuid="step-0",
            ),
            assistant("Into the cart.", uuid="answer-0"),
            user("修复数据库连接 👍🏽", uuid="turn-1", timestamp=at(1)),
            assistant(HOSTILE["NUL"], uuid="answer-1", timestamp=at(1)),
            user("And elephants?", uuid="turn-2", timestamp=at(2)),
        ],
    )
    await talk.set_link_pending(["turn-2"], True)
    await talk.append("billing", [user("Who pays for zebras?", uuid="bill-0")])
    await store.index.embed(TURN, {"turn-0": direction(0), "turn-1": direction(90)})
    await store.index.embed(TURN, {"bill-0": direction(45)})
    await store.index.embed(PASSAGE, {"turn-0:1": direction(15)})
    await store.index.embed(CONVERSATION, {"cart": direction(10)})
    whole, add, _ = scopes
    await talk.link(
        MESSAGE, "step-0", [reference(add.uuid, add.file, "Cart.add", add.hash, "edited")]
    )
    await talk.link(MESSAGE, "answer-1", [reference(whole.uuid, whole.file, "Cart", whole.hash)])
    await talk.link(MESSAGE, "answer-1", [reference("gone", "src/old.py", "old", "", "found")])
    return "turn-0", "turn-1", "turn-2"


async def _fill_summaries(store: Store, scopes: tuple[Scope, ...]) -> tuple[Summary, ...]:
    first = summary("cart", uuid="l1-0", key_findings=("Zebras fit.", ""), topics=("zebra",))
    second = summary("cart", 1, 1, uuid="l1-1", made_by="model-x", created_at=at(5, -7))
    both = level_2([first, second], uuid="l2", created_at=at(6))
    for one in (first, second, both):
        await store.timeline.save_summary(one)
    await store.timeline.save_summary(summary("billing", uuid="b-l1", created_at=at(-99)))
    await store.timeline.trim(at(-98))
    await store.index.embed(SUMMARY, {"l1-0": direction(20), "l2": direction(70)})
    code = [reference(scopes[0].uuid, scopes[0].file, "Cart", scopes[0].hash)]
    await store.timeline.link(
        SUMMARY, "l1-0", code, [mention("src/cart.py"), mention("gone.py", "")]
    )
    await store.timeline.link(
        SUMMARY, "l2", [], [FileMention("f-cart", "src/cart.py", "h2", "read")]
    )
    return first, second, both


async def _fill_notes(store: Store) -> None:
    await store.records.put(NOTE, note(uuid="zz-old", tags=("deploy", "é"), conversation_id="cart"))
    newer = note(HOSTILE["NUL"], uuid="aa-new", supersedes="zz-old", created_at=at(3, 5.5))
    await store.records.put(NOTE, newer)
    await store.records.put(NOTE, note("Zebras pay cash.", "/work/bank", uuid="bank-note"))
    await store.index.embed(NOTE, {"zz-old": direction(30), "aa-new": direction(60)})


async def _fill_jobs(store: Store) -> None:
    jobs = store.jobs
    await jobs.enqueue([NewJob("job-done", "embed", {"turn": "turn-0"}, at(0))])
    await jobs.claim(ELSEWHERE, timedelta(hours=1))
    await finish_job(store, "job-done", ELSEWHERE)
    await jobs.enqueue([NewJob("job-dead", "summarise", ["cart", 1], at(1))])
    await jobs.claim(ELSEWHERE, timedelta(hours=1))
    await fail_job(store, "job-dead", ELSEWHERE, "the model refused ✗")
    await jobs.enqueue([NewJob("job-waiting", "embed", None, at(9_000_000, 3))])
    await jobs.enqueue([NewJob("job-ready", "title", "cart", at(2))])
