"""Mentions: files, lines, folders and web pages that a question names after an `@`.

`@src/login.py`, `@src/login.py:10-40`, `@src/` and `@https://…`: their text precedes the question.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from ragforge.brain.project import Brain
from ragforge.domain.chat import IMAGE_ENDINGS
from ragforge.domain.code import WHOLE_FILES, ScopeFilter
from ragforge.domain.schema import SCOPE_NAME
from ragforge.domain.text import keep_beginning
from ragforge.errors import InputError, RagForgeError
from ragforge.ports.open_files import OpenFiles
from ragforge.records import dataclass
from ragforge.tools.fetch_url import FetchArguments, PageFetcher
from ragforge.tools.list_files import ListArguments, list_files
from ragforge.tools.permission import Permit
from ragforge.tools.read_file import ReadArguments, read_file
from ragforge.tools.workspace import ListedDirectory, Workspace

MAX_MENTIONS = 10
LISTED_LEVELS = 2
LISTED_ENTRIES = 200
OUTLINED_FILES = 50
NAMES_A_FILE = 12
_MENTION = re.compile(r"""(?:^|(?<=\s))@(?:"([^"\n]+)"(:\d+(?:-\d+)?)?|((?:\\ |\S)+))""")
_FENCED = re.compile(r"^(`{3,})[^`\n]*\n.*?(?:^\1`*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_LINES = re.compile(r"(.+):(\d+)(?:-(\d+))?")
_AFTER = ".,;:!?)"
_WEB = ("https://", "http://")


@dataclass(frozen=True, slots=True)
class Mentioned:
    """The text of what a question names, or why there is none."""

    name: str
    text: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class MentionReader:
    """Reads what questions name, within the limits of the tools that read the same."""

    workspace: Workspace
    brain: Brain
    pages: PageFetcher
    permit: Permit  # for web pages: each host needs the user's permission
    unread: str = ""  # why no file of the folder may be read
    files: OpenFiles | None = None

    async def read(self, question: str, max_chars: int) -> list[Mentioned]:
        """Return what a question names, in its order, with `max_chars` for all of it.

        A name that is neither a file nor a folder of the project is a word of the question.
        """
        found: list[Mentioned] = []
        for name in list(dict.fromkeys(find_mentions(question)))[:MAX_MENTIONS]:
            try:
                text = await self._read(name)
            except RagForgeError as error:
                found.append(Mentioned(name, "", str(error)))
                continue
            if text is not None:
                text = keep_beginning(text, max(0, max_chars))
                max_chars -= len(text)
                found.append(Mentioned(name, text))
        return found

    async def _read(self, name: str) -> str | None:
        """Return the text of a mention, None for a word. Raises RagForgeError."""
        if name.startswith(_WEB):
            page = (await self.pages.fetch(FetchArguments(url=name, start=0), self.permit)).page
            return f"{page.url}\n\n{page.text}"
        lines = _LINES.fullmatch(name)
        path, first, last = lines.groups() if lines else (name, None, None)
        kind = None if self.unread else self._find_kind(path)
        is_path = lines and ("/" in path or "." in path)  # not @ann:3 or @localhost:8000
        if kind is None and not is_path:
            return None
        if self.unread:
            raise InputError(self.unread)
        if kind == "folder":
            return await self._list(path)
        start = int(first or 1)
        end = int(last or start) if first else None
        given = ReadArguments(
            path=path, start_line=max(1, start), end_line=end, line_numbers=first is not None
        )
        return (await read_file(self.workspace, given, files=self.files)).content

    def _find_kind(self, path: str) -> str | None:
        """Return whether a path is a file or a folder of the project that may be read."""
        try:
            inside = self.workspace.root.inside(path)
        except RagForgeError:
            return None
        if isinstance(self.workspace.listing.find_directory(inside), ListedDirectory):
            return "folder"
        parent = self.workspace.listing.find_directory(inside.rpartition("/")[0])
        return "file" if isinstance(parent, ListedDirectory) and inside in parent.files else None

    async def _list(self, path: str) -> str:
        """Return what is in a folder, with the names that the code index knows of its files."""
        given = ListArguments(path=path, depth=LISTED_LEVELS, max_results=LISTED_ENTRIES)
        found = await list_files(self.workspace, given)
        files = [entry for entry in found.entries if not entry.endswith("/")]
        names = await self._outline(files[:OUTLINED_FILES])
        lines = [f"{entry}  {names[entry]}" if entry in names else entry for entry in found.entries]
        more = ["… (more is not listed; list_files lists it)"] if found.truncated else []
        return "\n".join([*lines, *more])

    async def _outline(self, files: list[str]) -> dict[str, str]:
        """Return the names of what is defined in files, by file, as far as they are indexed."""
        where = ScopeFilter(self.brain.project_id, files)
        names = defaultdict[str, list[str]](list)
        for scope in await self.brain.store.records.find(SCOPE_NAME, where) if files else ():
            if scope.type not in WHOLE_FILES and "." not in scope.qualified_name:
                names[scope.file].append(f"{scope.name}:{scope.start_line}")
        return {
            file: ", ".join(some[:NAMES_A_FILE]) + (", …" if len(some) > NAMES_A_FILE else "")
            for file, some in names.items()
        }


def find_mentions(question: str) -> Iterator[str]:
    """Yield what follows an `@` in a question, without pictures and final punctuation.

    Code blocks are left out: what is piped in is not in the user's own words.
    """
    for quoted, lines, plain in _MENTION.findall(_FENCED.sub("", question)):
        name = f"{quoted}{lines}" if quoted else plain.replace("\\ ", " ").rstrip(_AFTER)
        if name and not name.lower().endswith(IMAGE_ENDINGS):
            yield name
