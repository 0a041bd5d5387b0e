"""Symbol ids of exact indexers, and which scopes of ours they mean.

Three forms occur: SCIP descriptors (``scip-go gomod … `pkg`/Type#method().``), language servers
(`lsp:file:///…/source/PATH::Type::method`) and parsers (`cpp::module::PATH::ns::Type::method`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ragforge.domain.code import MODULE, ScopeName

_TOKEN = re.compile(
    r"(?P<name>`(?:[^`]|``)+`|[\w$+-]+)?"
    r"(?P<end>\((?P<number>\+\d+)?\)\.|/|#|\.|!|:|\[(?P<type>`(?:[^`]|``)+`|[^\]]+)\]|\([^)]*\))"
)
_SERVER = re.compile(r"(?:lsp|file):file://.*?/source/(?P<path>[^:]+)(?:::(?P<rest>.*))?$")
_PARSER = re.compile(r"\w+::module::(?P<path>[^:]+)(?:::(?P<rest>.*))?$")
_FILE = re.compile(r"\.[cm]?[jt]sx?$")
_WORD = re.compile(r"\S+$")  # in Swift, headings in comments count as symbols too
_UNNAMED = "typeLiteral"  # a type that is only written where it is used
CONSTRUCTORS = {"<init>", "<constructor>"}
_GENERIC = re.compile(r"<.*>$|^&(?:'\w+ )?(?:mut )?|^dyn ")
_SINGLETON = re.compile(r"^<Class:(.+)>$")


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol as an indexer names it."""

    space: tuple[str, ...] = ()  # modules, packages or folders
    parts: tuple[str, ...] = ()  # types and what is in them; the last one is the symbol itself
    path: str | None = None
    number: int = 0  # of several with this name
    is_type: bool = False
    is_constructor: bool = False
    is_expressible: bool = True

    @property
    def is_space(self) -> bool:
        """Whether it is a file, module or package."""
        return not self.parts


def parse(text: str) -> Symbol:
    """Return what an id names. What our graph leaves out on purpose is not expressible."""
    if text.startswith("local "):
        return Symbol(is_expressible=False)
    if found := _SERVER.match(text) or _PARSER.match(text):
        parts = re.split(r"::|\.(?=[A-Z])", found["rest"]) if found["rest"] else []
        if text.startswith("cpp:"):  # what has no name is called as its first member
            parts = [
                part for part, before in zip(parts, ["", *parts], strict=False) if part != before
            ]
        heading = found["path"].endswith(".swift") and parts and not _WORD.match(parts[-1])
        return Symbol((), tuple(parts), found["path"], is_expressible=not heading)
    if text.startswith("file:"):
        return Symbol(path=text.removeprefix("file:"))
    return parse_descriptors(_skip_package(text))


def _skip_package(text: str) -> str:
    words = text.split(" ")
    count = 4 if words[0].startswith(("scip-", "rust-analyzer", "semanticdb")) else 1
    return " ".join(words[count:])


def parse_descriptors(text: str) -> Symbol:
    """Return what the last part of an id names."""
    space: list[str] = []
    parts: list[str] = []
    number, is_type, is_expressible = 0, False, True
    in_block = is_constructor = False
    for token in _TOKEN.finditer(text):
        name = (token["name"] or "").strip("`")
        end = token["end"]
        if token["type"] is not None and not name:
            if in_block:  # of Rust: the type, then the trait
                parts.append(_clean(token["type"]))
                in_block = False
            elif parts and "impl#[" not in text[: token.start()]:
                is_expressible = False  # a type parameter
            continue
        if end.startswith("(") and not end.endswith("."):
            is_expressible = False  # a parameter
        elif end == "/":
            space.append(name)
        elif name == "impl" and end == "#":
            in_block = True
        else:
            number = int(token["number"] or 0)
            is_type = end == "#"
            is_constructor = name in CONSTRUCTORS and bool(parts)
            is_expressible = is_expressible and not name.startswith(_UNNAMED)
            parts.append(parts[-1] if is_constructor else _clean(name))
    files = [at for at, one in enumerate(space) if _FILE.search(one)]
    if files:  # what follows a file is a namespace in it
        parts[:0] = space[files[-1] + 1 :]
        del space[files[-1] + 1 :]
    return Symbol(tuple(space), tuple(parts), None, number, is_type, is_constructor, is_expressible)


def _clean(name: str) -> str:
    name = name.strip("`")
    if found := _SINGLETON.match(name):
        name = found[1]
    return _GENERIC.sub("", name)


