"""Times abroad: German and Spanish words for times as the English ones, which `times` reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

_GERMAN_MONTHS = (
    "januar februar marz april mai juni juli august september oktober november dezember"
)
_SPANISH_MONTHS = (
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
)
_ENGLISH_MONTHS = (
    "january february march april may june july august september october november december"
)
_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
_GERMAN_DAYS = "montag dienstag mittwoch donnerstag freitag samstag sonntag"
_SPANISH_DAYS = "lunes martes miercoles jueves viernes sabado domingo"
_SAME = frozenset(("april", "august", "september", "november", "winter", "in", "mai"))
"""German words that do not tell that a question is German."""


class Tongue(NamedTuple):
    """How the times of a language become English ones: phrases first, then words."""

    phrases: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]
    words: Mapping[str, str]
    signs: frozenset[str]  # words that only this language has

    def translate(self, text: str) -> str:
        """Return a text with the times in English."""
        for pattern, english in self.phrases:
            text = pattern.sub(english, text)
        return re.sub(r"[a-z]+", lambda found: self.words.get(found[0], found[0]), text)


def to_english(text: str) -> str:
    """Return a question with German or Spanish times in English; in lower case, without accents."""
    found = frozenset(re.findall(r"[a-z]+", text))
    for tongue in _list_tongues():
        if found & tongue.signs:
            return tongue.translate(text)
    return text


@cache
def _list_tongues() -> tuple[Tongue, Tongue]:
    return _make_german(), _make_spanish()


def _make_german() -> Tongue:
    months = _pair(_GERMAN_MONTHS, _ENGLISH_MONTHS)
    words = {
        **months,
        **_pair(_GERMAN_DAYS, _DAYS),
        **_pair("erste zweite dritte vierte letzte", "first second third fourth last"),
        **_pair("ersten zweiten dritten vierten letzten", "first second third fourth last"),
        **_pair("woche wochen wochenende wochenendes", "week weeks weekend weekend"),
        **_pair(
            "tag tage tagen monat monaten monats jahr", "day days days month months month year"
        ),
        **_pair("sommer sommers herbst fruhling fruhjahr", "summer summer autumn spring spring"),
        **_pair("gestern heute mitte anfang ende", "yesterday today mid early late"),
        **_pair(
            "vor nach seit bis im am vom von des der", "before after since until in on of of of of"
        ),
        **_pair("dem diese dieser diesen", "the this this this"),
    }
    signs = words.keys() - _SAME - {"von", "am", "der", "des", "ende", "tag"}
    name = "|".join(months)
    return Tongue(
        (
            (re.compile(rf"\b({name})woche\b"), r"woche im \1"),
            (re.compile(rf"\b({name})wochenende\b"), r"wochenende im \1"),
            (re.compile(r"\b(\d+)\.\s+(?=[a-z])"), r"\1 "),
            (re.compile(r"\bvorgestern\b"), "the day before yesterday"),
            (
                re.compile(r"\bvor (\d+|einem|einer|zwei|drei|vier) (tag|woche|monat|jahr)\w*"),
                lambda found: f"{_count(found[1])} {words[found[2]]}s ago",
            ),
        ),
        words,
        frozenset(signs) | {"vorgestern"} | {f"{month}woche" for month in months},
    )


def _make_spanish() -> Tongue:
    months = _pair(_SPANISH_MONTHS, _ENGLISH_MONTHS)
    words = {
        **months,
        **_pair(_SPANISH_DAYS, _DAYS),
        **_pair("primer primero primera segundo segunda", "first first first second second"),
        **_pair(
            "tercer tercera cuarto cuarta ultimo ultima", "third third fourth fourth last last"
        ),
        **_pair("semana semanas dia dias mes meses ano", "week weeks day days month months year"),
        **_pair("verano otono primavera invierno", "summer autumn spring winter"),
        **_pair("ayer hoy desde hasta antes despues", "yesterday today since until before after"),
        **_pair("de del el la en esta este", "of of the the in this this"),
    }
    spoken = "primer primera de del el la en esta este segundo ano dia mes"
    signs = words.keys() - set(spoken.split())
    unit = "|".join((*_SPANISH_DAYS.split(), "semana", "mes", "ano"))
    return Tongue(
        (
            (re.compile(r"\bfin(?:es)? de semana\b"), "weekend"),
            (re.compile(r"\b(?:a )?mediados del? "), "mid "),
            (re.compile(r"\b(?:a )?(?:principios|comienzos|inicios) del? "), "early "),
            (re.compile(r"\b(?:a )?(?:finales|fines) del? "), "late "),
            (re.compile(r"\b(antes|despues|desde) del? (?:el )?"), r"\1 "),
            (re.compile(rf"\b(?:la |el )?({unit}) pasad[oa]\b"), r"last \1"),
            (re.compile(r"\banteayer\b"), "the day before yesterday"),
            (
                re.compile(r"\bhace (\d+|un|una|dos|tres|cuatro) (dia|semana|mes|ano)\w*"),
                lambda found: f"{_count(found[1])} {words[found[2]]}s ago",
            ),
        ),
        words,
        frozenset(signs) | {"hace", "anteayer", "mediados", "principios", "finales"},
    )


def _pair(words: str, english: str) -> dict[str, str]:
    return dict(zip(words.split(), english.split(), strict=True))


def _count(word: str) -> str:
    if word.isdigit():
        return word
    numbers = {"zwei": "two", "drei": "three", "vier": "four"}
    numbers |= {"dos": "two", "tres": "three", "cuatro": "four"}
    return numbers.get(word, "one")
