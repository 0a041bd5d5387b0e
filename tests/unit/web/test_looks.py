"""Looks: everyone can read the page, whatever their eyesight, theme and window."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("jinja2", reason="the extra web is not installed")

from ragforge.web.render import strip_marks
from ragforge.web.site import ASSETS

MAX_BYTES = 300_000
PAGE = (ASSETS / "page.css").read_text("utf-8")
CODE = (ASSETS / "code.css").read_text("utf-8")


def read_colours(sheet: str, *, is_dark: bool) -> dict[str, str]:
    """Return the colours of a light; the dark ones are in the second block."""
    blocks = re.findall(r":root\s*\{(.*?)\}", sheet, re.DOTALL)
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", blocks[0]))
    if is_dark:
        found |= dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", blocks[1]))
    return found


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("is_dark", [False, True])
def test_every_text_has_the_contrast_of_level_aa(is_dark: bool) -> None:
    colours = read_colours(PAGE, is_dark=is_dark)
    words = read_colours(CODE, is_dark=is_dark)
    inks = {name: colours[name] for name in ("ink", "soft", "faint", "accent", "bad")} | words

    assert len(words) == 5
    faint = {
        (name, ground): round(found, 2)
        for name, ink in inks.items()
        for ground in ("paper", "raised", "sunk")
        if (found := contrast(ink, colours[ground])) < 4.5
    }
    assert faint == {}
    assert contrast(colours["accent"], colours["accent-soft"]) >= 4.5
    for ground in ("ins", "del", "mark"):
        assert contrast(colours["ink"], colours[ground]) >= 4.5


def test_the_assets_are_small_and_name_no_other_place() -> None:
    files = list(ASSETS.iterdir())

    assert sum(file.stat().st_size for file in files) < MAX_BYTES
    for file in files:
        text = file.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "//" not in re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE), file.name


def test_a_glance_at_markdown_shows_its_words() -> None:
    assert (
        strip_marks("# Title\n\n- **one** `two`\n\n```python\nx = 1\n```") == "Title one two x = 1"
    )
