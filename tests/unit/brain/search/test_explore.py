"""Explore: questions about the code that has a bare name, answered in one call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragforge.brain.project import Brain
from ragforge.brain.search.exploration import Question
from ragforge.brain.search.explore import explore
from ragforge.brain.search.subjects import is_test, split_name
from ragforge.domain.code import RelationAsked
from ragforge.errors import InputError
from tests.fakes.engines import Engines
from tests.fakes.projects import SHOP, brain_of, write

FILES = {
    **SHOP,
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_add():\n    Cart().add(1)\n",
    "shop/forms.py": (
        "class Form:\n    def render(self):\n        return self.draw()\n\n"
        "    def draw(self):\n        return 1\n\n\n"
        "class Login(Form):\n    def draw(self):\n        return 2\n\n"
        "    def total(self):\n        return 3\n\n\n"
        "class Admin(Login):\n    pass\n"
    ),
    "rust/src/range.rs": (
        "pub struct Range { low: i32 }\n\n"
        "impl Range {\n    pub fn new() -> Self { Range { low: 1 } }\n}\n\n"
        "impl Shape for Range {\n    fn area(&self) -> i32 { self.low }\n}\n\n"
        "pub trait Shape {\n    fn area(&self) -> i32;\n}\n\n"
        "pub fn make() -> Range { Range::new() }\n"
    ),
    "go/engine.go": "package web\n\ntype Engine struct{}\n\nfunc New() *Engine { return nil }\n",
    "go/run.go": "package web\n\nfunc (e *Engine) Run() int { return 1 }\n",
    "cpp/table.h": "namespace db {\nclass Table {\n public:\n  int Get(int key);\n};\n}\n",
    "cpp/table.cc": '#include "table.h"\nnamespace db {\nint Table::Get(int k) { return k; }\n}\n',
}


@pytest.fixture
async def brain(engines: Engines, tmp_path: Path) -> Brain:
    """A project in several languages that is known; the engine does not matter here."""
    root = tmp_path / "project"
    write(root, FILES)
    found = brain_of(await engines.empty("sqlite"), root)
    await found.ingest()
    return found


async def ask(brain: Brain, name: str, relation: RelationAsked | None = None, **more: Any) -> Any:
    question = Question(name, relation, **more)
    return (await explore(brain.store, brain.project_id, question)).to_json()


async def test_without_a_relation_everything_next_to_it_is_listed(brain: Brain) -> None:
    found = await ask(brain, "price_of")

    assert found["place"] == "shop/prices.py:1-3 price_of"
    assert found["uses"] == ["shop/prices.py:6-7 round_up"]
    assert found["used_by"] == ["shop/cart.py:15-16 Cart.total"]
    assert "source" not in found
    assert "round_up(item.price)" in (await ask(brain, "price_of", source=True))["source"]


async def test_callers_of_callers_come_under_their_own_heading(brain: Brain) -> None:
    found = await ask(brain, "round_up", "callers", depth=2)

    assert found["callers"] == ["shop/prices.py: price_of:1"]
    assert found["callers_2"] == ["shop/cart.py: Cart.total:15"]
    assert "callers_2" not in await ask(brain, "round_up", "callers")


async def test_who_uses_a_member_uses_the_type(brain: Brain) -> None:
    assert (await ask(brain, "Cart", "users"))["users"] == ["tests/test_cart.py: test_add:4"]
    assert (await ask(brain, "Cart", "callees"))["callees"] == ["shop/prices.py: price_of:1"]


async def test_names_with_the_same_class_as_the_one_before_are_short(brain: Brain) -> None:
    found = await ask(brain, "Cart", "members")

    assert found["members"] == ["shop/cart.py: Cart.__init__:9, .add:12, .total:15"]


async def test_a_type_and_its_impl_blocks_are_one(brain: Brain) -> None:
    found = await ask(brain, "Range", "members")

    assert found["place"] == "rust/src/range.rs:1-1 Range"
    assert found["members"] == ["rust/src/range.rs: Range.new:4, .area:8"]
    shapes = await ask(brain, "Shape", "implementors")
    assert shapes["implementors"] == ["rust/src/range.rs: Range:1"]


async def test_methods_written_outside_of_their_type_are_members(brain: Brain) -> None:
    assert (await ask(brain, "Engine", "members"))["members"] == ["go/run.go: Engine.Run:3"]
    assert (await ask(brain, "Run", "callers"))["inside"] == ["go/engine.go:3-3 Engine"]


async def test_a_declaration_and_its_definition_are_one(brain: Brain) -> None:
    found = await ask(brain, "Table::Get", "callers")

    assert found["place"] == "cpp/table.cc:3-3 db.Table.Get"
    assert found["also"] == ["cpp/table.h:4"]


async def test_implementors_are_found_at_any_depth_and_overrides_on_both_sides(
    brain: Brain,
) -> None:
    found = await ask(brain, "Form", "implementors")
    assert found["implementors"] == ["shop/forms.py: Login:9, Admin:17"]
    near = await ask(brain, "Form", "implementors", depth=1)
    assert near["implementors"] == ["shop/forms.py: Login:9"]

    below = await ask(brain, "Form.draw", "overrides")
    assert below["overridden_by"] == ["shop/forms.py: Login.draw:10"]
    above = await ask(brain, "Login.draw", "overrides")
    assert above["overrides"] == ["shop/forms.py: Form.draw:5"]


async def test_all_of_one_name_are_answered_tests_last(brain: Brain) -> None:
    found = await ask(brain, "total", "callees")

    assert found["several"] == 2
    assert [one["place"] for one in found["answers"]] == [
        "shop/cart.py:15-16 Cart.total",
        "shop/forms.py:13-14 Login.total",
    ]
    several = await ask(brain, "total")
    assert len(several["several"]) == 2
    assert "most_likely" not in several


@pytest.mark.parametrize(
    "name",
    ["Cart.total", "shop.cart.Cart.total", "Cart::total", "Cart#total()", "shop/cart.py:16"],
)
async def test_a_qualified_name_or_a_line_is_exact(brain: Brain, name: str) -> None:
    assert (await ask(brain, name))["place"] == "shop/cart.py:15-16 Cart.total"


async def test_a_name_can_be_asked_for_in_one_file(brain: Brain) -> None:
    found = await ask(brain, "total", file="shop/forms.py")
    assert found["place"] == "shop/forms.py:13-14 Login.total"


async def test_another_case_is_understood(brain: Brain) -> None:
    assert (await ask(brain, "fetchcart"))["place"].endswith("fetchCart")


async def test_an_unknown_name_offers_the_nearest(brain: Brain) -> None:
    with pytest.raises(InputError, match=r"'price_off'\. Similar names: price_of"):
        await ask(brain, "price_off")
    with pytest.raises(InputError, match=r"^No code is called 'zzzzzz'\.$"):
        await ask(brain, "zzzzzz")
    with pytest.raises(InputError, match=r"no code at shop/cart\.py:999"):
        await ask(brain, "shop/cart.py:999")
    with pytest.raises(InputError, match="Give the name"):
        await ask(brain, "")


@pytest.mark.parametrize("name", ["shop/prices.py", "./shop/prices.py", "prices.py", "prices"])
async def test_a_file_is_found_by_its_path_or_name(brain: Brain, name: str) -> None:
    found = await ask(brain, name)

    assert found["file"] == "shop/prices.py"
    assert [one.split()[-1] for one in found["holds"]] == ["price_of", "round_up"]
    assert found["imported_by"] == ["shop/cart.py"]


async def test_what_a_file_imports_and_who_imports_it(brain: Brain) -> None:
    found = await ask(brain, "Cart", "imports")

    assert found["imports"] == ["shop/prices.py"]
    assert found["imported_by"] == ["shop/__init__.py", "tests/test_cart.py"]


async def test_what_nothing_names_is_unused(brain: Brain) -> None:
    found = await ask(brain, "shop", "unused")

    assert found["unused"] == [
        "shop/cart.py: Cart.total:15",
        "shop/forms.py: Form.render:2, Login.total:13, Admin:17",
    ]
    assert "Nothing names these" in found["note"]
    everything = str((await ask(brain, "", "unused"))["unused"])
    assert "showCart" in everything
    assert "test_add" not in everything
    assert (await ask(brain, "Login", "unused"))["unused"] == ["shop/forms.py: Login.total:13"]


async def test_a_long_list_is_cut_and_says_so(brain: Brain) -> None:
    found = await ask(brain, "Cart", "members", limit=1)

    assert found["members"] == ["shop/cart.py: Cart.__init__:9"]
    assert found["more"] == 2


def test_names_of_all_languages_are_split() -> None:
    assert split_name("a::B<T>::c()") == ["a", "B", "c"]
    assert split_name("Rack#call") == ["Rack", "call"]
    assert split_name(" x->y ") == ["x", "y"]


@pytest.mark.parametrize("path", ["tests/a.py", "a/b_test.go", "src/x.spec.ts", "FooTests.swift"])
def test_files_of_tests_are_known(path: str) -> None:
    assert is_test(path)


@pytest.mark.parametrize("path", ["src/a.py", "latest/b.go", "src/contest.ts", "src/spectrum.py"])
def test_other_files_are_not_taken_for_tests(path: str) -> None:
    assert not is_test(path)
