"""Contradiction: tell whether a statement replaces an older one: same subject, another value.

No model is asked. Only plain cases are clear; where something else differs too, it is doubtful.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from ragforge.search.statements import Statement, read_statements, read_vocabulary

Verdict: TypeAlias = Literal["clear", "doubtful", "none"]
"""Whether a newer statement contradicts an older one."""
Weigh: TypeAlias = Callable[[str], float]

MAX_CHARS = 400
"""A longer statement is a text: it is not compared."""
MAX_LOOSE = 0.35
"""Clear cases differ in words of this weight at most, apart from values and negation."""
MIN_SHARED = 0.9
"""What is shared weighs at least this much, unless the values tell the subject."""
LIGHT = 0.3
"""The weight of verbs that say little about the subject, such as "use"."""
_OPEN_GROUPS = frozenset(("number", "place", "weekday", "tongue", "truth", "level", "format"))
"""Groups whose values do not tell what a statement is about."""


def compare(older: str, newer: str, weigh: Weigh | None = None) -> Verdict:
    """Tell whether a newer note or instruction contradicts an older one.

    `weigh` gives the weight of a word, 1 for an ordinary one; rare words weigh more. One of
    several sentences that is contradicted leaves the others true: that is doubtful.
    """
    if max(len(older), len(newer)) > MAX_CHARS:
        return "none"
    before, after = read_statements(older), read_statements(newer)
    weigh = weigh or weigh_plainly
    found = {compare_statements(one, other, weigh) for one in before for other in after}
    if "clear" in found:
        return "clear" if len(before) == 1 else "doubtful"
    return "doubtful" if "doubtful" in found else "none"


def weigh_plainly(word: str) -> float:
    """Return the weight of a word where nothing is known of its rarity."""
    return LIGHT if word in read_vocabulary().light else 1.0


def compare_statements(older: Statement, newer: Statement, weigh: Weigh) -> Verdict:
    """Tell whether one statement contradicts an older one."""
    if not _may_contradict(older, newer):
        return "none"
    shared, of_older, of_newer = _match(older.words, newer.words)
    gone, new = older.values - newer.values, newer.values - older.values
    named = {value for _, value in older.values}.union(older.words)
    replaced = frozenset[str]() if older.is_negated else newer.rejected & named
    of_older = [word for word in of_older if word not in replaced]
    loose = (sum(map(weigh, of_older)), sum(map(weigh, of_newer)))
    weight = sum(map(weigh, shared)) + len(older.values & newer.values)
    is_plain = not (older.is_conditional or newer.is_conditional or older.is_event)
    if replaced and not newer.is_negated:
        conflicts, tells_subject = bool(new or of_newer), True
        if not new and len(of_newer) == len(replaced):
            loose = (loose[0], 0.0)  # a word took the place of another
    elif older.is_negated != newer.is_negated:
        conflicts = not gone and not new
        tells_subject = any(group not in _OPEN_GROUPS for group, _ in older.values)
    elif older.is_negated:
        conflicts = tells_subject = False  # "no yarn" and "no npm" are both true
    elif gone or new:
        groups = sorted(group for group, _ in gone)
        conflicts = groups == sorted(group for group, _ in new)
        tells_subject = not _OPEN_GROUPS.issuperset(groups)
        # "Version 1 returns XML" and "version 2 returns JSON": one of the values is the subject.
        is_plain = is_plain and (len(groups) == 1 or (len(set(groups)) == 2 and tells_subject))
    else:  # another word may be another value: "the mascot is an owl"
        conflicts = len(of_older) == len(of_newer) == 1
        conflicts = conflicts and older.is_equation and newer.is_equation
        loose, is_plain, tells_subject = (0.0, 0.0), False, False
    if not conflicts or (weight < MIN_SHARED and not tells_subject):
        return "none"
    if sum(loose) <= MAX_LOOSE and is_plain:
        return "clear"
    # Each has a subject of its own, or one is about a case of the other.
    return "doubtful" if min(loose) <= MAX_LOOSE and max(loose) <= max(weight, 1.0) else "none"


def _may_contradict(older: Statement, newer: Statement) -> bool:
    """Tell from values and negation alone whether words need a look: of most pairs they do not."""
    if newer.rejected:
        return True
    gone, new = older.values - newer.values, newer.values - older.values
    if older.is_negated != newer.is_negated:
        return not gone and not new
    if older.is_negated:
        return False
    if gone or new:
        return sorted(group for group, _ in gone) == sorted(group for group, _ in new)
    return older.is_equation and newer.is_equation


def _match(older: Sequence[str], newer: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Return the words that both have, those of the older alone, and of the newer alone."""
    shared, of_older, left = [], [], list(newer)
    for word in older:
        other = next((one for one in left if is_same_word(word, one)), None)
        if other is None:
            of_older.append(word)
        else:
            left.remove(other)
            shared.append(word)
    return shared, of_older, left


def is_same_word(one: str, other: str) -> bool:
    """Tell whether two words are forms of one: they differ at their end only."""
    if one == other:
        return True
    if one[:3] != other[:3]:
        return False
    short, long = sorted((one, other), key=len)
    if long in (f"{short}s", f"{short}es", f"{short}e", f"{short}n", f"{short}en"):
        return len(short) > 2
    same = next((at for at, sign in enumerate(short) if sign != long[at]), len(short))
    return same >= 4 and same >= 0.7 * len(long) and len(short) - same <= 2 and short.isalpha()
