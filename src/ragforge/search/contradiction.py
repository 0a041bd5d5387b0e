"""Contradiction: tell whether a statement replaces an older one: same subject, another value.

No model is asked. Only plain cases are clear; where something else differs too, it is doubtful.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from ragforge.patterns import compile_on_use
from ragforge.search.words.scripts import strip_accents

Value: TypeAlias = tuple[str, str]  # its group, and the value

_SENTENCE = compile_on_use(r"\n+|(?<=[.!?;])\s+")
_REASON = compile_on_use(
    r"[,;:]?\s+\b(?:because|since|so that|parce qu\w*|puisque|afin|weil|damit|porque|ya que"
    r"|para que)\b.*|,\s+(?:as|car|da|denn|pues)\s.*"
)
_CONDITION = compile_on_use(
    r"\b(?:if|when|whenever|unless|until|except|quand|lorsqu\w+|sauf|wenn|falls|sofern|ausser|cuando"
    r"|salvo|excepto|a menos)\b|\bsi (?!vous|te\b)"
)
_EVENT = compile_on_use(
    r"\b(?:was|were|had|did|we \w+ed|etait|avait|a ete|avons|war|wurden?|hatten?|fue|fueron|tuvo)\b"
)
_IS = compile_on_use(r"\b(?:is|are|est|sont|ist|sind|es|son)\b|[:=]")
_ORDINALS = {"first": "1st", "second": "2nd", "third": "3rd", "fourth": "4th"}


def _write_ordinal(found: re.Match[str]) -> str:
    return f"{_ORDINALS[found['nth']]} "


_PHRASES = (
    (compile_on_use(r"\b(?P<nth>first|second|third|fourth) (?=[a-z])"), _write_ordinal),
    (compile_on_use(r"n['’]t\b"), " not"),
    (compile_on_use(r"['’]s\b"), ""),
    (compile_on_use(r"\bcannot\b"), "can not"),
    (compile_on_use(r"\b(?:no longer|ya no|stop using|stopped using)\b"), "not"),
    (compile_on_use(r"\bne?\b['’ ](.{1,40}?)\bplus\b"), r"\1 not"),
    (
        compile_on_use(
            r"\b(?:instead of|rather than|in place of|au lieu d['’e]|plutot qu['’e]"
            r"|a la place d['’e]"
            r"|anstatt|anstelle von|statt|en lugar de|en vez de)"
        ),
        " instead_of ",
    ),
    (compile_on_use(r"\bprefer (.{1,60}?) over\b"), r"use \1 instead_of"),
    (compile_on_use(r"\bgithub actions\b"), "github_actions"),
    (compile_on_use(r"\bgitlab ci\b"), "gitlab_ci"),
    (compile_on_use(r"\bsnake case\b"), "snake_case"),
    (compile_on_use(r"\bcamel case\b"), "camelcase"),
    (compile_on_use(r",?\s*\b(?:and )?(\S+) (?:is|are) gone\b"), r" instead_of \1 "),
)
_TOKEN = compile_on_use(r"(?<!\S)--?[a-z][\w-]*|[\w.~]*/[\w./-]*\w/?|\w[\w.:@#+-]*\w|\w|[,;]")
_PLACE = compile_on_use(r"(?=.*[./:@])(?=.*[a-z]).+|[a-z]+\.[a-z]+")
_NUMBER = compile_on_use(r"v?\d[\d.,:]*(?!st|nd|rd|th)[a-z%]{0,2}")
_FROM, _TO = frozenset(("from", "de", "von", "desde")), frozenset(("to", "a", "vers", "zu", "auf"))
_BUT = frozenset((",", ";", "but", "mais", "sondern", "sino", "y", "und", "et", "and"))
_NEGATION = "not"
_INSTEAD = "instead_of"


class Vocabulary(NamedTuple):
    """The words by which statements are compared."""

    not_: frozenset[str]
    minus: dict[str, str]
    means: dict[str, str]
    light: frozenset[str]
    drop: frozenset[str]
    values: dict[str, Value]


class Statement(NamedTuple):
    """What a sentence says, as far as it can be compared."""

    words: tuple[str, ...]  # what it is about
    values: frozenset[Value]
    rejected: frozenset[str]  # what it says is no longer true: "pnpm, not npm"
    is_negated: bool
    is_conditional: bool
    is_event: bool  # it tells of what happened, not of what holds
    is_equation: bool  # "X is Y"


@lru_cache(4096)  # a note is compared with hundreds of others
def read_statements(text: str) -> tuple[Statement, ...]:
    """Return what the sentences of a text say."""
    plain = strip_accents(text).casefold()
    return tuple(read_statement(one) for one in _SENTENCE.split(plain) if one.strip(" .!?;\n"))


def read_statement(sentence: str) -> Statement:
    """Return what a sentence says; without accents and capitals."""
    vocabulary = read_vocabulary()
    text = _REASON.sub("", sentence)
    for pattern, instead in _PHRASES:
        text = pattern.sub(instead, text)
    tokens = list(_normalise(_TOKEN.findall(text), vocabulary))
    tokens, rejected = _reject(tokens, vocabulary)
    negations = sum(token == _NEGATION for token in tokens)
    kept = [token for token in tokens if token not in (_NEGATION, _INSTEAD, ",", ";")]
    values = frozenset(value for token in kept if (value := _read_value(token, vocabulary)))
    words = dict.fromkeys(
        token
        for token in kept
        if token not in vocabulary.drop
        and token not in _get_fillers()
        and _read_value(token, vocabulary) is None
    )
    return Statement(
        words=tuple(words),
        values=values,
        rejected=rejected,
        is_negated=negations % 2 == 1,
        is_conditional=_CONDITION.search(sentence) is not None,
        is_event=_EVENT.search(sentence) is not None,
        is_equation=_IS.search(sentence) is not None,
    )


def _normalise(tokens: Sequence[str], vocabulary: Vocabulary) -> Iterator[str]:
    """Yield tokens in one form: synonyms as one word, each negation as one."""
    for token in tokens:
        if token in vocabulary.not_:
            yield _NEGATION
        elif token in vocabulary.minus:
            yield _NEGATION
            yield vocabulary.minus[token]
        else:
            yield vocabulary.means.get(token, token)


def _reject(tokens: Sequence[str], vocabulary: Vocabulary) -> tuple[list[str], frozenset[str]]:
    """Return the tokens without what they say is not so any more, and that."""
    kept: list[str] = []
    rejected: set[str] = set()
    place = 0
    while place < len(tokens):
        token = tokens[place]
        following = _find_next(tokens, place + 1, vocabulary)
        if token == _INSTEAD and following is not None:
            rejected.add(_name(tokens[following], vocabulary))
            place = following + 1
        elif token == "move" and (moved := _find_move(tokens, place, vocabulary)) is not None:
            rejected.add(_name(tokens[moved], vocabulary))
            kept.append("use")
            place = moved + 1
        elif (
            token == _NEGATION
            and following is not None
            and _is_contrast(tokens, place, following, vocabulary)
        ):
            if tokens[following] == "use":
                following = _find_next(tokens, following + 1, vocabulary) or following
            rejected.add(_name(tokens[following], vocabulary))
            place = following + 1
        else:
            kept.append(token)
            place += 1
    return kept, frozenset(rejected)


def _find_next(tokens: Sequence[str], start: int, vocabulary: Vocabulary) -> int | None:
    """Return the place of the next token that is not a filler; none after a comma."""
    for place in range(start, len(tokens)):
        token = tokens[place]
        if token in (",", ";", _NEGATION, _INSTEAD):
            return None
        if token not in vocabulary.drop and token not in _get_fillers():
            return place
    return None


def _find_move(tokens: Sequence[str], start: int, vocabulary: Vocabulary) -> int | None:
    """Return the place of what was left: "switched from A to B", "moved to B from A"."""
    for place in range(start + 1, len(tokens) - 1):
        if tokens[place] in _FROM and any(token in _TO for token in tokens[start:]):
            return _find_next(tokens, place + 1, vocabulary)
    return None


def _is_contrast(
    tokens: Sequence[str], place: int, following: int | None, vocabulary: Vocabulary
) -> bool:
    """Tell whether a negation sets a value against another: "A, not B", "not B but A"."""
    if following is None:
        return False
    if tokens[following] == "use":  # "do not use A but B"
        following = _find_next(tokens, following + 1, vocabulary)
    value = None if following is None else _read_value(tokens[following], vocabulary)
    if following is None or value is None:
        return False
    before, after = tokens[:place], tokens[following + 1 :]
    is_apart = any(token in _BUT for token in after)
    others = [*(before if _ends_part(before, vocabulary) else ()), *(after if is_apart else ())]
    found = (_read_value(token, vocabulary) for token in others)
    return any(other is not None and other[0] == value[0] and other != value for other in found)


def _ends_part(tokens: Sequence[str], vocabulary: Vocabulary) -> bool:
    """Tell whether tokens end with a value, a comma or a word such as "and"."""
    for token in reversed(tokens):
        if token in _BUT or _read_value(token, vocabulary) is not None:
            return True
        if token not in vocabulary.drop and token not in _get_fillers():
            return False
    return False


def _name(token: str, vocabulary: Vocabulary) -> str:
    value = _read_value(token, vocabulary)
    return token if value is None else value[1]


def _read_value(token: str, vocabulary: Vocabulary) -> Value | None:
    """Return the value that a token is, with its group."""
    if token in vocabulary.values:
        return vocabulary.values[token]
    if _NUMBER.fullmatch(token):
        return "number", token.removeprefix("v").rstrip(".,:")
    if _PLACE.fullmatch(token):
        return "place", token
    return None


@cache
def _get_fillers() -> frozenset[str]:
    from ragforge.search.words.tokenise import WORDS

    spoken = ("english", "french", "german", "spanish")
    found = frozenset[str]().union(*map(WORDS.get_fillers, spoken))
    return frozenset(map(strip_accents, found)) - _FROM - _TO | {"from", "to", "of", "de", "a"}


@cache
def read_vocabulary() -> Vocabulary:
    """Return the words of `contradiction_words.txt`."""
    text = Path(__file__).with_name("contradiction_words.txt").read_text("utf-8")
    parts: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("["):
            lines = parts.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            lines.append(line)
    values = {word: ("unit", name) for word, name in _read_names(parts["units"]).items()}
    for line in parts["values"]:
        group, _, names = line.partition(": ")
        found = _read_names(one if "=" in one else f"{one} = {one}" for one in names.split("; "))
        values |= {word: (group, name) for word, name in found.items()}
    means = _read_names(parts["means"])
    return Vocabulary(
        not_=frozenset(" ".join(parts["not"]).split()),
        minus=_read_names(parts["minus"]),
        means=means,
        light=frozenset(" ".join(parts["light"]).split()),
        drop=frozenset(" ".join(parts["drop"]).split()) - {"from", "a"},
        values=values,
    )


def _read_names(lines: Iterable[str]) -> dict[str, str]:
    """Return words with the name that each of them is read as."""
    found: dict[str, str] = {}
    for line in lines:
        name, _, words = line.partition(" = ")
        found |= dict.fromkeys(words.split(), name.strip())
    return found


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
    # They have different subjects, or one is about a case of the other.
    return "doubtful" if min(loose) <= MAX_LOOSE and max(loose) <= max(weight, 1.0) else "none"


def _may_contradict(older: Statement, newer: Statement) -> bool:
    """Tell only from values and negation whether words need a look: of most pairs they do not."""
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
    """Return the words that both have, those of only the older one, and of only the newer one."""
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
