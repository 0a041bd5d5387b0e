"""Find: code by name, words and meaning, in a project or a part of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.brain.ingestion import progress
from ragforge.brain.ingestion.embed import unsettle
from ragforge.brain.project import Brain
from ragforge.brain.search.code import CodeHit
from ragforge.domain.hits import MIN_HIT_RELEVANCE, NOTHING_RELEVANT, SMALL_TALK, RelevantHits
from ragforge.domain.schema import PROJECT
from ragforge.domain.vectors import MeaningWeights, Vector
from tests.fakes.engines import Engines
from tests.fakes.projects import SHOP, ToyEmbedder, brain_of, write

MORE = {
    "api/cart.py": "class Cart:\n    def add(self, item):\n        return item\n",
    "api/views.py": "from api.cart import Cart\n\n\ndef show_cart():\n    return Cart()\n",
    "api2/cart.py": "def empty_the_cart():\n    return None\n",
}


@pytest.fixture
def toy() -> ToyEmbedder:
    return ToyEmbedder()


@pytest.fixture
async def brain(engines: Engines, tmp_path: Path, toy: ToyEmbedder) -> Brain:
    """A project that is known; the engine does not matter here."""
    root = tmp_path / "project"
    write(root, {**SHOP, **MORE})
    found = brain_of(await engines.empty("sqlite"), root, toy)
    await found.ingest()
    return found


def named(hits: list[CodeHit]) -> list[str]:
    return [f"{hit.scope.file}:{hit.scope.qualified_name}" for hit in hits]


async def test_a_name_in_the_question_finds_what_has_it(brain: Brain) -> None:
    hits = await brain.search("what does round_up do?")

    assert named(hits)[0] == "shop/prices.py:round_up"
    assert "name" in hits[0].signals
    assert hits[0].score == 1.0


async def test_a_qualified_name_finds_the_member(brain: Brain) -> None:
    assert named(await brain.search("Cart.total"))[0] == "shop/cart.py:Cart.total"


async def test_words_find_what_has_another_name(brain: Brain) -> None:
    hits = await brain.search("look a price up in the list")

    assert named(hits)[0] == "shop/prices.py:price_of"
    assert "words" in hits[0].signals


async def test_a_question_about_what_is_done_finds_what_does_it(
    brain: Brain, tmp_path: Path
) -> None:
    body = '    """Each plugin runs once."""\n    return plugin\n'
    write(
        tmp_path / "project",
        {
            "shop/loader.py": f"def run(plugin):\n{body}",
            "shop/extras.py": f"def run(plugin):\n{body}",
        },
    )
    await brain.ingest()

    hits = await brain.search("how is a plugin loaded")

    assert named(hits)[0] == "shop/loader.py:run"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Comment additionner les prix du panier ?", "shop/prices.py"),
        ("où est arrondi un montant", "shop/prices.py"),
        ("Wo wird der Preis in der Liste nachgeschlagen?", "shop/prices.py"),
        ("vider le panier", "api2/cart.py"),
        ("den Warenkorb leeren", "api2/cart.py"),
        ("qué hace el carrito vacío", "api2/cart.py"),
        ("怎么清空购物车", "api2/cart.py"),
        ("価格の一覧から値段を探す", "shop/prices.py"),
    ],
)
async def test_a_question_in_another_language_finds_english_code(
    brain: Brain, question: str, answer: str
) -> None:
    assert (await brain.search(question))[0].scope.file == answer


class Polyglot(ToyEmbedder):
    """Knows French as well as English, and other languages a little."""

    multilingual = True
    weights = MeaningWeights(fluent=frozenset(("french",)))

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def embed_query(self, text: str) -> Vector | None:
        self.asked.append(text)
        return await super().embed_query(text)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Comment vider le panier ?", "Comment vider le panier ?"),
        ("Wie leert man den Warenkorb?", "Wie leert man den Warenkorb?\nclear"),
        ("怎么清空购物车", "怎么清空购物车\nclear"),
    ],
)
async def test_a_model_is_asked_in_english_too_in_a_language_that_it_knows_less(
    engines: Engines, tmp_path: Path, question: str, asked: str
) -> None:
    write(tmp_path / "shop", SHOP)
    polyglot = Polyglot()
    shop = brain_of(await engines.empty("sqlite"), tmp_path / "shop", polyglot)
    await shop.ingest()

    await shop.search(question)

    assert polyglot.asked[-1].startswith(asked)


async def test_how_in_french_does_not_find_comments(engines: Engines, tmp_path: Path) -> None:
    files = {
        "comments.py": "def comment(text):\n    return text\n",
        "files.py": "def delete_file(path):\n    path.unlink()\n",
    }
    write(tmp_path / "blog", files)
    blog = brain_of(await engines.empty("sqlite"), tmp_path / "blog", ToyEmbedder())
    await blog.ingest()

    hits = await blog.search("Comment est-ce qu'on supprime un fichier ?")

    assert named(hits)[0] == "files.py:delete_file"
    assert not any("words" in hit.signals for hit in hits if hit.scope.file == "comments.py")


async def test_code_in_the_language_of_the_question_comes_first(
    engines: Engines, tmp_path: Path
) -> None:
    files = {
        "taxe.py": 'def calcule(panier):\n    """Calcule la taxe des paniers."""\n',
        "tax.py": 'def compute(cart):\n    """Compute the tax of a cart."""\n',
    }
    write(tmp_path / "boutique", files)
    store = await engines.empty("sqlite")
    boutique = brain_of(store, tmp_path / "boutique", ToyEmbedder())
    await boutique.ingest()

    french = await boutique.search("où est calculée la taxe du panier ?")
    english = await boutique.search("where is the tax of the cart computed?")

    assert french[0].scope.file == "taxe.py"
    assert english[0].scope.file == "tax.py"


async def test_documents_are_not_code(brain: Brain) -> None:
    hits = await brain.search("Paying at the end, how to buy")

    assert not any(hit.scope.file.startswith("docs/") for hit in hits)


@pytest.mark.parametrize("question", ["Cart", "where is the cart", "class Cart that holds items"])
async def test_only_whole_directories_pass_the_filter(brain: Brain, question: str) -> None:
    whole = await brain.search(question, limit=50)
    part = await brain.search(question, limit=50, under="api")

    assert {hit.scope.file.partition("/")[0] for hit in whole} >= {"shop", "api", "api2"}
    assert {hit.scope.file for hit in part} == {"api/cart.py", "api/views.py"}


async def test_a_single_file_passes_the_filter(brain: Brain) -> None:
    hits = await brain.search("Cart", under="api/cart.py")

    assert {hit.scope.file for hit in hits} == {"api/cart.py"}


async def test_another_project_is_not_searched(engines: Engines, tmp_path: Path) -> None:
    store = await engines.empty("sqlite")
    for name in ("one", "two"):
        write(tmp_path / name, {"a.py": f"def the_{name}_function(): ...\n"})
        await brain_of(store, tmp_path / name, ToyEmbedder()).ingest()

    hits = await brain_of(store, tmp_path / "one", ToyEmbedder()).search("the function", limit=50)

    assert {hit.scope.name for hit in hits} == {"the_one_function"}
    assert await brain_of(store, tmp_path / "three").search("function") == []


async def test_a_broken_model_leaves_names_and_words(brain: Brain, toy: ToyEmbedder) -> None:
    toy.fails = True

    hits = await brain.search("look a price up in the list, round_up")

    assert {"shop/prices.py:price_of", "shop/prices.py:round_up"} <= set(named(hits))
    assert not any("meaning" in hit.signals or "file" in hit.signals for hit in hits)


async def test_without_a_model_there_are_names_and_words(brain: Brain, engines: Engines) -> None:
    plain = brain_of(await engines.open("sqlite"), brain.root)

    assert named(await plain.search("round_up"))[0] == "shop/prices.py:round_up"


async def test_a_question_without_words_finds_nothing_by_words(brain: Brain) -> None:
    for question in ("", "   ", "???", "\0"):
        assert all("words" not in hit.signals for hit in await brain.search(question))


async def test_no_more_than_the_limit_is_found(brain: Brain) -> None:
    assert len(await brain.search("cart", limit=2)) == 2
    assert await brain.search("cart", limit=0) == []


async def test_neighbours_are_what_a_scope_uses_and_what_uses_it(brain: Brain) -> None:
    [price_of] = [hit.scope for hit in await brain.search("price_of", limit=1)]

    neighbours = await brain.finder.find_neighbours(price_of.uuid)

    assert {(n.scope.qualified_name, n.relation, n.direction) for n in neighbours} == {
        ("round_up", "CONSUMES", "out"),
        ("Cart.total", "CONSUMES", "in"),
    }
    assert await brain.finder.find_neighbours("unknown") == []


@pytest.fixture
async def bundled(engines: Engines, tmp_path: Path) -> Brain:
    """The same project with the model of meaning that users have."""
    root = tmp_path / "project"
    write(root, {**SHOP, **MORE})
    found = brain_of(await engines.empty("sqlite"), root, BundledEmbedder())
    await found.ingest()
    return found


async def test_a_message_about_the_code_gets_what_is_relevant(bundled: Brain) -> None:
    question = "how is the total price of a cart computed?"

    found = await bundled.find_relevant_code(question)

    assert named(list(found.hits))[0] == "shop/cart.py:Cart.total"
    assert found.reason == ""
    assert all(hit.relevance >= MIN_HIT_RELEVANCE for hit in found.hits)
    assert found.hits[0].relevance > 0.8
    assert found.hits == tuple(
        await bundled.search_code_semantic(question, bundled.root, relevant_only=True)
    )


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Merci beaucoup, bonne journée !", SMALL_TALK),
        ("Yes, please go on", SMALL_TALK),
        ("How do I bake an apple pie with cinnamon?", NOTHING_RELEVANT),
        ("Welche Sehenswürdigkeiten in Wien sollte man besuchen?", NOTHING_RELEVANT),
    ],
)
async def test_a_message_about_something_else_gets_nothing_and_the_reason(
    bundled: Brain, message: str, reason: str
) -> None:
    assert await bundled.find_relevant_code(message) == RelevantHits((), reason)
    assert await bundled.search_code_semantic(message, bundled.root, relevant_only=True) == []


async def test_a_person_who_searches_gets_the_best_there_is(bundled: Brain) -> None:
    assert await bundled.search("apple pie price") != []
    assert await bundled.search_code_semantic("apple pie price", bundled.root) != []


async def test_while_a_project_is_read_again_words_find_its_code(bundled: Brain) -> None:
    records = bundled.store.records
    await unsettle(records, await records.get(PROJECT, bundled.project_id))
    name = progress.name_ingestion_lock(bundled.project_id)
    async with progress.hold_lock(bundled.store.locks, name, bundled.ingester.holder):
        found = (await bundled.find_relevant_code("the price")).hits
        assert {signal for hit in found for signal in hit.signals} == {"words"}


async def test_a_file_of_one_function_is_found_once(engines: Engines, tmp_path: Path) -> None:
    write(tmp_path, {"greet.py": 'def greet(name): return "Hello " + name\n', **MORE})
    brain = brain_of(await engines.empty("sqlite"), tmp_path, BundledEmbedder())
    await brain.ingest()

    found = [hit.scope for hit in await brain.search("greet a person by name")]

    assert [scope.type for scope in found if scope.file == "greet.py"] == ["function"]
