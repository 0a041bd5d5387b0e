"""One question about the code with a name, asked at every door: tool, application, terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from ragforge.app import open_app
from ragforge.config import load_settings
from ragforge.domain.code import RelationAsked
from ragforge.errors import InputError
from ragforge.mcp.definitions import RELATIONS
from ragforge.tools.explore_code import make_explore_tool
from tests.fakes.remembered_shop import RememberedShop, remember_shop, run_ragforge
from tests.fakes.zygote import run_module

CALLERS = {
    "place": "src/login.py:4-6 check_password",
    "type": "function",
    "callers": ["src/login.py: login:9"],
}


@pytest.fixture
async def shop(tmp_path: Path) -> RememberedShop:
    return await remember_shop(tmp_path)


async def test_all_doors_give_the_same_answer_to_a_bare_name(shop: RememberedShop) -> None:
    asked = {"name": "check_password", "relation": "callers"}
    settings = load_settings(shop.root, {"llm.model": "none"}, environ=shop.environ).settings
    async with open_app(settings, shop.root, work=False) as app:
        tool = make_explore_tool(app.brain)
        by_tool = await tool.run(asked)
        around = await tool.run({"file": "src/login.py", "line": 5, "source": True})
        by_app = await app.code.explore("check_password", "callers")
        with pytest.raises(InputError, match=r"Similar names: check_password\."):
            await tool.run({"name": "check_pasword"})
    in_terminal = json.loads(
        run_ragforge(
            shop.root, shop.environ, "explore", "check_password", "-r", "callers", "--json"
        )
    )

    assert by_tool == by_app == CALLERS
    assert in_terminal == {"name": "check_password", **CALLERS}
    assert isinstance(around, dict)
    assert around["used_by"] == ["src/login.py:9-11 login"]
    assert "digest(password)" in str(around["source"])


def test_a_terminal_shows_places_and_fails_for_an_unknown_name(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    (root / "a.py").write_text("def bake():\n    return mix()\n\n\ndef mix():\n    return 1\n")
    (tmp_path / "user.yaml").touch()
    environ = {"HOME": str(tmp_path), "RAGFORGE_CONFIG": str(tmp_path / "user.yaml")}

    shown = run_module("ragforge", "explore", "mix", cwd=root, env=environ)
    unknown = run_module("ragforge", "explore", "mixx", cwd=root, env=environ)
    wrong = run_module("ragforge", "explore", "mix", "-r", "friends", cwd=root, env=environ)

    assert "a.py:5-6 mix  function" in shown.stdout
    assert "used by\n    a.py:1-2 bake" in shown.stdout
    assert unknown.returncode == 1
    assert "No code is called 'mixx'. Similar names: mix." in unknown.stderr
    assert wrong.returncode == 2


def test_the_relations_that_agents_see_are_those_that_can_be_asked() -> None:
    assert tuple(RELATIONS) == get_args(RelationAsked)
