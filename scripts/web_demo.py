"""A small store for pictures of `ragforge web`: a shop, a blog, and what three agents did there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from ragforge.app import App
from ragforge.domain.chat import UsageRecord
from ragforge.domain.code import CodeReference
from ragforge.domain.conversations import Conversation, Message, ToolCall, ToolResult
from ragforge.domain.instants import now
from ragforge.domain.receipts import (
    Layout,
    LeftOut,
    Receipt,
    ReceiptItem,
    RequestPart,
    SearchReport,
)
from ragforge.domain.schema import CONVERSATION, MESSAGE, USAGE
from ragforge.domain.summaries import Summary

ANSWER = """`apply_discount` rounded every time it was called. Rounding belongs to the end:

```python
def check_out(cart, percents=()):
    total = sum(cart, Decimal(0))
    for percent in percents:
        total = apply_discount(total, percent)
    return total.quantize(CENT)
```

See [the decimal module](https://docs.python.org/3/library/decimal.html).
"""
DIFF = """@@ -6,3 +8,3 @@ def apply_discount
 def apply_discount(total: Decimal, percent: int) -> Decimal:
-    \"\"\"Return a total with a discount, rounded to cents.\"\"\"
-    return (total * (100 - percent) / 100).quantize(Decimal("0.01"))
+    \"\"\"Return a total with a discount; it is rounded at the end, by `check_out`.\"\"\"
+    return total * (100 - percent) / 100
"""
RECEIPT = Receipt(
    20_000,
    13_200,
    (
        ReceiptItem("last_user_queries", "turns 1-3", "one of your latest questions", 900),
        ReceiptItem("code", "pricing.py:6-8 apply_discount", "found by name, words", 4_200, 0.91),
        ReceiptItem("code", "pricing.py:11-12 check_out", "found by words, meaning", 1_800, 0.72),
        ReceiptItem("recent_turns", "turns 2-3", "one of the newest turns", 2_600),
        ReceiptItem(
            *(
                "past_turns",
                "turn 7 of session 1f3a7c20, 2026-11-02",
                "found by words",
                2_100,
                0.66,
            ),
            "changed since: apply_discount",
        ),
        ReceiptItem(
            "summaries", "L1 of turns 0-6, session 1f3a7c20", "found by meaning", 1_600, 0.51
        ),
    ),
    (LeftOut("code", "cart.py:1-80", "over the budget"),),
    (SearchReport("memory", "ok", 12, 9), SearchReport("code", "ok", 31, 14)),
    Layout(
        (
            RequestPart("system prompt", 6_200),
            RequestPart("project instructions", 2_400),
            RequestPart("long-term memory", 3_100),
            RequestPart("turns 2-3", 2_600),
            RequestPart("found for this question", 10_100),
            RequestPart("question", 140),
        ),
        *(2, 2, 11_700),
    ),
)


async def fill(app: App) -> str:
    """Fill a store; return the id of the session to look at."""
    await app.code.ingest()
    shop = app.project_path
    looked = _call("grep_files", {"regex": "quantize", "pattern": "**/*.py"}, {"matches": [1]}, 23)
    edit = {"path": "pricing.py", "old_text": "(total).quantize(CENT)", "new_text": "(total)"}
    tests = _call("run_command", {"command": "pytest -q tests/test_pricing.py"}, {"exit_code": 0})
    rounding = Conversation(
        str(shop),
        str(shop),
        project_id=app.project.id,
        title="Discounts are rounded twice",
        summary="Found that apply_discount rounds on every call; moved rounding to check_out.",
        git_branch="fix/rounding",
    )
    await _store(
        app,
        rounding,
        1,
        [
            Message("user", "Two discounts **in a row** lose a cent. Where do we round?"),
            Message(
                "assistant",
                "I will look at how totals are computed.",
                reasoning="Rounding inside apply_discount is repeated for every discount.",
                tool_calls=(looked, _call("edit_file", edit, {"diff": DIFF}, 4)),
            ),
            Message(
                "assistant",
                ANSWER,
                token_count=1_834,
                receipt=RECEIPT.to_json(),
                model="openai:gpt-5-mini",
                usd=0.0118,
            ),
            Message("user", "Run the tests."),
            Message("assistant", "", tool_calls=(tests,)),
            Message("assistant", "All 13 pass now.", token_count=420),
        ],
    )
    asked = Conversation(
        str(shop),
        str(shop),
        project_id=app.project.id,
        title="Where is the discount computed?",
        agent="claude-code",
        tags=("pricing",),
    )
    said = [
        Message("user", "Where is the discount computed?"),
        Message("assistant", "In `pricing.py`, by `apply_discount`."),
    ]
    await _store(app, asked, 30, said)
    blog = "/home/ann/work/blog"
    deploy = Conversation(blog, blog, title="Deploy the blog with one command", agent="codex")
    said = [Message("user", "Write a deploy script."), Message("assistant", "Done.")]
    await _store(app, deploy, 52, said)
    await _store_traces(app, rounding, asked)
    await _store_usage(app, rounding, asked, deploy)
    return rounding.uuid


async def _store_usage(app: App, *sessions: Conversation) -> None:
    """Store what requests took on days of a month, as three agents would have reported it."""
    models = ("openai:gpt-5-mini", "claude-sonnet-4-5", "gpt-5-codex")
    records = []
    for days in range(30):
        for place, (session, model) in enumerate(zip(sessions, models, strict=True)):
            tokens = (days * 7 + place * 5) % 11 * 9_000
            if (days + place) % 4 and tokens:
                cached, price = tokens * (6 + place) // 10, tokens * 2.4e-6 * (1 + place)
                when = now() - timedelta(days=days)
                records.append(
                    UsageRecord(
                        *(session.uuid, model, tokens, tokens // 30, cached),
                        requests=3 + place,
                        usd=price,
                        created_at=when,
                    )
                )
    await app.store.records.put(USAGE, *records)


async def _store_traces(app: App, rounding: Conversation, asked: Conversation) -> None:
    """Store what the sessions touched, one that was started by another, a summary and notes."""
    store, here = app.store, str(app.project_path)
    looking = Conversation(
        here, here, project_id=app.project.id, title="Find every rounding", parent_id=rounding.uuid
    )
    said = [Message("user", "Find every call of quantize."), Message("assistant", "There is one.")]
    await _store(app, looking, 1, said)
    scopes = {one.name: one for one in await app.code.outline("pricing.py")}
    for session, names in ((rounding, ("apply_discount", "check_out")), (asked, ("check_out",))):
        [first, *_] = await store.timeline.messages(session.uuid)
        touched = [
            CodeReference(scopes[name].uuid, "pricing.py", name, "as it was", "edited")
            for name in names
        ]
        await store.timeline.link(MESSAGE, first.uuid, touched)
    [question, *_] = await store.timeline.messages(looking.uuid)
    read = [
        CodeReference(f"{file} add", file, "add", "h", "read") for file in ("cart.py", "orders.py")
    ]
    await store.timeline.link(MESSAGE, question.uuid, read)
    about = "Discounts were rounded on every call. Rounding moved to `check_out`, with a test."
    made = Summary(rounding.uuid, 1, about, 0, 1, 0, 900, created_at=now() - timedelta(hours=1))
    await store.timeline.save_summary(made)
    await app.notes.remember("Totals are `Decimal`, and are rounded **once**, at the end.")
    await app.notes.remember("We deploy on Fridays, never before a holiday.", tags=["deploy"])


def _call(name: str, arguments: object, result: object, took: int = 2_140) -> ToolCall:
    return ToolCall(name, arguments, ToolResult(True, result), duration_ms=took)


async def _store(app: App, session: Conversation, hours: int, said: Sequence[Message]) -> None:
    """Store a session as if it had been some hours ago."""
    then = now() - timedelta(hours=hours)
    store = app.store.timeline
    await app.store.records.put(CONVERSATION, replace(session, created_at=then, updated_at=then))
    await store.append(session.uuid, [replace(message, timestamp=then) for message in said])
