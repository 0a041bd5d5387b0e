"""Code: projects, their files, the scopes in them and their relations."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from hashlib import blake2b
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias, get_args

from ragforge.domain.text import MAX_ID_CHARS, Json, name_id, new_id
from ragforge.patterns import compile_on_use
from ragforge.records import dataclass

FileKind: TypeAlias = Literal["code", "document", "web_page"]
Direction: TypeAlias = Literal["out", "in"]
RelationKind = Literal["HAS_PARENT", "CONSUMES", "INHERITS_FROM", "IMPORTS", "USES_LIBRARY"]
RELATION_KINDS: tuple[RelationKind, ...] = get_args(RelationKind)
RelationAsked: TypeAlias = Literal[
    "callers", "callees", "members", "implementors", "overrides", "users", "unused", "imports"
]
"""What can be asked about the code that has a name."""
TouchKind: TypeAlias = Literal["edited", "read", "named", "found"]
TOUCH_KINDS: tuple[TouchKind, ...] = get_args(TouchKind)
"""What a message or summary did with code, the strongest first."""
FOUND: TouchKind = "found"
"""A search hit, which does not count as touching."""

SECTION = "section"
"""The scope type of a part of a document; code search never returns it."""
MODULE = "module"
"""The scope type of a whole file of code."""
CHUNK = "chunk"
"""The scope type of a part of a file without scopes."""
SMALL = frozenset(("variant", "attribute"))
"""The scope types of names in a type that hold no code: what is in their lines is in the type."""
NEW = "new"
"""The state of a project of which no file was read yet."""
WHOLE = "read"
"""How the state of a project begins once an ingestion of all its files has finished."""
FORMER = ("changed", "embedded")
"""How states begin that earlier versions stored, whether the first ingestion had finished or not.
Those versions linked turns to code too early."""
_ATTRIBUTES = compile_on_use(r"^(?:(?:@[\w.]+(?:\([^()]*\))?|#\[[^\]]*\])\s*)+")
WHOLE_FILES = (MODULE, CHUNK)
"""The scope types whose vectors are those of files."""


def is_web_address(path: str) -> bool:
    """Tell whether the path of a file is the address of a web page.

    No path of a file in a project has an empty segment.
    """
    return path.startswith(("https://", "http://"))


@dataclass(frozen=True, slots=True)
class Project:
    """A tree of files: one checkout of a project, at a path of a machine."""

    path: str
    name: str
    uuid: str = field(default_factory=new_id)
    state: str = NEW
    host: str = ""  # "": not known
    project_id: str = ""  # of the repository, which may have other checkouts

    def __post_init__(self) -> None:
        if not self.project_id:  # not recognised: it is known by its path
            object.__setattr__(self, "project_id", self.path)

    @property
    def is_whole(self) -> bool:
        """Whether an ingestion of all files has finished."""
        return self.state.startswith(WHOLE)

    @property
    def is_former(self) -> bool:
        """Whether an earlier version stored the state; it may be whole."""
        return self.state.startswith(FORMER)


@dataclass(frozen=True, slots=True)
class ProjectFilter:
    """Which checkouts that were ingested to find; a field that is None does not restrict."""

    project_ids: Sequence[str] | None = None  # any of these


@dataclass(frozen=True, slots=True)
class Directory:
    """A folder of a project that contains files; its path is relative to the project."""

    path: str
    name: str
    uuid: str


def list_directories(project_id: str, paths: Iterable[str]) -> list[Directory]:
    """Return every directory above the files, outer ones before inner ones.

    A web page is in none.
    """
    found: dict[str, Directory] = {}
    for path in paths:
        names = [] if is_web_address(path) else path.split("/")[:-1]
        for depth, name in enumerate(names, 1):
            place = "/".join(names[:depth])
            if place and place not in found:
                uuid = name_id(f"{project_id}/{place}")
                found[place] = Directory(place, name, uuid)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class File:
    """A file of a project; its path is relative to the project, with `/`.

    The path of a web page is its address, and its time is when it was fetched.
    """

    path: str
    hash: str
    uuid: str = field(default_factory=new_id)
    kind: FileKind = "code"
    language: str | None = None
    size: int = 0
    mtime: datetime | None = None
    state: str = "parsed"
    imports: tuple[str, ...] = ()  # as written in the file

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class FileFilter:
    """Which files of a checkout to find; a field that is None does not restrict."""

    project_id: str
    paths: Sequence[str] | None = None  # any of these
    under: str | None = None  # this file, or in this directory: whole segments only
    state: str | None = None
    pages: bool | None = False  # True: only web pages; None: with them


class FileMark(NamedTuple):
    """The least that a run needs of a file that it does not read; there may be very many."""

    hash: str
    size: int
    state: str


@dataclass(frozen=True, slots=True)
class Scope:
    """A named range of lines with its source; lines count from 1, both ends included.

    The source is those lines of the file. Notebooks and pages of HTML have the text of them.
    """

    name: str
    qualified_name: str
    type: str
    file: str
    start_line: int
    end_line: int
    source: str
    hash: str
    uuid: str = field(default_factory=new_id)
    language: str | None = None
    signature: str = ""
    docstring: str = ""
    embedding_hash: str | None = None  # kept by the store
    search_text: str | None = None  # what is indexed and embedded; None: the source

    @property
    def indexed_text(self) -> str:
        """The text that searches read. Of a class it has the signatures of its members."""
        return self.source if self.search_text is None else self.search_text

    @property
    def line_numbers(self) -> Sequence[int]:
        """The number in the file of each line of the source; none if those are not its lines."""
        numbers = range(self.start_line, self.end_line + 1)
        return numbers if self.source.count("\n") + 1 == len(numbers) else ()

    @property
    def name_line(self) -> int:
        """The line of the file with the name: before it may be comments and decorators."""
        name = re.compile(rf"(?<!\w){re.escape(self.name)}(?!\w)")
        signature = _leave_out_attributes(self.signature)
        lines = self.source.split("\n") if signature else []  # a file has none
        texts = list(enumerate(map(_leave_out_attributes, lines), self.start_line))
        named = name.search(signature)
        if named is not None:  # comments may hold the name, but hardly all that is before it
            head = signature[: named.end()]
            if (
                first := next((number for number, text in texts if head in text), None)
            ) is not None:
                return first
        for number, text in texts:
            found = name.search(text)
            if found is not None and text[: found.end()] in signature:
                return number
        return self.start_line


def _leave_out_attributes(code: str) -> str:
    """Return some code on one line, without decorators and the like at its beginning."""
    return _ATTRIBUTES.sub("", " ".join(code.split()), count=1)


class ScopeName(NamedTuple):
    """The name and location of a scope: enough to rank it.

    A search makes hundreds of them, and a tuple is made in a third of the time.
    """

    uuid: str
    name: str
    qualified_name: str
    type: str
    file: str
    start_line: int
    end_line: int
    signature: str


@dataclass(frozen=True, slots=True)
class ScopeFilter:
    """Which scopes of a checkout to find; a field that is None does not restrict."""

    project_id: str
    files: Sequence[str] | None = None  # in any of these
    names: Collection[str] | None = None  # with any of these as its name or qualified name
    hash: str | None = None  # of the content
    inside: str | None = None  # a qualified name: what continues it after a dot; without names

    @property
    def place(self) -> tuple[str, Sequence[str] | None, Collection[str] | None, str | None]:
        """Where to look: engines read all of it together, by the index that fits."""
        return self.project_id, self.files, self.names, self.inside


def group_by_name(
    scopes: Iterable[ScopeName], names: Collection[str]
) -> dict[str, list[ScopeName]]:
    """Return the scopes with each of these names or qualified names, in their order.

    A name that no scope has is left out.
    """
    found: dict[str, list[ScopeName]] = {}
    for scope in scopes:
        for name in {scope.name, scope.qualified_name}.intersection(names):
            found.setdefault(name, []).append(scope)
    return found


class ScopeMatch(NamedTuple):
    """A scope that was found; its score compares like that of a `Match`."""

    scope: ScopeName
    score: float

    @property
    def id(self) -> str:
        return self.scope.uuid


class ScopeMatches(NamedTuple):
    """Scopes found by words and by meaning, and how many files import each of their files."""

    by_words: Sequence[ScopeMatch] = ()
    by_vector: Sequence[ScopeMatch] = ()
    importers: Mapping[str, int] = MappingProxyType({})  # those that none imports are left out
    inside: Sequence[ScopeMatch] = ()  # the nearest in the files of `by_vector`


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file and all its scopes."""

    file: File
    scopes: tuple[Scope, ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """An edge. Ends are scope or file ids; the target of USES_LIBRARY is a library's name."""

    kind: RelationKind
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class RelationFilter:
    """Which relations to find: those of nodes, or all that go out of files and their scopes."""

    nodes: Sequence[str] | None = None  # scopes, files or names of libraries: any of these
    project_id: str | None = None  # with files: the checkout they are in
    files: Sequence[str] = ()
    kinds: Sequence[RelationKind] | None = None  # None: all


@dataclass(frozen=True, slots=True)
class CodeReference:
    """What was done with a scope, and the scope's hash at that time.

    It outlives the scope, so that a search can report "changed since" or "gone".
    """

    scope_id: str
    file: str
    qualified_name: str
    hash: str
    how: TouchKind = "named"


def make_file_target(project_id: str, path: str) -> str:
    """Return the id by which a message refers to a whole file."""
    return f"{project_id}:{path}"[-MAX_ID_CHARS:]


def is_file_target(target_id: str, path: str) -> bool:
    """Tell whether a reference to something in a file is one to the whole file."""
    return target_id.endswith(f":{path}")


@dataclass(frozen=True, slots=True)
class FileMention:
    """What was done with a file, and its hash at that time."""

    file_id: str
    path: str
    hash: str
    how: TouchKind = "named"


class CodeLinks(NamedTuple):
    """The code that a message or a summary is linked to."""

    references: list[CodeReference]
    files: list[FileMention]


def pick_strongest(hows: Iterable[TouchKind]) -> TouchKind:
    """Return the strongest kind: an edit includes reading."""
    return min(hows, key=TOUCH_KINDS.index)


@dataclass(frozen=True, slots=True)
class Touch:
    """A turn, or the turns of a summary, in which code was edited, read or named."""

    conversation_id: str
    first_turn: int  # both are the turn, or the range of the summary
    last_turn: int
    when: datetime  # the time of the turn, or of the summary
    how: TouchKind
    file: str
    name: str | None  # qualified; None: the file
    hash: str
    target_id: str  # of the scope or file, which may be deleted
    by_summary: bool = False


@dataclass(frozen=True, slots=True)
class FileLine:
    """A line of a file."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class CodeFilter:
    """Which scopes to search; `under` is the path of a directory or file."""

    project_id: str | None = None
    under: str | None = None
    sections: bool = False  # documents instead of code
    types: tuple[str, ...] = ()  # any of these; none: all
    files: tuple[str, ...] = ()  # any of these; none: all


@dataclass(frozen=True, slots=True)
class Reading:
    """How many files of a project have been read, while its first reading is not finished."""

    done: int
    total: int

    @property
    def left(self) -> int:
        return self.total - self.done

    def __str__(self) -> str:
        return f"still reading: {self.done:,} of {self.total:,} files"

    @property
    def notice(self) -> str:
        """The sentence that every answer carries meanwhile."""
        return f"S{str(self)[1:]}. The others were searched by words; ask again for more."

    def to_json(self) -> Json:
        return {"done": self.done, "total": self.total}


def hash_content(content: str | bytes) -> str:
    """Return the hash that shows whether a content has changed."""
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return blake2b(data, digest_size=16).hexdigest()


def make_id(*parts: str) -> str:
    """Return the id of the thing that these parts identify."""
    return hash_content("\0".join(parts))
