"""Find: the code that the text of an issue is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge.brain.project import Brain
from tests.fakes.engines import Engines
from tests.fakes.projects import ToyEmbedder, brain_of, write

SHAPES = {
    f"draw/{name}.py": f'''class {name.title()}:
    """A {name} to draw on the canvas."""

    def __repr__(self):
        return "{name}"

    def draw(self, canvas):
        return canvas.line(self)
'''
    for name in ("circle", "square", "star", "cross", "arrow")
}
SHOP = {
    "shop/vouchers.py": "def apply_discount(cart, code):\n    return cart.lower(code)\n",
    "shop/amount.py": "def in_cents(value):\n    return int(100 * value)\n",
    "tests/test_shop.py": '''def test_discount_is_applied():
    """An example: the cart with a discount code, a circle and a test."""
    cart = make_cart()
    assert apply_discount(cart, "spring") == 7
''',
}
ISSUE = """The discount is lost

I draw a `Circle` and a `Star`; `__repr__` and `draw()` are as they should be. See this example and
my test, which fails since the last version, on two machines, with every browser that I have tried:

    circle = Circle()
    print(circle.__repr__())
    circle.draw(canvas)
    cart = make_cart()
    assert apply_discount(cart, "spring") == 7

Expected: the cart with the discount. Thanks a lot for your work on this, and have a nice day!
"""
TRACE = """Please help, it stopped working when I changed the colours of the circle to others

Traceback (most recent call last):
  File "/home/ann/web/run.py", line 7, in start
    serve()
  File "/home/ann/web/shop/vouchers.py", line 2, in apply_discount
    return cart.lower(code)
  File "/home/ann/web/shop/amount.py", line 2, in in_cents
    return int(100 * value)
TypeError: can't multiply sequence by non-int of type 'float'
"""


@pytest.fixture
async def brain(engines: Engines, tmp_path: Path) -> Brain:
    root = tmp_path / "project"
    write(root, {**SHAPES, **SHOP})
    found = brain_of(await engines.empty("sqlite"), root, ToyEmbedder())
    await found.ingest()
    return found


async def find(brain: Brain, text: str) -> list[str]:
    return [f"{hit.scope.file}:{hit.scope.name}" for hit in await brain.search(text)]


async def test_an_issue_finds_the_function_and_not_its_test_nor_what_many_have(
    brain: Brain,
) -> None:
    assert (await find(brain, ISSUE))[0] == "shop/vouchers.py:apply_discount"


async def test_a_trace_finds_the_function_that_failed_and_then_its_caller(brain: Brain) -> None:
    assert (await find(brain, TRACE))[:2] == [
        "shop/amount.py:in_cents",
        "shop/vouchers.py:apply_discount",
    ]


async def test_an_issue_about_the_code_is_relevant(brain: Brain) -> None:
    found = await brain.find_relevant_code(ISSUE)

    assert found.hits[0].scope.name == "apply_discount"
