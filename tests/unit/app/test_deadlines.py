"""How long the searches before an answer may take."""

from __future__ import annotations

from pathlib import Path

from ragforge.app.wiring.context_builder import choose_deadlines
from ragforge.config.layers import load_settings
from ragforge.context.gather import Deadlines

SERVER = {"RAGFORGE_STORE": "bolt://127.0.0.1:7687"}


def choose(folder: Path, environ: dict[str, str]) -> Deadlines:
    return choose_deadlines(load_settings(folder, environ=environ).settings)


def test_a_search_on_a_server_may_take_as_long_as_the_conversations_own_past(
    tmp_path: Path,
) -> None:
    deadlines = choose(tmp_path, SERVER)
    assert deadlines.code == deadlines.history == deadlines.own
    assert deadlines.initial > deadlines.own


def test_a_search_in_a_file_and_one_with_a_setting_may_take_less(tmp_path: Path) -> None:
    assert choose(tmp_path, {}).history == 5
    set_by_user = SERVER | {"RAGFORGE_AGENT__CONTEXT__SEARCH_SECONDS": "7"}
    assert choose(tmp_path, set_by_user).history == 7
