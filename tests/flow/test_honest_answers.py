"""Questions that a project does not answer and words that it does not contain are reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragforge.app import open_app
from ragforge.config import load_settings
from ragforge.domain.hits import MIN_RELEVANCE
from ragforge.tools.search_code import make_code_tool
from tests.fakes.projects import SHOP, write
from tests.fakes.zygote import run_module

KUBERNETES = "Where is the Kubernetes operator reconciliation loop implemented?"
RECIPE = "a recipe for sourdough bread with rye"


class Shop:
    def __init__(self, root: Path, environ: dict[str, str]) -> None:
        self.root = root
        self.environ = environ

    def run(self, *arguments: str) -> tuple[str, str]:
        done = run_module("ragforge", *arguments, cwd=self.root, env=self.environ)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    def search(self, query: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run("search", query, "--json")[0])
        return found


@pytest.fixture
def shop(tmp_path: Path, environ: dict[str, str]) -> Shop:
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    write(root, SHOP)
    shop = Shop(root, environ)
    shop.run("ingest")
    return shop


def test_an_answer_without_a_model_names_the_words_that_are_nowhere(shop: Shop) -> None:
    said, _ = shop.run("ask", KUBERNETES)

    assert 'Nothing in this project\'s code or documents says "Kubernetes", "operator"' in said
    assert "`ragforge search` shows what is nearest." in said
    assert "shop/" not in said


def test_places_are_shown_below_the_words_that_are_nowhere(shop: Shop) -> None:
    said, _ = shop.run("ask", "Where is the total of a cart computed for Kubernetes?")

    first, _, rest = said.partition("\n")
    assert first.endswith('says "Kubernetes".')
    assert first.startswith('One place in the code has "cart".')
    assert "shop/" in rest


def test_a_word_is_not_called_unknown_if_its_stem_has_another_stem(shop: Shop) -> None:
    write(
        shop.root, {"shop/flags.py": "def reset():\n    silenceUsage = False\n    return False\n"}
    )
    shop.run("ingest")

    assert shop.search("where is silenceUsage set to False")["unknown"] == []


def test_documents_come_first_in_an_answer_about_the_project_itself(shop: Shop) -> None:
    write(
        shop.root,
        {
            "README.md": "# Shop\n\n## Installation\n\nInstall the shop with `pip install shop`.\n",
            "shop/install.py": "def install_discount(cart):\n    return cart.install()\n",
        },
    )
    shop.run("ingest")

    said, _ = shop.run("ask", "How do I install the shop?")
    places = [line for line in said.splitlines() if line[:1].isalpha()][1:]

    assert places[0].startswith("README.md")


def test_a_place_that_is_too_long_for_a_model_is_in_an_answer_without_one(shop: Shop) -> None:
    long = "".join(f"    step{n} = wind(clock, {n})\n" for n in range(800))
    write(shop.root, {"shop/clock.py": f"def wind_the_clock(clock):\n{long}    return clock\n"})
    shop.run("ingest")

    said, _ = shop.run("ask", "Where is the clock wound with wind_the_clock?")

    assert "def wind_the_clock(clock):" in said


def test_there_is_nothing_to_look_up_in_thanks(shop: Shop) -> None:
    said, _ = shop.run("ask", "Thanks, that is great!")

    assert said.startswith("There is nothing to look up in that.")


def test_a_search_by_itself_is_not_a_past_exchange(shop: Shop) -> None:
    shop.run("ask", "sourdough bread")

    said, _ = shop.run("ask", RECIPE)

    assert "session" not in said


def test_the_score_of_a_search_means_the_same_for_every_question(shop: Shop) -> None:
    recipe, total = shop.search(RECIPE), shop.search("how is the total of a cart computed")

    assert {"sourdough", "bread", "rye"} <= set(recipe["unknown"])
    assert all(hit["score"] < MIN_RELEVANCE for hit in recipe["hits"])
    assert total["unknown"] == []
    assert total["hits"][0]["score"] > 0.5


def test_a_search_says_that_nothing_fits_well(shop: Shop) -> None:
    _, told = shop.run("search", RECIPE)

    assert '"sourdough"' in told
    assert "Nothing fits well; this is the nearest:" in told


def test_words_of_a_question_in_another_language_are_searched_for_in_english(shop: Shop) -> None:
    assert shop.search("Wo wird die Summe des Warenkorbs berechnet?")["unknown"] == []


async def test_an_agent_is_told_the_words_that_are_nowhere(shop: Shop) -> None:
    settings = load_settings(shop.root, environ=shop.environ).settings
    async with open_app(settings, shop.root) as app:
        found: Any = await make_code_tool(app.brain).run({"query": KUBERNETES})

    assert "Kubernetes" in found["unknown"]
