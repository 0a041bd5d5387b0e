"""Language: texts, numbers and dates in the language of the browser."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date, datetime
from functools import cache, lru_cache

from ragforge.domain.instants import now
from ragforge.resources import read_resource
from ragforge.show.sessions import format_age

LANGUAGES = ("en", "fr")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_UNITS = ("kB", "MB", "GB", "TB")
MAX_TOLD = 1_000
"""Longer texts are not messages of the application."""
_BLANK = re.compile(r"\{(\w+)\}")
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def choose_language(header: str) -> str:
    """Return the language of the page that an Accept-Language header prefers; English if none."""
    best, weight = LANGUAGES[0], 0.0
    for part in header.lower().split(",")[:20]:
        name, _, quality = part.strip().partition(";q=")
        language = name.partition("-")[0]
        try:
            value = float(quality) if quality else 1.0
        except ValueError:
            continue
        if language in LANGUAGES and value > weight:
            best, weight = language, value
    return best


@cache
def load_texts(language: str) -> Mapping[str, str]:
    """Return the texts of the page in a language by the English ones; English has no file."""
    if language == LANGUAGES[0]:
        return {}
    texts: Mapping[str, str] = json.loads(read_resource(f"web/languages/{language}.json"))
    return texts


def translate(text: str, language: str) -> str:
    """Return a text of the page in a language."""
    return load_texts(language).get(text, text)


@lru_cache(2_000)
def translate_told(text: str, language: str) -> str:
    """Return in a language what the application says, such as `3 matches` or `moved to a.py:4`.

    Several of them are separated by semicolons or dots. A text of the page with words in braces
    fits any words there: `{told}` is translated too, and numbers and dates are; names are not.
    """
    if not load_texts(language) or len(text) > MAX_TOLD:
        return text
    if (known := _translate_one(text, language)) is not None:
        return known
    for separator in ("; ", " · "):
        if separator in text:
            return separator.join(translate_told(one, language) for one in text.split(separator))
    return text


def _translate_one(text: str, language: str) -> str | None:
    texts = load_texts(language)
    if text in texts:
        return texts[text]
    if _NUMBER.fullmatch(text):
        return _punctuate(text, language)
    if _DAY.fullmatch(text):
        return _read_day(text, language)
    for pattern, translated in _load_patterns(language):
        if found := pattern.fullmatch(text):
            parts = found.groupdict()
            given = {name: _fill(name, part, language) for name, part in parts.items()}
            return translated.format(**given)
    return None


def _fill(name: str, part: str, language: str) -> str:
    if name == "told":
        parts = part.split(", ")
        return ", ".join(_translate_one(one, language) or one for one in parts)
    if _NUMBER.fullmatch(part):
        return _punctuate(part, language)
    return _read_day(part, language) if _DAY.fullmatch(part) else part


def _read_day(text: str, language: str) -> str:
    try:
        return format_day(date.fromisoformat(text), language)
    except ValueError:  # such as the 31st of February
        return text


@cache
def _load_patterns(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return the texts with something in braces as patterns, those with most words first."""
    found = [(text, other) for text, other in load_texts(language).items() if "{" in text]
    found.sort(key=lambda pair: -len(_BLANK.sub("", pair[0])))
    return tuple((re.compile(_make_pattern(text), re.DOTALL), other) for text, other in found)


def _make_pattern(text: str) -> str:
    """Return a pattern for a text: `{n}` and `{m}` are numbers, other blanks are anything."""
    parts = _BLANK.split(text)  # every second one is the name of a blank
    parts[::2] = map(re.escape, parts[::2])
    parts[1::2] = [
        rf"(?P<{name}>{r'[0-9][0-9,.]*' if name in 'nm' else '.+?'})" for name in parts[1::2]
    ]
    return "".join(parts)


def format_count(number: int, one: str, many: str, language: str) -> str:
    """Return a number with its noun. French uses the singular for zero, too."""
    is_one = number in (0, 1) if language == "fr" else number == 1
    return f"{format_number(number, language)} {translate(one if is_one else many, language)}"


def format_number(number: float, language: str, digits: int = 0) -> str:
    """Return a number with its thousands apart, and with some digits after the point."""
    return _punctuate(f"{number:,.{digits}f}", language)


def _punctuate(number: str, language: str) -> str:
    if language == "fr":
        return number.replace(",", "\u202f").replace(".", ",")
    return number


def format_size(count: int, language: str) -> str:
    """Return a number of bytes in the largest unit that it reaches."""
    if count < 1_000:
        return f"{format_number(count, language)} {translate('B', language)}"
    size = count / 1_000
    for unit in _UNITS:
        if size < 1_000 or unit == _UNITS[-1]:
            break
        size /= 1_000
    return f"{format_number(size, language, 1)} {translate(unit, language)}"


def format_money(usd: float, language: str) -> str:
    """Return US dollars."""
    amount = format_number(usd, language, 2 if usd >= 1 else 4)
    return f"{amount}\u00a0$" if language == "fr" else f"${amount}"


def format_day(day: date, language: str) -> str:
    """Return a date such as `19 November 2026`."""
    number = "1er" if language == "fr" and day.day == 1 else str(day.day)
    return f"{number} {format_month(day, language)}"


def format_month(day: date, language: str) -> str:
    return f"{translate(_MONTHS[day.month - 1], language)} {day.year}"


def format_weekday(day: date, language: str) -> str:
    """Return a date with its weekday, such as `Thursday 19 November 2026`."""
    return f"{translate(_WEEKDAYS[day.weekday()], language)} {format_day(day, language)}"


def format_moment(moment: datetime, language: str) -> str:
    """Return a date and a time, both those of this machine's time zone."""
    here = moment.astimezone()
    return f"{format_day(here.date(), language)}, {here:%H:%M}"


def format_ago(moment: datetime, language: str) -> str:
    """Return how long ago something was; after a month, the date."""
    age = format_age(moment, now())
    if _DAY.fullmatch(age):
        return format_day(moment.astimezone().date(), language)
    return translate_told(age, language)
