"""Language: all that is known of a programming language, as one value.

Its module finder gets from the name of a module to files of the project.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from ragforge.records import dataclass
from ragforge.resources import read_resource

if TYPE_CHECKING:
    from tree_sitter import Node

Files: TypeAlias = tuple[str, ...]
Located: TypeAlias = tuple[Files, tuple[str, ...]]

NOTHING: Located = ((), ())

_NONE: frozenset[str] = frozenset()


def get_parent(path: str) -> str:
    """Return the directory of a path, "" at the top."""
    return path.rpartition("/")[0]


def get_stem(path: str) -> str:
    """Return a file's name without its last extension."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def join_path(directory: str, name: str) -> str:
    """Return the path of a name in a directory."""
    return f"{directory}/{name}" if directory else name


def is_under(path: str, directory: str | None) -> bool:
    """Tell whether a path is a directory or below it; all are below None."""
    place = (directory or "").strip("/")
    return not place or path == place or path.startswith(f"{place}/")


def resolve_path(directory: str, relative: str) -> str | None:
    """Return where a relative path leads from a directory, None if out of the project."""
    parts = directory.split("/") if directory else []
    for part in relative.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part and part != ".":
            parts.append(part)
    return "/".join(parts)


def list_ancestors(directory: str) -> Iterable[str]:
    """Yield a directory and all those above it, the project's own last."""
    while directory:
        yield directory
        directory = get_parent(directory)
    yield ""


