"""Times: which time a question names, such as "in March", "last week" or "before we moved".

English and French; German and Spanish are read as English (`times_abroad`). A month, a day or a
season without a year is the latest one that has begun.
Seasons are those of the northern hemisphere, in whole months.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from ragforge.search.question.times_foreign import to_english
from ragforge.search.words.scripts import strip_accents

MAX_SPANS = 2
TOLD_LATER = timedelta(days=2)
"""People may speak of an event up to this long after its date."""
_DAY = timedelta(days=1)
_MONTHS = """
    january jan janvier, february feb fevrier, march mar mars, april apr avril, may mai,
    june jun juin, july jul juillet, august aug aout, september sept sep septembre,
    october oct octobre, november nov novembre, december dec decembre
    """.split(",")  # noqa: SIM905
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905
_JOURS = "lundi mardi mercredi jeudi vendredi samedi dimanche".split()  # noqa: SIM905
_WEEKDAY_OF = {name: number for names in (_WEEKDAYS, _JOURS) for number, name in enumerate(names)}
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTH_OF, key=len, reverse=True))})\b"
_YEAR = r"(?P<year>(?:19|20)\d\d)\b"
_NUMBER = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|er|\.)?"
_DATES = re.compile(
    rf"\b(?P<iso>{_YEAR.replace('year', 'iso_year')}-(?P<iso_month>[01]\d)"
    rf"(?:-(?P<iso_day>[0-3]\d))?)"
    rf"|\b{_NUMBER}\s+(?:of\s+)?{_MONTH}(?:,?\s+(?:of\s+)?{_YEAR})?"
    rf"|\b{_MONTH.replace('month', 'm2')}\.?\s+{_NUMBER.replace('day', 'd2')}\b(?!\d)"
    rf"(?:,?\s+{_YEAR.replace('year', 'y2')})?"
    rf"|\b{_MONTH.replace('month', 'm3')},?\s+(?:of\s+)?{_YEAR.replace('year', 'y3')}"
    rf"|\b(?:in|during|since|until|before|after|by|last|en|depuis|avant|apres)\s+"
    rf"(?:early\s+|late\s+|mid-?\s*|debut\s+|fin\s+)?{_MONTH.replace('month', 'm4')}"
    rf"(?!\.?\s+[0-3]?\d(?:st|nd|rd|th)?\b)"  # then it is a day
    rf"(?:,?\s+(?:of\s+)?{_YEAR.replace('year', 'y4')})?"
    rf"|\b(?:in|during|since|en|depuis)\s+{_YEAR.replace('year', 'y5')}"
)
_SEASON_OF = {  # the month in which it begins
    **dict.fromkeys(("spring", "printemps"), 3),
    **dict.fromkeys(("summer", "ete"), 6),
    **dict.fromkeys(("autumn", "fall", "automne"), 9),
    **dict.fromkeys(("winter", "hiver"), 12),
}
_SEASON = rf"(?P<season>{'|'.join(_SEASON_OF)})\b"
_OF = r"(?:\s+(?:of|in|de|du)\s+(?:the\s+|la\s+)?|\s+(?:de\s+)?[ld]['’]\s*)"
_IN_YEAR = rf"(?:,?\s+(?:of\s+|de\s+)?{_YEAR})?"
_WEEK = r"(?P<unit>week-?end|week|semaine)"
_ORDINALS = (
    ("first", "1st", "premier", "premiere"),
    ("second", "2nd", "deuxieme"),
    ("third", "3rd", "troisieme"),
    ("fourth", "4th", "quatrieme"),
)
_LAST = ("last", "dernier", "derniere")
_ORDINAL_OF = {name: number for number, names in enumerate(_ORDINALS) for name in names}
_ORDINAL = rf"(?P<ordinal>{'|'.join((*_ORDINAL_OF, *_LAST))})"
_PART_OF = {  # thirds
    **dict.fromkeys(("early", "beginning", "start", "debut"), 0),
    **dict.fromkeys(("mid", "middle", "mi", "milieu"), 1),
    **dict.fromkeys(("late", "end", "fin"), 2),
}
_PART = rf"(?P<part>{'|'.join(_PART_OF)})"
_PARTS = (
    re.compile(rf"\b{_ORDINAL}\s+{_WEEK}{_OF}{_MONTH}{_IN_YEAR}"),
    re.compile(rf"\b{_PART}(?:{_OF}|[\s-]+)(?:{_MONTH}|{_SEASON}){_IN_YEAR}"),
    re.compile(rf"\b{_PART}(?:{_OF}|[\s-]+){_YEAR}"),
    re.compile(rf"\b(?:in|during|last|this|since|en|au|cet)\s+(?:the\s+)?{_SEASON}{_IN_YEAR}"),
    re.compile(rf"\b{_SEASON}\s+(?:of\s+|de\s+)?{_YEAR}"),
)
_MONTH_OF_FRENCH = re.compile(r"\b(d[ue] )mois (?:de |d['’])")
_WEEKEND = re.compile(
    r"\b(?:(?P<this>this|ce)\s+week-?end|(?:last|this past|the previous)\s+week-?end"
    r"|week-?end\s+(?:dernier|passe))\b"
)
_RELATIVE = re.compile(
    r"\b(?:(?P<number>\d+|two|three|four|five|six|deux|trois|quatre|cinq)\s+)?"
    r"(?P<unit>day|week-?end|week|month|jour|semaine|mois)s?\s+(?:d['’]\s*)?"
    r"(?P<relation>before|prior to|preceding|after|following|of|avant|apres|du)\s+"
    r"(?:the\s+|le\s+)?$"
)
_AGO = re.compile(
    r"\b(?P<number>\d+|an?|one|two|three|four|five|six|un|une|deux|trois|quatre|cinq)\s+"
    r"(?P<unit>day|week|month|year|jour|semaine|mois|an)s?\s+ago\b"
    r"|\bil y a\s+(?P<n2>\d+|une?|deux|trois|quatre|cinq|six)\s+(?P<u2>jour|semaine|mois|an)s?\b"
)
_NEAR = re.compile(
    r"\b(?:(?P<today>today|this morning|aujourd.?hui|ce matin)"
    r"|(?P<before>the day before yesterday|avant-?hier)|(?P<yesterday>yesterday|hier)"
    r"|(?P<last>last|this past|the previous)\s+(?P<what>week|month|year)"
    r"|(?P<this>this|cette|ce)\s+(?P<which>week|month|year|semaine|mois|annee)"
    r"|(?:la semaine|le mois|l.?annee|l.?an)\s+(?:derniere?|passee?)"
    rf"|(?:last|on)\s+(?P<weekday>{'|'.join(_WEEKDAYS)})"
    rf"|(?P<jour>{'|'.join(_JOURS)})(?:\s+dernier)?)\b"
)
_NUMBERS = ("", "one", "two", "three", "four", "five", "six")
_NOMBRES = ("", "un", "deux", "trois", "quatre", "cinq", "six")
_EVENT = re.compile(
    r"\b(?P<relation>before|after|since|avant|apres|depuis)\s+(?:that\s+|qu[e'’]\s*)?"
    r"(?P<event>(?:i|we|you|he|she|they|the|our|my|je|j['’]|nous|on|tu|le|la|les|l['’]|notre|mon|ma)"
    r"(?:\b|(?<=['’]))[^,.;?!]{4,})"
)


class TimeSpan(NamedTuple):
    """A stretch of time; None is open."""

    since: datetime | None
    until: datetime | None


class NamedEvent(NamedTuple):
    """Something that happened, before or after which a question asks."""

    text: str
    is_before: bool


def find_spans(question: str, now: datetime) -> list[TimeSpan]:
    """Return the stretches of time that a question names, at most two."""
    text = _MONTH_OF_FRENCH.sub(r"\1", to_english(strip_accents(question).casefold()))
    parts: list[TimeSpan] = []
    for pattern in _PARTS:
        while found := pattern.search(text):
            if (span := _read_part(found, now)) is not None:
                parts.append(span)
            text = text[: found.start()] + "." + text[found.end() :]  # it is not a date as well
    spans = [*parts, *_find_dates(text, now), *_find_near(text, now)]
    return list(dict.fromkeys(spans))[:MAX_SPANS]


def find_event(question: str) -> NamedEvent | None:
    """Return the event before or after which a question asks, if it names one in words."""
    found = _EVENT.search(strip_accents(question).casefold())
    if found is None or _DATES.search(found[0]) is not None:
        return None
    return NamedEvent(found["event"], found["relation"] in ("before", "avant"))


def _find_dates(text: str, now: datetime) -> Iterator[TimeSpan]:
    for found in _DATES.finditer(text):
        parts = {name: value for name, value in found.groupdict().items() if value}
        year = next(
            (int(parts[k]) for k in ("iso_year", "year", "y2", "y3", "y4", "y5") if k in parts), 0
        )
        name = next((parts[k] for k in ("month", "m2", "m3", "m4") if k in parts), "")
        month = int(parts["iso_month"]) if "iso_month" in parts else _MONTH_OF.get(name, 0)
        day = next((int(parts[k]) for k in ("iso_day", "day", "d2") if k in parts), 0)
        if (span := _make_span(year, month, day, now)) is not None:
            before = text[: found.start()]
            yield (_find_relative(before, span) if day else None) or _open(before, found[0], span)


def _read_part(found: re.Match[str], now: datetime) -> TimeSpan | None:
    """Return a week or a weekend of a month, a third of a month, season or year, or a season."""
    given = {name: value for name, value in found.groupdict().items() if value}
    year = int(given.get("year", 0))
    month = _SEASON_OF.get(given.get("season", "")) or _MONTH_OF.get(given.get("month", ""), 0)
    whole = _make_span(year, month, 0, now)
    if whole is None or whole.since is None or whole.until is None:
        return None
    start, end = whole.since, whole.until - TOLD_LATER
    if "season" in given:
        end = (start + timedelta(days=95)).replace(day=1)
    if "part" in given:
        third = (end - start) / 3
        start += _PART_OF[given["part"]] * third
        end = start + third
    elif "ordinal" in given:
        number, is_week = _ORDINAL_OF.get(given["ordinal"]), "end" not in given["unit"]
        if is_week:
            start = end - 7 * _DAY if number is None else start + number * 7 * _DAY
            end = start + 7 * _DAY
        else:
            first, last = start + (5 - start.weekday()) % 7 * _DAY, end - 2 * _DAY
            last -= (last.weekday() - 5) % 7 * _DAY
            start = last if number is None else first + number * 7 * _DAY
            end = start + 2 * _DAY
    start, end = (moment.replace(hour=0, minute=0, second=0) for moment in (start, end))
    return TimeSpan(start, end + TOLD_LATER)


def _find_relative(before: str, day: TimeSpan) -> TimeSpan | None:
    """Return the week (or another stretch) before or after a day, if the question names one."""
    if (found := _RELATIVE.search(before)) is None or day.since is None:
        return None
    length = _LENGTHS.get(found["unit"], 2 * _DAY) * _read_number(found["number"] or "1")
    if found["relation"] in ("before", "prior to", "preceding", "avant"):
        reach = 7 * _DAY if "end" in found["unit"] else length  # the last weekend before it
        return TimeSpan(day.since - reach, day.since + TOLD_LATER)
    after = found["relation"] not in ("of", "du")
    start = day.since + _DAY if after else day.since
    reach = 7 * _DAY if after and "end" in found["unit"] else length
    return TimeSpan(start, start + reach + TOLD_LATER)


def _make_span(year: int, month: int, day: int, now: datetime) -> TimeSpan | None:
    """Return a day, a month or a year; the latest past one if there is no year."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        start = midnight.replace(year=year or now.year, month=month or 1, day=day or 1)
        if not year and start > now:
            start = start.replace(year=now.year - 1)
    except ValueError:  # such as 31 June
        return None
    if day:
        end = start + _DAY
    elif month:
        end = (start + timedelta(days=32)).replace(day=1)
    else:
        end = start.replace(year=start.year + 1)
    return TimeSpan(start, end + TOLD_LATER)


