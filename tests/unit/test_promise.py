"""The promise of docs/versions.md: what the last release offered is still there."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from ragforge import __version__
from scripts import public_surface

RELEASED = json.loads(public_surface.FILE.read_text("utf-8"))
Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def now() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(public_surface.describe()))
    return found


def test_nothing_that_the_last_release_offered_is_gone_or_different(now: dict[str, Any]) -> None:
    assert public_surface.find_broken(RELEASED, now) == [], (
        "This breaks programs that use RagForge: docs/versions.md says what to do."
    )
    assert RELEASED["version"].split(".")[:2] == __version__.split(".")[:2], (
        "A release renews the file: python -m scripts.public_surface"
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda s: s["python"].pop("ragforge.ask"), "ragforge.ask is gone"),
        (lambda s: s["python"].pop("ragforge.Answer.content"), "ragforge.Answer.content is gone"),
        (
            lambda s: s["python"]["ragforge.ask"].pop(0),
            "ragforge.ask: question is gone",
        ),
        (
            lambda s: s["python"]["ragforge.ask"].append(["colour", "KEYWORD_ONLY", True]),
            "ragforge.ask: colour is new and must be given",
        ),
        (lambda s: s["commands"]["ragforge ask"].remove("--json"), "option --json is gone"),
        (lambda s: s["mcp"].pop("recall"), "recall is gone"),
        (lambda s: s["mcp"]["recall"]["properties"].pop("since"), "recall: since is gone"),
        (lambda s: s["mcp"]["recall"]["required"].append("since"), "recall: since must be given"),
        (lambda s: s["json"].clear(), "no JSON object has the keys"),
        (lambda s: s["settings"].remove("llm.model"), "setting llm.model is gone"),
    ],
)
def test_each_kind_of_break_is_found(change: Change, told: str, now: dict[str, Any]) -> None:
    later = copy.deepcopy(now)

    change(later)

    assert any(told in one for one in public_surface.find_broken(now, later))


def test_what_is_added_breaks_nothing(now: dict[str, Any]) -> None:
    later = copy.deepcopy(now)
    later["python"]["ragforge.ask"].append(["colour", "KEYWORD_ONLY", False])
    later["python"]["ragforge.more"] = None
    later["commands"]["ragforge ask"].append("--colour")
    later["mcp"]["recall"]["properties"]["colour"] = "string"
    later["json"][0].append("colour")

    assert public_surface.find_broken(now, later) == []
