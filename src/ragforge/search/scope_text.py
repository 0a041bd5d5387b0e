"""Scope text: what of a scope or a file becomes a vector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragforge.domain.code import MODULE, SECTION, Scope, ScopeName

SOURCE_CHARS = 1_500
"""The rest of a long function adds little about its purpose."""


def format_scopes(
    scopes: Iterable[Scope], names: Mapping[str, Sequence[ScopeName]], again: int
) -> list[str]:
    """Return the texts to embed for scopes; `names` are all scopes of the modules among them, by
    their file.
    """
    return [
        format_module(scope, names.get(scope.file, ()))
        if scope.type == MODULE
        else format_scope(scope, again)
        for scope in scopes
    ]


def format_scope(scope: Scope, again: int = 0) -> str:
    """Return the text to embed for a scope: its path, name, signature and indexed text.

    Of code, the names of the file and the scope are repeated `again` times: people ask for those.
    """
    lines = [
        f"{scope.file} {scope.qualified_name}",
        scope.signature,
        scope.docstring,
        scope.indexed_text[:SOURCE_CHARS],
    ]
    if scope.type != SECTION:
        file = scope.file.rpartition("/")[2].partition(".")[0]
        lines += [f"{file} {scope.name}"] * again
    return "\n".join(lines)


def format_module(module: Scope, names: Sequence[ScopeName]) -> str:
    """Return the text to embed for a file or module: all names in it, each with the path.

    A question about a part of the system is nearer to this than to any one function.
    """
    inner = [
        f"{name.file} {name.qualified_name} {name.signature}"
        for name in names
        if module.start_line <= name.start_line and name.end_line <= module.end_line
    ]
    return "\n".join([f"{module.file} {module.docstring}", *inner])
