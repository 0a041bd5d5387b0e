"""Listing: the code that a context shows of the scopes that were found.

A short class or file is shown whole; of a long one its head, the members that match the question,
and an outline of the rest. No line is shown twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragforge.concurrency import gather_or_cancel
from ragforge.context.excerpts import Excerpt
from ragforge.domain.code import SECTION, SMALL, Scope, ScopeName
from ragforge.search.extracts import extract

if TYPE_CHECKING:
    from ragforge.brain.search.code import CodeFinder

WHOLE_CHARS = 6_000
"""A longer class is seldom needed whole."""
LISTED = 20
"""How many of the best excerpts are laid out: the others seldom fit."""
USERS = 1
"""For how many of the best functions the code they use is shown; each takes two requests."""
USED, USED_CHARS = 4, 1_500
"""How many of those are shown, and how long each may be."""
HALF, IN_FILE = 0.5, 0.9
"""The most of the room that a class or file gets; the second where the best has its file around."""
USED_SHARE = 0.25
"""The score of what a function uses, as a share of the function's."""


async def list_code(
    finder: CodeFinder,
    project_id: str,
    excerpts: Sequence[Excerpt],
    words: Collection[str],
    chars: int,
    *,
    in_file: bool = False,
) -> list[Excerpt]:
    """Return excerpts with the real code of their scopes, then what the best functions use.

    With `in_file` the best is shown within its file: one coherent text instead of pieces of many.
    """
    best, others = excerpts[:LISTED], excerpts[LISTED:]
    if in_file and best and (whole := await finder.find_module(project_id, best[0].file)):
        found_by = ("the file of the best",)
        first = Excerpt.of_scope(whole, best[0].score, best[0].confidence, found_by)
        best = [first, *(one for one in best if one.place != first.place)]
    users = [
        one
        for one in best
        if one.scope is not None and not _has_inner(one) and one.scope.type != SECTION
    ][:USERS]
    inner, near = await gather_or_cancel(
        finder.find_inner(project_id, [one.scope for one in best if one.scope is not None]),
        gather_or_cancel(*(_read_near(finder, one) for one in users)),
    )
    near_of = dict(zip((user.place for user in users), near, strict=True))
    return [*lay_out(best, inner, near_of, words, chars, IN_FILE if in_file else HALF), *others]


async def _read_near(finder: CodeFinder, excerpt: Excerpt) -> Sequence[tuple[Scope, bool]]:
    """Return what a function uses, and what uses it; with whether it is used."""
    assert excerpt.scope is not None
    near = await finder.find_neighbours(excerpt.scope.uuid)
    uses = [one for one in near if one.relation == "CONSUMES" and one.scope.type not in SMALL]
    return [(one.scope, one.direction == "out") for one in uses]


def lay_out(
    excerpts: Sequence[Excerpt],
    inner: Mapping[str, Sequence[ScopeName]],
    near: Mapping[str, Sequence[tuple[Scope, bool]]],
    words: Collection[str],
    chars: int,
    share: float = HALF,
) -> list[Excerpt]:
    """Return excerpts with the code that is shown of each; `inner` are the scopes by their file.

    `near` is what each of the best functions uses, and what uses it. A class or file gets at most
    that share of the room that is left.
    """
    places = {
        (scope.file, scope.start_line, scope.end_line)
        for some in near.values()
        for scope, _ in some
    }
    places |= {(one.file, one.start_line, one.end_line) for one in excerpts}
    kept: list[Excerpt] = []
    shown: dict[str, set[int]] = defaultdict(set)
    for one in excerpts:
        if _is_shown(one, shown[one.file]):
            continue
        wanted = [(start, end) for file, start, end in places if file == one.file]
        limit = min(WHOLE_CHARS, int(max(chars, 0) * share))
        listed = one
        if _has_inner(one) and limit > 0:
            names = inner.get(one.file, ())
            listed = _list_inner(one, names, words, limit, wanted, shown[one.file])
        chars -= len(listed.text)
        kept.append(listed)
        shown[one.file].update(listed.numbers)
    return kept + list(_list_used(kept, near, shown))


def _has_inner(excerpt: Excerpt) -> bool:
    return excerpt.scope is not None and excerpt.scope.search_text is not None


def _is_shown(excerpt: Excerpt, shown: Collection[int]) -> bool:
    return excerpt.scope is not None and all(
        line in shown for line in range(excerpt.start_line, excerpt.end_line + 1)
    )


def _list_inner(
    excerpt: Excerpt,
    inner: Sequence[ScopeName],
    words: Collection[str],
    limit: int,
    wanted: Collection[tuple[int, int]],
    shown: Collection[int],
) -> Excerpt:
    """Return a class, file or chapter as it is shown."""
    scope = excerpt.scope
    assert scope is not None
    numbers = tuple(scope.line_numbers)
    if numbers and len(scope.source) <= limit and not set(numbers).intersection(shown):
        return replace(excerpt, text=scope.source, numbers=numbers)
    found = extract(scope, inner, words, limit, wanted, shown)
    return excerpt if found is None else replace(excerpt, text=found.text, numbers=found.numbers)


def _list_used(
    kept: Sequence[Excerpt],
    near: Mapping[str, Sequence[tuple[Scope, bool]]],
    shown: dict[str, set[int]],
) -> Iterable[Excerpt]:
    """Yield what the best functions use and is not shown yet."""
    left = USED
    for user in kept:
        for scope, is_used in near.get(user.place, ()):
            if not left or not is_used or len(scope.source) > USED_CHARS:
                continue
            one = Excerpt.of_scope(
                scope, USED_SHARE * user.score, user.confidence, (f"use in {user.name}",)
            )
            if not _is_shown(one, shown[one.file]):
                left -= 1
                shown[one.file].update(one.numbers)
                yield one
