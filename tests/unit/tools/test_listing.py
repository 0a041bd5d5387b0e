"""Listing: the same files as the brain's walk, at every moment."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from ragforge.brain.files.exclusions import FileLimits
from ragforge.brain.files.walk import walk
from ragforge.errors import InputError
from ragforge.tools.confine import Root
from ragforge.tools.workspace import LIMITS, Deadline, ListedDirectory, Listing, Selection
from tests.unit.tools.conftest import write

LONG_AGO = (1_600_000_000, 1_600_000_000)
NAMES = ["a", "b.py", "c.log", "node_modules", "vendor", "é", "x y", "-f", "build", ".hidden"]
RULES = ["*.log\n", "build/\n!build/keep\n", "/a\n", "b.*\n!b.py\n", "**/x y\n", "é\n"]


def files(listing: Listing, pattern: str = "**") -> list[str]:
    return list(listing.select(pattern, Deadline(60)).files)


def walked(root: Path) -> list[str]:
    return [file.path for file in walk(root, LIMITS).files]


def grown(root: Path, dice: random.Random) -> None:
    """Let a random thing happen to a random tree."""
    places = [root, *(place for place in root.rglob("*") if place.is_dir())]
    place = dice.choice(places) / dice.choice(NAMES)
    happens = dice.randrange(5)
    if happens == 0:
        rules = place.parent / dice.choice([".gitignore", ".ragforgeignore"])
        rules.write_text(dice.choice(RULES))
        os.utime(rules, (dice.randrange(10**9), dice.randrange(10**9)))
    elif happens == 1 and place.is_file():
        place.unlink()
    elif happens == 2 and not place.exists():
        place.mkdir()
    elif not place.exists():
        place.write_text("x")


@pytest.mark.parametrize("seed", range(8))
def test_it_always_tells_what_a_walk_finds(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    listing = Listing(Root.at(tmp_path))

    for step in range(60):
        grown(tmp_path, dice)
        if step % 7 == 0:
            for place in tmp_path.rglob("*"):
                os.utime(place, LONG_AGO)  # so that the times can be relied on
        assert files(listing) == walked(tmp_path)


def test_a_file_in_an_old_directory_is_noticed(root: Path) -> None:
    os.utime(root / "src", LONG_AGO)
    os.utime(root, LONG_AGO)
    listing = Listing(Root.at(root))
    files(listing)

    write(root, {"src/new.py": "x"})

    assert "src/new.py" in files(listing)


def test_an_ignore_file_that_changes_in_place_is_noticed(root: Path) -> None:
    write(root, {".gitignore": "nothing\n"})
    os.utime(root / ".gitignore", LONG_AGO)
    os.utime(root, LONG_AGO)
    listing = Listing(Root.at(root))
    assert "src/auth.py" in files(listing)

    with open(root / ".gitignore", "r+") as rules:
        rules.write("src\n")
    os.utime(root, LONG_AGO)

    assert "src/auth.py" not in files(listing)


def test_a_pattern_that_spells_a_directory_means_all_in_it(root: Path) -> None:
    listing = Listing(Root.at(root))

    assert files(listing, "src/deep") == ["src/deep/models.py"]
    assert files(listing, f"{root}/src/deep/") == ["src/deep/models.py"]
    assert files(listing, str(root)) == walked(root)


def test_links_pipes_and_odd_names_are_left_out_with_the_reason(root: Path) -> None:
    (root / "out").symlink_to("/etc/passwd")
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "pipe")
    os.close(os.open(os.fsencode(root) + b"/bad\xff.py", os.O_CREAT | os.O_WRONLY))

    top = Listing(Root.at(root)).find_directory("")

    assert isinstance(top, ListedDirectory)
    assert top.skipped["out"] == "outside"
    assert top.skipped["pipe"] == "special"
    assert top.skipped["loop"] == "link"
    assert top.skipped["bad\\udcff.py"] == "name"


def test_too_many_files_are_cut_off_and_said_so(root: Path) -> None:
    selection = Listing(Root.at(root), FileLimits(max_files=2)).select("**", Deadline(60))

    assert len(selection.files) <= 2
    assert not selection.complete


def test_a_root_that_is_gone_is_a_clear_error(tmp_path: Path) -> None:
    place = tmp_path / "gone"
    place.mkdir()
    listing = Listing(Root.at(place))
    place.rmdir()

    with pytest.raises(InputError, match="cannot be listed"):
        files(listing)


def test_time_that_is_up_gives_what_was_seen(root: Path) -> None:
    selection = Listing(Root.at(root)).select("**", Deadline(0))

    assert not selection.complete


def test_calls_that_began_before_a_look_share_it_and_later_ones_look_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").touch()
    listing = Listing(Root.at(tmp_path))
    looks = []
    refresh = Listing._refresh

    def counted(self: Listing, deadline: Deadline) -> Selection:
        looks.append(deadline)
        return refresh(self, deadline)

    monkeypatch.setattr(Listing, "_refresh", counted)
    together = [Deadline(60) for _ in range(3)]
    found = [listing.select("**", deadline).files for deadline in together]
    (tmp_path / "b.txt").touch()
    later = listing.select("**", Deadline(60)).files

    assert found == [["a.txt"]] * 3
    assert later == ["a.txt", "b.txt"]
    assert len(looks) == 2
