"""The documentation site: its navigation, its copies of the pages, and that it loads nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from ragforge.cli.main import COMMANDS
from ragforge.config.dotted_keys import list_keys
from ragforge.mcp.definitions import TOOLS
from scripts import docs_site
from scripts.chromium import find_chromium
from scripts.docs_reference import render_reference
from scripts.docs_site import list_external, list_nav_problems, stage, work_from_disk
from tests.fakes.browser import open_tab

ROOT = Path(__file__).parents[2]
LOADED = '<script src="https://unpkg.com/iframe-worker/shim" type="text/javascript"></script>'

RESULTS = (
    "[...document.querySelectorAll('*')].some(one =>"
    " one.shadowRoot && one.shadowRoot.querySelectorAll('a').length > 5)"
)


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages as they are copied for the site."""
    folder = tmp_path_factory.mktemp("site")
    stage(folder)
    return folder / "docs"


def test_every_page_is_in_the_navigation_once() -> None:
    assert list(list_nav_problems()) == []


def test_a_page_that_is_missing_in_the_navigation_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configuration = tmp_path / "zensical.toml"
    nav = [f'"{page}"' for page in docs_site.read_nav() if page != "hooks.md"]
    configuration.write_text(f'[project]\nnav = [{", ".join([*nav, nav[0], nav[1]])}, "gone.md"]\n')
    monkeypatch.setattr(docs_site, "CONFIGURATION", configuration)

    assert sorted(list_nav_problems()) == [
        "zensical.toml: docs/hooks.md is missing",
        "zensical.toml: getting-started.md is there twice",
        "zensical.toml: gone.md does not exist",
        "zensical.toml: index.md is there twice",
    ]


def test_every_link_of_a_copy_leads_to_another_copy(copies: Path) -> None:
    broken = [
        f"{page.relative_to(copies)}: {path}"
        for page in sorted(copies.rglob("*.md"))
        if "repository" not in page.parts
        for path in re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", without_code(page))
        if not (page.parent / path).is_file()
    ]
    assert broken == []


def test_a_link_to_a_file_that_does_not_exist_ends_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docs_site, "ROOT", tmp_path)
    monkeypatch.setattr(docs_site, "DOCS", tmp_path / "docs")
    page = tmp_path / "docs" / "a.md"
    page.parent.mkdir()
    page.write_text("See [b](b.md), and not [this](gone.md#x).\n")
    (page.parent / "b.md").write_text("# B\n")
    copies = docs_site.Copies(tmp_path / "site")
    copies.add(page)

    with pytest.raises(SystemExit, match=r"docs/a.md: gone.md#x does not exist"):
        copies.write_all()


def without_code(page: Path) -> str:
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`]*`", "", text)


def test_source_files_that_a_page_links_are_pages_of_the_site(copies: Path) -> None:
    text = (copies / "tour.md").read_text("utf-8")
    assert "(repository/src/ragforge/agent/turn.py.md)" in text
    copied = (copies / "repository" / "src" / "ragforge" / "agent" / "turn.py.md").read_text()
    assert "async def take_turn" in copied


def test_the_reference_has_every_command_setting_and_tool() -> None:
    pages = render_reference()
    names = {
        "commands": [f"`ragforge {name}`" for name in COMMANDS],
        "settings": [f"`{key}`" for key in list_keys()],
        "mcp-tools": [f"`{tool['name']}`" for tool in TOOLS],
    }
    missing = [
        (page, name) for page, all in names.items() for name in all if name not in pages[page]
    ]
    assert missing == []


def test_a_page_that_loads_something_from_elsewhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="https://example.org">a link is no load</a><img src="local.png">'
        '<link rel="stylesheet" href="//fonts.example.org/x.css"><img src=https://example.org/b.png>'
    )
    assert [found.split(" loads ")[0] for found in list_external(tmp_path)] == ["a.html"] * 2


def test_the_script_from_elsewhere_is_replaced_in_every_page(tmp_path: Path) -> None:
    worker = tmp_path / "assets" / "javascripts" / "workers" / "search.12.min.js"
    worker.parent.mkdir(parents=True)
    worker.write_text('say("</script>")')
    (tmp_path / "deep").mkdir()
    for page in ("a.html", "deep/b.html"):
        (tmp_path / page).write_text(f"<p>{LOADED}</p>")
    work_from_disk(tmp_path)

    assert list(list_external(tmp_path)) == []
    assert 'src="../assets/javascripts/from-disk.js"' in (tmp_path / "deep" / "b.html").read_text()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    if find_spec("zensical") is None:
        pytest.skip("Zensical is not installed: make docs")
    folder = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-m", "scripts.docs_site", str(folder / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.mark.long
@pytest.mark.xdist_group("docs_site")
def test_the_built_site_loads_nothing_from_elsewhere(site: Path) -> None:
    assert (site / "reference" / "commands.html").is_file()
    assert list(list_external(site)) == []


@pytest.mark.long
@pytest.mark.browser
@pytest.mark.xdist_group("docs_site")
async def test_a_search_works_without_a_server(site: Path, tmp_path: Path) -> None:
    browser = find_chromium()
    if browser is None:
        pytest.skip("there is no Chromium here")
    async with open_tab(browser, tmp_path) as tab:
        await tab.open((site / "index.html").as_uri())
        await tab.until("document.querySelector('.md-search__button') !== null")
        await tab.run("document.querySelector('.md-search__button').click()")
        for letter in "lease":
            await tab.press(letter)
        await tab.until(RESULTS)
        await tab.press("Enter")  # opens the best one
        found = await tab.until("!location.pathname.endsWith('index.html') && location.href")
        asked = [address for address in tab.requested if address.startswith("http")]

    assert ".html" in found
    assert asked == []
