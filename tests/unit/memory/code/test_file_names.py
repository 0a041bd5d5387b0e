"""Which file is meant, however its path is written."""

from __future__ import annotations

import pytest

from ragforge.memory.code.links import FileNames

FILES = ["src/cart.py", "src/web/app.py", "tests/app.py", "docs/cart.md", "setup.py"]
NAMES = FileNames(FILES, "/work/shop", "/work/shop/src/web")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("src/cart.py", "src/cart.py"),
        ("./src/cart.py", "src/cart.py"),
        ("/work/shop/src/cart.py", "src/cart.py"),
        ("/work/shop/src/web/../cart.py", "src/cart.py"),
        ("../cart.py", "src/cart.py"),  # from the cwd
        ("./app.py", "src/web/app.py"),
        ("app.py", "src/web/app.py"),  # the cwd's own comes before a suffix
        ("cart.py", "src/cart.py"),  # the only one with this ending
        ("web/app.py", "src/web/app.py"),
        ("src\\cart.py", "src/cart.py"),
    ],
)
def test_every_way_to_write_a_path_means_the_file(written: str, meant: str) -> None:
    assert NAMES.resolve(written) == meant


@pytest.mark.parametrize(
    "written",
    [
        "gone.py",
        "/elsewhere/src/cart.py",
        "/work/shop2/src/cart.py",
        "../../../setup.py",
        "./cart.md",
        "art.py",  # whole names only
        "",
        ".",
    ],
)
def test_what_is_not_there_means_nothing(written: str) -> None:
    assert NAMES.resolve(written) is None


def test_what_fits_two_files_means_neither() -> None:
    names = FileNames(FILES, "/work/shop", "/work/shop")
    assert names.resolve("app.py") is None
    both = FileNames(["a.py", "src/a.py"], "/work/shop", "/work/shop/src")
    assert both.resolve("a.py") is None
