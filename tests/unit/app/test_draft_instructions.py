"""An AGENTS.md drafted from what is known of a project's code."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge.app.features.draft_instructions import (
    draft_instructions,
    find_commands,
    save_instructions,
    word_task,
)
from ragforge.errors import InputError
from tests.fakes.engines import Engines
from tests.fakes.projects import brain_of, write

FILES = {
    "src/shop/prices.py": '"""Prices: what an item costs."""\n\ndef round_up(x):\n    return x\n',
    "src/shop/cart.py": "from shop.prices import round_up\n\ndef total(): return round_up(1)\n",
    "src/shop/order.py": "from shop.prices import round_up\n\ndef pay():\n    return round_up(2)\n",
    "tests/test_cart.py": "from shop.cart import total\n\ndef test_it():\n    assert total()\n",
    "Makefile": "test: venv ## Run every test\n\tpytest\nrun:\n\tpython -m shop\nX := 1\n",
    "pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n",
}


async def test_the_draft_names_folders_commands_and_the_files_most_others_use(
    engines: Engines, tmp_path: Path
) -> None:
    write(tmp_path, FILES)
    brain = brain_of(await engines.empty("sqlite"), tmp_path)
    await brain.ingest()

    draft = await draft_instructions(brain.store, brain.project_id, tmp_path)

    assert draft.startswith(f"# {tmp_path.name}\n")
    assert "- `src/`: 3 files of python, in `shop/`\n" in draft
    assert "- `make test`: Run every test\n- `make run`\n- `pytest`\n" in draft
    begin = draft.partition("## Where to begin\n\n")[2]
    assert begin.startswith(
        "- `src/shop/prices.py`, which 2 files import: Prices: what an item costs.\n"
    )
    assert "test_cart" not in begin


def test_commands_of_other_builds_are_known(tmp_path: Path) -> None:
    write(tmp_path, {"package.json": '{"scripts": {"build": "tsc -p ."}}', "go.mod": "module x\n"})
    assert find_commands(str(tmp_path)) == [
        "`npm run build`: `tsc -p .`",
        "`go build ./...`",
        "`go test ./...`",
    ]
    write(tmp_path, {"package.json": "[not json", "pyproject.toml": "= broken"})
    assert find_commands(str(tmp_path))[0] == "`go build ./...`"


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    save_instructions(tmp_path, "# One\n")
    with pytest.raises(InputError, match="already exists"):
        save_instructions(tmp_path, "# Two\n")
    assert (tmp_path / "AGENTS.md").read_text() == "# One\n"


def test_the_model_is_given_the_draft_and_the_users_wishes() -> None:
    asked = word_task("# Shop\n", "write it in French")
    assert "write_file" in asked
    assert "The user adds: write it in French" in asked
    assert asked.endswith("The draft:\n\n# Shop\n")
