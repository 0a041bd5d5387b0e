"""Scope words: what of a scope or file becomes a vector, and how well scopes fit words.

Scopes are scored without an index, with the weights that the indexes of the stores give the fields.
What a word is worth is an argument: the caller knows more texts than these.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ragforge.domain import bm25
from ragforge.domain.code import MODULE, SECTION, Scope, ScopeMatch, ScopeName
from ragforge.ports.search_index import Tokeniser

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

    Of code, the names of the file and the scope are repeated `again` times: questions use them.
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


NAME, PATH, SIGNATURE, DOCSTRING, SOURCE = 4.0, 2.0, 2.0, 1.5, 1.0


def weigh_words(
    words: Iterable[str], counts: Mapping[str, Mapping[str, int]], files: int
) -> dict[str, float]:
    """Return what each word is worth, given how often it occurs in which of all files."""
    containing = Counter(word for held in counts.values() for word in held)
    return {word: bm25.weigh_word(files, containing[word]) for word in words}


def score_counts(
    counts: Mapping[str, Mapping[str, int]], sizes: Mapping[str, int], worth: Mapping[str, float]
) -> dict[str, float]:
    """Return how well each file fits, by how often it has each word and by its size."""
    usual = sum(sizes.values()) / max(len(sizes), 1) or 1.0
    scores = {}
    for path, held in counts.items():
        saturation = bm25.saturate(sizes.get(path, usual), usual)
        scores[path] = sum(
            worth.get(word, 0.0) * bm25.weigh_times(times, saturation)
            for word, times in held.items()
        )
    return scores


def score_scopes(
    scopes: Sequence[Scope], worth: Mapping[str, float], tokeniser: Tokeniser
) -> list[ScopeMatch]:
    """Return the scopes that hold any of the words, best first."""
    split = [_split_fields(scope, tokeniser) for scope in scopes]
    lengths = [sum(len(words) for _, words in fields) for fields in split]
    usual = sum(lengths) / max(len(lengths), 1) or 1.0
    found = []
    for scope, fields, length in zip(scopes, split, lengths, strict=True):
        times: dict[str, float] = defaultdict(float)
        for weight, words in fields:
            for word in words:
                if word in worth:
                    times[word] += weight
        if times:
            saturation = bm25.saturate(length, usual)
            score = sum(worth[word] * bm25.weigh_times(n, saturation) for word, n in times.items())
            found.append(ScopeMatch(name_scope(scope), score))
    return sorted(found, key=lambda match: (-match.score, match.id))


def name_scope(scope: Scope) -> ScopeName:
    """Return the name and location of a scope."""
    return ScopeName(
        scope.uuid,
        scope.name,
        scope.qualified_name,
        scope.type,
        scope.file,
        scope.start_line,
        scope.end_line,
        scope.signature,
    )


def _split_fields(scope: Scope, tokeniser: Tokeniser) -> list[tuple[float, list[str]]]:
    texts = (
        (NAME, scope.qualified_name),
        (PATH, scope.file),
        (SIGNATURE, scope.signature),
        (DOCSTRING, scope.docstring),
        (SOURCE, scope.indexed_text),
    )
    return [(weight, tokeniser.document(text).split()) for weight, text in texts]
