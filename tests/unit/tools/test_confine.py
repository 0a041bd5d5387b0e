"""Confinement: no path leads out of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge.errors import InputError, OutsideProject
from ragforge.tools.confine import Root


def test_paths_come_relative_to_the_root_with_slashes(root: Path) -> None:
    confined = Root.at(root)

    assert confined.inside("src/./deep/../auth.py") == "src/auth.py"
    assert confined.inside(str(root / "src")) == "src"
    assert confined.inside(".") == ""


@pytest.mark.parametrize("path", ["..", "../x", "/etc/passwd", "src/../../x", "/"])
def test_a_path_that_leads_out_is_refused(root: Path, path: str) -> None:
    with pytest.raises(OutsideProject, match="is outside of the project"):
        Root.at(root).inside(path)


def test_a_neighbour_whose_name_begins_alike_is_outside(root: Path) -> None:
    with pytest.raises(OutsideProject):
        Root.at(root).inside(f"{root}-other/x")


def test_a_link_that_leads_out_is_refused_and_one_within_is_followed(root: Path) -> None:
    (root / "out").symlink_to("/etc")
    (root / "within").symlink_to("src")
    confined = Root.at(root)

    with pytest.raises(OutsideProject):
        confined.inside("out/passwd")
    assert confined.inside("within/auth.py") == "src/auth.py"


def test_a_root_that_is_a_link_is_where_it_leads(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)

    assert Root.at(tmp_path / "link").inside(str(tmp_path / "link/src")) == "src"


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_what_cannot_be_a_path_is_a_clear_error(root: Path, path: str) -> None:
    with pytest.raises(InputError, match="is not a valid path"):
        Root.at(root).inside(path)


def test_a_loop_of_links_stays_inside_and_leads_nowhere(root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")

    assert Root.at(root).inside("a/x").endswith("x")


def test_the_root_must_be_a_directory(root: Path) -> None:
    with pytest.raises(InputError, match="is not a directory"):
        Root.at(root / "README.md")