class ProjectPaths:
    """All files of a project; their order does not matter."""

    def __init__(self, paths: Collection[str]) -> None:
        self.all = frozenset(paths)

    def __contains__(self, path: str) -> bool:
        return path in self.all

    def may_hold(self, name: str) -> bool:
        """Tell whether a file or directory may be called so; False is certain, and cheap."""
        return f"/{name}/" in self._joined or f"/{name}." in self._joined

    @cached_property
    def _joined(self) -> str:
        return "\n".join(f"/{path}" for path in self.all)

    def pick_first(self, candidates: Iterable[str]) -> tuple[str, ...]:
        """Return the first path that is a file of the project."""
        for path in candidates:
            if path in self.all:
                return (path,)
        return ()

    def list_files_in(self, directory: str) -> tuple[str, ...]:
        """Return the files directly in a directory, sorted."""
        return self._by_directory.get(directory, ())

    def find_ending(self, end: str) -> list[str]:
        """Return the files whose path ends in these segments, sorted."""
        tail = f"/{end}"
        named = self._by_name.get(end.rpartition("/")[2], ())
        return [path for path in named if path == end or path.endswith(tail)]

    def find_directories_ending(self, end: str) -> list[str]:
        """Return the directories with files whose path ends in these segments, sorted."""
        tail = f"/{end}"
        named = self._directories_by_name.get(end.rpartition("/")[2], ())
        return [path for path in named if path == end or path.endswith(tail)]

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in sorted(self.all):
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    @cached_property
    def _by_directory(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for path in sorted(self.all):
            found.setdefault(get_parent(path), []).append(path)
        return {directory: tuple(files) for directory, files in found.items()}

    @cached_property
    def _directories_by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for directory in sorted(self._by_directory):
            found.setdefault(directory.rpartition("/")[2], []).append(directory)
        return found


def keep_single(found: Collection[str]) -> tuple[str, ...]:
    """Return what was found if it is exactly one path, else ()."""
    return tuple(found) if len(found) == 1 else ()


def pick_nearest(found: Collection[str], importer: str) -> tuple[str, ...]:
    """Return the only file, or the one whose directory is nearest to the importer's."""
    if len(found) < 2:
        return tuple(found)
    ranked = sorted(((_count_shared(path, importer), path) for path in found), reverse=True)
    return (ranked[0][1],) if ranked[0][0] > ranked[1][0] else ()


def _count_shared(one: str, other: str) -> int:
    count = 0
    for mine, yours in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if mine != yours:
            break
        count += 1
    return count


class ModuleFinder:
    """The modules of a project in one language; a language overrides what it has."""

    def __init__(self, paths: ProjectPaths, manifests: Mapping[str, str]) -> None:
        self._paths = paths

    def locate(self, importer: str, module: str) -> Located:
        """Return the files of a module, and the last parts of its name that are not a module."""
        return NOTHING

    def find_submodule(self, importer: str, module: str, name: str) -> Files:
        """Return the files of a module that is a member of another one."""
        return ()

    def find_siblings(self, path: str) -> Files:
        """Return the other files of the same package, where files of one share their names."""
        return ()

    def find_packages(self, path: str) -> Files:
        """Return the files whose importers also reach the names of this file through them."""
        return ()

    def find_library(self, module: str) -> str | None:
        """Return the library's name, None if the module can only be one of the project."""
        return None


@dataclass(frozen=True, slots=True)
class Import:
    """One statement that makes another module's names known in this file."""

    module: str  # as written: "..pkg.mod", "./util", "fmt", "std::collections", "stdio.h"
    names: tuple[tuple[str, str], ...]  # (imported name, local name); empty: the module is bound
    alias: str  # what the module itself is called here, dotted as it is used; "" if it is not
    line: int
    wildcard: bool = False  # every name of the module becomes known
    passed_on: bool = False  # the file shows these names as its own: `export … from`


@dataclass(frozen=True, slots=True)
class NameRules:
    """What a name can mean in a language, beyond the definitions around it in its file."""

    family: str
    """Languages of one family share their types."""

    # Objects and their members
    self_words: frozenset[str] = _NONE  # the object itself: `self`
    super_words: frozenset[str] = _NONE  # what its class inherits: `super`
    receiver: re.Pattern[str] | None = None  # finds what a signature calls the object
    implicit_members: bool = False  # members need no word for the object
    outer_members: bool = True  # methods of the types around their own are seen too
    call_words: frozenset[str] = _NONE  # members of functions that call them: `call`
    maker: str = ""  # the method of a type that makes an instance: `new`
    static_prefix: str = ""  # how the signature of a type's own function starts: `def self.`
    bases_in_body: bool = False  # a type names its bases in its body, not in its head

    # Where a type is written
    partial_types: bool = False  # in several files
    impl_adds_members: bool = True  # what an `impl` defines, its type has
    implicit_interfaces: bool = False  # a type implements those whose methods it has
    methods_in_package: bool = False  # its methods may be in any file of its package
    file_per_type: bool = False  # in a file of its name
    modules_are_types: bool = False  # modules are types that hold functions, in any file

    # Names that are known without an import
    package_names: bool = False  # those of the other files of a package
    project_types: bool = False  # types of the whole project, by their qualified name
    bare_types: bool = False  # packages are not part of a type's qualified name
    nested_names: bool = True  # a name may lack the namespaces around it
    opens_namespaces: bool = False  # `using` makes the names of a namespace known
    path_names: bool = False  # paths may start at a crate or module: `crate::shapes::Square`
    dotted_names: bool = False  # a definition's own name may have dots: `function a.b()`

    # Imports
    includes: bool = False  # an import includes a file and what that includes
    reexports: bool = False  # what a file imports, others can import from it by a wildcard
    hides_imports: bool = False  # a wildcard brings only what the module itself defines
    wildcard_by_use: bool = False  # a wildcard imports only the files whose names are used
    submodules: bool = False  # a name imported from a module may be a module in it
    own_names_first: bool = False  # a module's name may start with a name of the file
    default_export: bool = False  # a module may export one thing without a name
    nested_exports: bool = False  # a file shows what is in its tables or namespaces
    private_prefix: str = ""  # how names start that a wildcard does not bring
    separator: str = "."  # between the parts of a module's name

    # Names that are never the project's
    builtin_names: frozenset[str] = _NONE
    foreign_packages: frozenset[str] = _NONE  # first parts of modules
    foreign_wildcards: frozenset[str] = _NONE  # those of which a wildcard may bring any name

    # How the definitions of one name in one file are ordered
    first_definition: bool = False  # the first one counts, not the longest
    lowercase_types: bool = False  # the names of types are often in lower case


def find_name_field(node: Node) -> Node | None:
    """Return the node that holds a definition's name, where the grammar has a field for it."""
    return node.child_by_field_name("name")


def load_query(*names: str) -> str:
    """Return a query of `queries/`, such as "go/uses", or several as one."""
    return "".join(read_resource(f"brain/languages/queries/{name}.scm") for name in names)


def _read_nothing(_text: str, _line: int) -> Iterable[Import]:
    return ()


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """A grammar, two queries, what queries cannot say, and the rules for names and modules.

    `definitions` is read match by match:

    | capture              | meaning                                                          |
    | -------------------- | ---------------------------------------------------------------- |
    | `@definition.<type>` | a scope; its fields `name` and `body` are taken where they exist |
    | `@name` `@body`      | the same where the grammar has no such field                     |
    | `@owner`             | the type that a method outside of it belongs to                  |
    | `@wrap` `@inner`     | a node whose range is that of the definition in it               |
    | `@same`              | a node that is part of the definition and not a separate scope   |
    | `@import`            | a statement for `read_imports`, given its text and line          |

    Where two patterns match one node the first pattern counts. A constant is kept if it is
    written in capitals or takes three lines. What a `variant` or an `attribute` uses, the type
    around it uses.

    `uses` is read flat; every capture belongs to the innermost scope around it:

    | capture             | meaning                                                           |
    | ------------------- | ----------------------------------------------------------------- |
    | `@use` `@call`      | a name, or a chain of names of which the longest plain one counts |
    | `@invocation`       | a call with its arguments; it counts up to its name's end         |
    | `@local`            | a name that is bound here and so refers to nothing outside        |
    | `@skip`             | a range without uses                                              |
    | `@bases`            | the list of what a type inherits                                  |
    | `@decorator`        | a decorator's, annotation's or attribute's name                   |
    | `@doc`              | a string that documents its scope                                 |
    | `@signature`        | shows what a definition looks like better than its first line     |
    | `@comment` `@lead`  | a comment; another node that belongs to the definition below it   |
    """

    name: str
    grammar: str  # "<module>:<function>"
    definitions: str
    uses: str
    names: NameRules
    modules: type[ModuleFinder] = ModuleFinder
    read_imports: Callable[[str, int], Iterable[Import]] = _read_nothing
    find_name: Callable[[Node], Node | None] = find_name_field
    invocation_name: str = "name"  # the field in an `@invocation`
    sigils: str = ""  # signs before a variable that are not part of its name
    bare_calls: bool = False  # a name that is bound nowhere is a call
    function_values: bool = False  # a function's name without a call gives the function
    joins_clauses: bool = False  # neighbours of one name are one definition
    blanked: re.Pattern[bytes] | None = None  # what the grammar cannot parse becomes spaces
    simplify: Callable[[bytes], bytes] | None = None  # a second try for a file with errors
    detect_dialect: Callable[[str, str], str] | None = None  # path and text to a language's name
