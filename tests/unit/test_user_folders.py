"""The folders of a user are those that `platformdirs` names."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from ragforge.user_folders import find_config_folder, find_data_folder


@pytest.mark.parametrize("home", ["/home/ann", "/home/ann/", "relative", None])
@pytest.mark.parametrize("chosen", ["/data", "/data/", "relative", "", None])
def test_they_follow_the_environment_as_platformdirs_does(
    chosen: str | None, home: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"HOME": home, "XDG_DATA_HOME": chosen, "XDG_CONFIG_HOME": chosen}
    for name, value in values.items():
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)

    assert find_data_folder() == Path(platformdirs.user_data_dir("ragforge", appauthor=False))
    assert find_config_folder() == Path(platformdirs.user_config_dir("ragforge", appauthor=False))