class Symbols:
    """The scopes of a project, found by the ids of an exact indexer."""

    def __init__(self, scopes: Iterable[ScopeName], root: str = "") -> None:
        """Paths of symbols are relative to `root`, which is empty or ends with a slash."""
        self._named: dict[str, list[ScopeName]] = defaultdict(list)
        self._files: dict[str, list[ScopeName]] = defaultdict(list)
        self.root = root
        for scope in scopes:
            self._files[scope.file].append(scope)
            if not is_file(scope):
                self._named[name_last(scope)].append(scope)
        for many in self._named.values():
            many.sort(key=lambda one: (one.file, one.start_line))

    def find(self, symbol: Symbol) -> list[ScopeName]:
        """Return the scopes that a symbol means: several if it is declared in several places."""
        if not symbol.is_expressible or symbol.is_space:
            return []
        name = symbol.parts[-1]
        named = self._named.get(name) or self._named.get(name.removesuffix("="), [])
        rated = [(self._rate(one, symbol), one) for one in named]
        best = max((rate for rate, _ in rated if rate is not None), default=None)
        found = [one for rate, one in rated if rate is not None and rate == best]
        if 0 < symbol.number < len(found):
            return [found[symbol.number]]
        return found[:1] if symbol.number == 0 and _are_overloads(found) else found

    def find_type(self, symbol: Symbol) -> list[ScopeName]:
        """Return the type that a constructor makes: a call of one is a use of the other."""
        parts = symbol.parts[:-1]
        return self.find(replace(symbol, parts=parts, is_constructor=False)) if parts else []

    def find_all(self, symbol: Symbol) -> list[ScopeName]:
        """Return the scopes that a symbol or another one of its name in its place means."""
        return self.find(replace(symbol, number=-1))

    def may_hold(self, symbol: Symbol) -> bool:
        """Tell whether a symbol can be one of the scopes: a constructor if it is written."""
        if symbol.is_constructor and len(found := self.find_all(symbol)) == 1:
            return symbol.is_expressible and found[0].type in ("method", "function")
        return symbol.is_expressible

    def find_files(self, symbol: Symbol) -> list[str]:
        """Return the files that a symbol without a name in code means."""
        if symbol.path is not None:
            exact = f"{self.root}{symbol.path}"
            return [exact] if exact in self._files else []
        if not symbol.space:
            return []
        return [path for path in self._files if _rate_space(path, "", symbol.space) is not None]

    def in_file(self, path: str) -> Sequence[ScopeName]:
        return self._files.get(path, ())

    def _rate(self, scope: ScopeName, symbol: Symbol) -> tuple[int, int] | None:
        """Return how well a scope fits, or None if it is another one."""
        outer = [_clean(part) for part in re.split(r"\.|::", scope.qualified_name)][:-1]
        wanted = list(symbol.parts[:-1])
        fits = sum(part in outer for part in wanted)
        if symbol.path is not None:
            return (fits, 0) if scope.file == f"{self.root}{symbol.path}" else None
        if wanted and wanted[-1] not in outer and wanted[-1] != scope.name:
            return None
        space = _rate_space(scope.file, scope.qualified_name, symbol.space)
        extra = -abs(len(outer) - len(wanted))
        return None if space is None else (fits * 10 + space * 5, extra)


def name_last(scope: ScopeName) -> str:
    """Return a scope's own name without the namespaces and quotes around it."""
    return scope.name.strip("`").rpartition(".")[2]


def is_file(scope: ScopeName) -> bool:
    """Tell whether a scope is a whole file; modules in a file have the same type."""
    stem = scope.file.rpartition("/")[2].partition(".")[0]
    return scope.type == MODULE and scope.start_line == 1 and scope.name.startswith(stem)


def _are_overloads(found: Sequence[ScopeName]) -> bool:
    return len({(one.file, one.qualified_name) for one in found}) == 1


def _rate_space(path: str, qualified: str, space: Sequence[str]) -> int | None:
    """Return how many modules of a symbol the place of a scope shows; None if the last is not."""
    if not space:
        return 0
    stem = path.rpartition(".")[0]
    steps = [*stem.split("/"), *re.split(r"\.|::", qualified)[:-1]]
    names = [part for one in space for part in re.split(r"[./]", one.removesuffix(".test")) if part]
    if any(one.endswith((".ts", ".js", ".tsx", ".mjs", ".cjs")) for one in space):
        return len(space) if path.endswith("/".join(space)) else None
    if space == ("crate",):
        return 0
    last = names[-1]
    if last in steps or (len(names) > 2 and path.count("/") == 0):  # the root of a Go module
        return sum(name in steps for name in names)
    return sum(name in steps for name in names) if len(space) == 1 and "/" in space[0] else None
