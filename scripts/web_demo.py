"""A small store for pictures of `ragforge web`: a shop, a blog, and what three agents did there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from ragforge.app import App
from ragforge.domain.conversations import Conversation, Message, ToolCall, ToolResult
from ragforge.domain.instants import now
from ragforge.domain.receipts import LeftOut, Receipt, ReceiptItem, SearchReport

PRICING = '''"""Prices of carts."""

from decimal import Decimal


def apply_discount(total: Decimal, percent: int) -> Decimal:
    """Return a total with a discount, rounded to cents."""
    return (total * (100 - percent) / 100).quantize(Decimal("0.01"))


def check_out(cart: list[Decimal], percent: int = 0) -> Decimal:
    return apply_discount(sum(cart, Decimal(0)), percent)
'''
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
DIFF = "@@ -8,1 +8,1 @@\n-    return (total).quantize(CENT)\n+    return (total)\n"
RECEIPT = Receipt(
    20_000,
    13_200,
    (
        ReceiptItem("last_user_queries", "turns 1-3", "what was asked before", 900),
        ReceiptItem("code", "pricing.py:6-8 apply_discount", "named in the question", 4_200, 0.91),
        ReceiptItem("code", "pricing.py:11-12 check_out", "uses it", 1_800, 0.72),
        ReceiptItem("recent_turns", "turns 2-3", "this session", 2_600),
        ReceiptItem("past_turns", "turn 7 of 1f3a", "similar", 2_100, 0.66, "code changed since"),
        ReceiptItem("summaries", "L1 of turns 0-6", "similar", 1_600, 0.51),
    ),
    (LeftOut("code", "cart.py:1-80", "over the budget"),),
    (SearchReport("memory", "ok", 12, 9), SearchReport("code", "ok", 31, 14)),
)


def write_project(folder: Path) -> None:
    """Write the files of the shop."""
    (folder / ".git").mkdir(parents=True)
    (folder / "pricing.py").write_text(PRICING, "utf-8")


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
            Message("assistant", ANSWER, token_count=1_834, receipt=RECEIPT.to_json()),
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
    return rounding.uuid


def _call(name: str, arguments: object, result: object, took: int = 2_140) -> ToolCall:
    return ToolCall(name, arguments, ToolResult(True, result), duration_ms=took)


async def _store(app: App, session: Conversation, hours: int, said: Sequence[Message]) -> None:
    """Store a session as if it had been some hours ago."""
    then = now() - timedelta(hours=hours)
    store = app.store.conversations
    await store.create(replace(session, created_at=then, updated_at=then))
    await store.append(session.uuid, [replace(message, timestamp=then) for message in said])
