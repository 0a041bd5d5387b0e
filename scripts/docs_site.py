"""Build the documentation site from README.md and docs/*.md, to be read without a network.

    python -m scripts.docs_site [FOLDER]

The pages are copied first: links to source files lead to copies of these files. Then Zensical
builds them. A link that leads nowhere, a missing anchor, a page that is not in the navigation and
a page that loads something from elsewhere are errors.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from scripts.docs_reference import render_reference

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
CONFIGURATION = ROOT / "zensical.toml"
STYLE = ROOT / "scripts" / "docs_site.css"
SITE = ROOT / "build" / "site"
MAX_SOURCE = 100_000
LINK = re.compile(r"(?<=\]\()(?P<target>[^)\s]+)(?=\))")
EXTERNAL = re.compile(
    r"<(?:link|script|img|source|iframe)\b[^>]*\b(?:src|srcset|href)=\"?(?:https?:)?//[^>]*>"
)
SHIM = re.compile(r'<script src="?https://unpkg\.com/iframe-worker/shim"?[^>]*></script>')
WORKER = """\
// A page that is read from the disk may not load a worker from a file, but from its own text.
if (location.protocol === "file:") {
  const source = %s;
  const OfServer = Worker;
  window.Worker = function () {
    return new OfServer(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
  };
}
"""


def main() -> int:
    target = Path(sys.argv[1]).resolve() if sys.argv[1:] else SITE
    if problems := list(list_nav_problems()):
        print("\n".join(problems), file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="ragforge-site-") as folder:
        return build(Path(folder), target)


def build(work: Path, target: Path) -> int:
    """Build the site in a folder, and copy it to its place if nothing is wrong with it."""
    stage(work)
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--clean", "--strict"],
        cwd=work,
        env={**os.environ, "NO_COLOR": "1"},
        check=False,
    )
    if done.returncode:
        print("The site was not built; the lines above say why.", file=sys.stderr)
        return 1
    work_from_disk(work / "html")
    if loaded := list(list_external(work / "html")):
        print("\n".join(loaded), file=sys.stderr)
        return 1
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(work / "html", target)
    print(target / "index.html")
    return 0


# The navigation


def read_nav() -> list[str]:
    """Return the pages of the navigation, in its order."""
    return list(_list_pages(tomllib.loads(CONFIGURATION.read_text("utf-8"))["project"]["nav"]))


def _list_pages(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
        return
    for one in entry.values() if isinstance(entry, dict) else entry:
        yield from _list_pages(one)


def list_nav_problems() -> Iterator[str]:
    """Yield what is in the navigation and not in docs/, and the other way round."""
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    made = {"index.md", *(f"reference/{name}.md" for name in ("commands", "settings", "mcp-tools"))}
    listed = read_nav()
    yield from (f"{CONFIGURATION.name}: {one} does not exist" for one in {*listed} - pages - made)
    yield from (f"{CONFIGURATION.name}: docs/{one} is missing" for one in pages - {*listed})
    yield from (f"{CONFIGURATION.name}: {one} is there twice" for one in _find_repeated(listed))


def _find_repeated(names: list[str]) -> set[str]:
    return {name for name in names if names.count(name) > 1}


# The copies


def stage(folder: Path) -> None:
    """Copy all pages, with what they link to, into a folder from which the site is built."""
    copies = Copies(folder / "docs")
    copies.add(ROOT / "README.md")
    for page in sorted(DOCS.rglob("*")):
        if page.is_file():
            copies.add(page)
    copies.write_all()
    for name, text in render_reference().items():
        _write(folder / "docs" / "reference" / f"{name}.md", text)
    shutil.copy(STYLE, folder / "docs" / "site.css")
    shutil.copy(CONFIGURATION, folder / CONFIGURATION.name)


class Copies:
    """The files of the repository that are part of the site, and where each one is there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: list[Path] = []
        self._places: dict[Path, str] = {}

    def add(self, file: Path) -> str:
        """Make a file part of the site; return its place there."""
        if file not in self._places:
            self._places[file] = _find_place(file)
            self._waiting.append(file)
        return self._places[file]

    def write_all(self) -> None:
        """Write the files that were added, and those that they link to."""
        while self._waiting:
            file = self._waiting.pop()
            place = self._folder / self._places[file]
            if file.suffix == ".md":
                _write(place, self._convert(file))
            elif DOCS in file.parents:
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, place)
            else:
                _write(place, _show_source(file))

    def _convert(self, file: Path) -> str:
        """Return a page with the links and lists of the site."""
        text = _outside_of_code(file.read_text("utf-8"), lambda part: self._link(file, part))
        return re.sub(r"^  (?=[-*] )", "    ", text, flags=re.MULTILINE)

    def _link(self, file: Path, text: str) -> str:
        here = Path(self._places[file]).parent

        def convert(match: re.Match[str]) -> str:
            path, mark, anchor = match["target"].partition("#")
            if not path or re.match(r"\w+:", path):
                return match["target"]
            if not (file.parent / path).exists():
                raise SystemExit(f"{file.relative_to(ROOT)}: {match['target']} does not exist")
            linked = _find_page((file.parent / path).resolve())
            if linked is None:  # a folder, or too much to show
                return f"{os.path.relpath('index.md', here)}"
            return f"{os.path.relpath(self.add(linked), here)}{mark}{anchor}"

        return LINK.sub(convert, text)


def _find_page(file: Path) -> Path | None:
    if file.is_dir():
        file /= "README.md"
    is_shown = file.suffix == ".md" or DOCS in file.parents or file.stat().st_size < MAX_SOURCE
    return file if file.is_file() and is_shown else None


def _find_place(file: Path) -> str:
    if file == ROOT / "README.md":
        return "index.md"
    if DOCS in file.parents:
        return file.relative_to(DOCS).as_posix()
    name = file.relative_to(ROOT).as_posix()
    return f"repository/{name}" if file.suffix == ".md" else f"repository/{name}.md"


def _show_source(file: Path) -> str:
    name = file.relative_to(ROOT).as_posix()
    language = {".py": "python", ".yaml": "yaml", ".json": "json"}.get(file.suffix, "text")
    return f"# `{name}`\n\n``````{language}\n{file.read_text('utf-8').rstrip()}\n``````\n"


def _outside_of_code(text: str, convert: Callable[[str], str]) -> str:
    """Convert what is not in a block of code."""
    parts = re.split(r"(^ *```.*?^ *```$)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if at % 2 else convert(part) for at, part in enumerate(parts))


def _write(place: Path, text: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, "utf-8")


# The built pages


def work_from_disk(site: Path) -> None:
    """Replace the script that is loaded from elsewhere to search without a server."""
    [worker] = site.glob("assets/javascripts/workers/search.*.js")
    own = site / "assets" / "javascripts" / "from-disk.js"
    _write(own, WORKER % json.dumps(worker.read_text("utf-8")))
    for page in site.rglob("*.html"):
        path = os.path.relpath(own, page.parent)
        page.write_text(SHIM.sub(f'<script src="{path}"></script>', page.read_text("utf-8")))


def list_external(site: Path) -> Iterator[str]:
    """Yield every place where a page loads something from elsewhere."""
    for page in sorted(site.rglob("*.html")):
        for found in EXTERNAL.findall(page.read_text("utf-8")):
            yield f"{page.relative_to(site)} loads {found}"


if __name__ == "__main__":
    sys.exit(main())