def _open(before: str, date: str, span: TimeSpan) -> TimeSpan:
    """Return the time before or after a date, if the question asks for that."""
    relation = re.search(r"\b(\w+)\s+(?:the\s+|le\s+)?$", before)
    for first in (relation[1] if relation else "", date.split(maxsplit=1)[0]):
        if first in ("before", "until", "avant"):
            return TimeSpan(None, span.since)
        if first in ("after", "since", "apres", "depuis"):
            return TimeSpan(span.since, None)
    return span


def _find_near(text: str, now: datetime) -> Iterator[TimeSpan]:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for found in _WEEKEND.finditer(text):
        saturday = _begin_unit("week", today) + 5 * _DAY
        if not found["this"] and saturday + 2 * _DAY > today:
            saturday -= 7 * _DAY
        yield TimeSpan(saturday, saturday + 2 * _DAY + TOLD_LATER)
    text = _WEEKEND.sub(".", text)
    for found in _AGO.finditer(text):
        number = _read_number(found["number"] or found["n2"])
        unit = found["unit"] or found["u2"]
        yield _around(today - number * _LENGTHS[unit], _LENGTHS[unit])
    for found in _NEAR.finditer(text):
        if found["today"]:
            yield TimeSpan(today, None)
        elif found["before"]:
            yield TimeSpan(today - 2 * _DAY, today - _DAY)
        elif found["yesterday"]:
            yield TimeSpan(today - _DAY, today)
        elif name := found["weekday"] or found["jour"]:
            back = (today.weekday() - _WEEKDAY_OF[name]) % 7 or 7
            yield TimeSpan(today - back * _DAY, today - (back - 1) * _DAY)
        else:
            unit = found["what"] or found["which"] or found[0]
            start = _begin_unit(unit, today)
            if found["this"]:
                yield TimeSpan(start, None)
            else:
                yield TimeSpan(_begin_unit(unit, start - _DAY), start)


def _begin_unit(unit: str, day: datetime) -> datetime:
    """Return the first day of the week, the month or the year of a day."""
    if "week" in unit or "semaine" in unit:
        return day - day.weekday() * _DAY
    if "mo" in unit:
        return day.replace(day=1)
    return day.replace(month=1, day=1)


def _around(day: datetime, length: timedelta) -> TimeSpan:
    return TimeSpan(day - length / 2, day + max(length / 2, _DAY))


def _read_number(word: str) -> int:
    if word.isdigit():
        return min(int(word), 1_000)
    return next((names.index(word) for names in (_NUMBERS, _NOMBRES) if word in names), 1)


_LENGTHS = {
    **dict.fromkeys(("day", "jour"), _DAY),
    **dict.fromkeys(("week", "semaine"), 7 * _DAY),
    **dict.fromkeys(("month", "mois"), timedelta(days=30)),
    **dict.fromkeys(("year", "an"), timedelta(days=365)),
}
