"""C and C++."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ragforge.brain.languages.language import (
    NOTHING,
    Import,
    Language,
    Located,
    ModuleFinder,
    NameRules,
    get_parent,
    get_stem,
    keep_single,
    load_query,
    resolve_path,
)
from ragforge.domain.text import split_words

if TYPE_CHECKING:
    from tree_sitter import Node

_CALLABLE = "(function_declarator declarator: [(identifier) (field_identifier)])"
_CPP_CALLABLE = """(function_declarator declarator: [
  (identifier) (field_identifier) (qualified_identifier) (operator_name) (destructor_name)])"""

_NOT_LOCAL = ("translation_unit", "preproc_ifdef", "preproc_if", "preproc_else", "declaration_list")
"""A declaration in one of these is seen by others; one in a function's body is not."""


def _declare(callable_: str, parents: tuple[str, ...]) -> str:
    declared = f"""[
      (declaration declarator: {callable_})
      (declaration declarator: (pointer_declarator declarator: {callable_}))
      (declaration declarator:
        (pointer_declarator declarator: (pointer_declarator declarator: {callable_})))
    ] @definition.function"""
    constant = "(declaration declarator: (init_declarator)) @definition.constant"
    return "\n".join(f"({parent} {declared})\n({parent} {constant})" for parent in parents)


# A macro that is a line by itself (`G_BEGIN_DECLS`) would swallow the declaration below it.
# One before a name (`class API_EXPORT Shape {`) would make a function of a class.
_LONE_MACRO = re.compile(
    rb"^[ \t]*_*[A-Z][A-Z0-9_]{3,}[ \t]*$"
    rb"|(?:(?<=\bclass )|(?<=\bstruct ))[A-Z][A-Z0-9_]{2,}(?:\([^()\n]*\))?"
    rb"(?=\s+(?!final\b)\w+\s*(?:final\s*)?[:{])",
    re.MULTILINE,
)
_NAME_NODES = split_words(
    """
    identifier type_identifier field_identifier qualified_identifier operator_name destructor_name
    namespace_identifier nested_namespace_specifier template_type
    """
)
_INCLUDE = re.compile(r"#\s*\w+\s*[<\"]([^>\"]+)[>\"]")
_ALIAS = re.compile(r"namespace\s+(\w+)\s*=\s*([\w:]+)")
_USING = re.compile(r"using\s+(namespace\s+|enum\s+|typename\s+)?(?:::)?([\w:]+)")


def _find_name(node: Node) -> Node | None:
    """Return the name inside a declarator, which may be deep: `(*name[3])(int)`."""
    inner: Node | None = node
    while inner is not None and inner.type not in _NAME_NODES:
        inner = (
            inner.child_by_field_name("name")
            or inner.child_by_field_name("declarator")
            or (inner.named_child(0) if inner.type.endswith("declarator") else None)
        )
    return inner


def _read_imports(text: str, line: int) -> Iterator[Import]:
    if match := _INCLUDE.match(text):
        yield Import(match.group(1), (), "", line, wildcard=True)
    elif match := _ALIAS.match(text):
        yield Import(match.group(2), (), match.group(1), line)
    elif match := _USING.match(text):
        module, _, name = match.group(2).rpartition("::")
        if match.group(1) and "namespace" in match.group(1):
            yield Import(match.group(2), (), "", line, wildcard=True)
        elif name:
            yield Import(module, ((name, name),), "", line)


_STANDARD = split_words(
    """
    algorithm any array atomic barrier bit bitset charconv chrono cmath compare complex concepts
    condition_variable coroutine cassert cctype cerrno cfloat cinttypes climits clocale csetjmp
    csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cwchar deque exception execution
    expected filesystem format forward_list fstream functional future initializer_list iomanip ios
    iosfwd iostream istream iterator latch limits list locale map memory memory_resource mutex new
    numbers numeric optional ostream queue random ranges ratio regex scoped_allocator semaphore set
    shared_mutex source_location span sstream stack stdexcept stop_token streambuf string
    string_view syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map
    unordered_set utility valarray variant vector version
    """
)


class CModules(ModuleFinder):
    """An include is relative to its file's directory, else the end of exactly one path."""

    def locate(self, importer: str, module: str) -> Located:
        if "::" in module:
            return NOTHING
        neighbour = resolve_path(get_parent(importer), module)
        found = self._paths.pick_first((neighbour,)) if neighbour else ()
        if not found:
            end = module.lstrip("./") if module.startswith(".") else module
            found = keep_single(self._paths.find_ending(end))
        return (found, ()) if found else NOTHING

    def find_library(self, module: str) -> str | None:
        if "::" in module or module.startswith("."):
            return None
        if module in _STANDARD or module == "std":
            return "std"
        top, slash, _ = module.partition("/")
        if slash:
            return None if self._paths.find_directories_ending(top) else top
        if "." not in module or self._paths.find_ending(module):
            return None  # a namespace, or one of several files
        return get_stem(module)


# What a header can contain in C++ but not in C.
_CPP_ONLY = re.compile(
    r"^\s*(?:class\s+\w+|namespace\b|template\s*<|using\s+\w+|public:|private:|protected:)"
    r"|\bstd::|\bconstexpr\b|\bnullptr\b",
    re.MULTILINE,
)


def _detect_dialect(path: str, text: str) -> str:
    """Return "cpp" for a header that only C++ can read."""
    return "cpp" if path.lower().endswith(".h") and _CPP_ONLY.search(text) else "c"


_NAMES = NameRules(
    "c",
    self_words=split_words("this"),
    implicit_members=True,
    includes=True,
    opens_namespaces=True,
    lowercase_types=True,
    separator="::",
)

C = Language(
    "c",
    "tree_sitter_c:language",
    load_query("c/definitions") + _declare(_CALLABLE, _NOT_LOCAL),
    load_query("c/uses"),
    _NAMES,
    CModules,
    _read_imports,
    _find_name,
    function_values=True,
    blanked=_LONE_MACRO,
    detect_dialect=_detect_dialect,
)
CPP = replace(
    C,
    name="cpp",
    grammar="tree_sitter_cpp:language",
    definitions=load_query("c/definitions", "cpp/definitions")
    + _declare(_CPP_CALLABLE, (*_NOT_LOCAL, "field_declaration_list")),
    uses=load_query("c/uses", "cpp/uses"),
    detect_dialect=None,
)
