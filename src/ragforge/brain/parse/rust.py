"""Rust: its definitions, uses and imports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragforge.brain.parse.language import Language
from ragforge.brain.parse.outline import Import

_DEFINITIONS = """
[(function_item) (function_signature_item)] @definition.function
[(struct_item) (union_item)] @definition.struct
(enum_item) @definition.enum
(trait_item) @definition.trait
(impl_item type: (_) @name) @definition.impl
[(type_item) (associated_type)] @definition.type
(mod_item body: (_)) @definition.module
(macro_definition) @definition.macro
[(const_item) (static_item)] @definition.constant
[(use_declaration) (extern_crate_declaration) (mod_item !body)] @import
"""

_USES = """
[(identifier) (type_identifier) (field_expression)] @use
[(scoped_identifier) (scoped_type_identifier)] @use
(call_expression function: [(identifier) (scoped_identifier) (field_expression)] @call)
(generic_function function: (_) @call)
(struct_expression name: [(type_identifier) (scoped_type_identifier)] @call)
(macro_invocation macro: (_) @call)
(token_tree (identifier) @call . (token_tree))

(parameter pattern: (identifier) @local)
(let_declaration pattern: (identifier) @local)
(for_expression pattern: (identifier) @local)
(closure_parameters (identifier) @local)
(tuple_pattern (identifier) @local)
(tuple_struct_pattern type: (_) (identifier) @local)
(field_pattern name: (shorthand_field_identifier) @local)
(captured_pattern . (identifier) @local)
(mut_pattern (identifier) @local)
(ref_pattern (identifier) @local)
(type_parameter name: (type_identifier) @local)
(const_parameter name: (identifier) @local)
(lifetime) @skip
(attribute_item) @skip
(inner_attribute_item) @skip
(enum_variant name: (identifier) @skip)

(trait_item bounds: (_) @bases)
(impl_item trait: (_) @bases)
(attribute_item) @decorator
(attribute_item) @lead
[(line_comment) (block_comment)] @comment
"""

_PIECE = re.compile(r"\s*([{},]|[^{},]+)")
_USE = re.compile(r"(?:pub(?:\s*\([^)]*\))?\s+)?(use|mod|extern\s+crate)\s+(.*?);?\s*$", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def _imports(text: str, line: int) -> Iterator[Import]:
    statement = _USE.search(_COMMENT.sub("", text))
    if statement is None:
        return
    keyword, tree = statement.groups()
    if keyword == "mod":
        yield Import(f"self::{tree.strip()}", (), tree.strip(), line)
        return
    names: dict[str, list[tuple[str, str]]] = {}
    for path, alias in _leaves(tree):
        module, _, name = path.rpartition("::")
        if name == "*":
            yield Import(module, (), "", line, wildcard=True)
        elif name == "self":
            yield Import(module, (), alias or module.rpartition("::")[2], line)
        elif not module:
            yield Import(name, (), alias or name, line)
        else:
            names.setdefault(module, []).append((name, alias or name))
    for module, pairs in names.items():
        yield Import(module, tuple(pairs), "", line)


def _leaves(tree: str) -> Iterator[tuple[str, str]]:
    """Yield each path that a use tree brings in, and its other name if it has one."""
    prefixes = [""]
    path = ""
    for piece in _PIECE.findall(tree + ","):
        if piece == "{":
            prefixes.append(path)
            path = ""
        elif piece in ",}":
            if path:
                whole, _, alias = path.partition(" as ")
                yield whole.strip().removeprefix("::"), alias.strip()
            path = ""
            if piece == "}" and len(prefixes) > 1:
                prefixes.pop()
        else:
            path = prefixes[-1] + " ".join(piece.split())


RUST = Language("rust", "tree_sitter_rust:language", _DEFINITIONS, _USES, _imports)
