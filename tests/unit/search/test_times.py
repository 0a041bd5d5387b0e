"""Times: the stretch of time that a question names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ragforge.search.question.times import find_event, find_spans

NOW = datetime(2026, 11, 17, 22, 0, tzinfo=UTC)  # a Tuesday


def span(question: str) -> tuple[str, str]:
    """Return the first day of the only stretch, and the day at which it ends."""
    [(since, until)] = find_spans(question, NOW)
    return f"{since:%Y-%m-%d}" if since else "", f"{until:%Y-%m-%d}" if until else ""


@pytest.mark.parametrize(
    ("question", "since", "until"),
    [
        ("What did we decide in March?", "2026-03-01", "2026-04-03"),
        ("And in December?", "2025-12-01", "2026-01-03"),
        ("What broke on 9 November, 2022?", "2022-11-09", "2022-11-12"),
        ("What broke on October 13th, 2023?", "2023-10-13", "2023-10-16"),
        ("in June 2023", "2023-06-01", "2023-07-03"),
        ("in 2022", "2022-01-01", "2023-01-03"),
        ("on 2024-03-05", "2024-03-05", "2024-03-08"),
        ("since June", "2026-06-01", ""),
        ("before March 2023", "", "2023-03-01"),
        ("after the 3rd of May 2024", "2024-05-03", ""),
        ("after May 3, 2024", "2024-05-03", ""),
        ("yesterday", "2026-11-16", "2026-11-17"),
        ("last week", "2026-11-09", "2026-11-16"),
        ("last Friday", "2026-11-13", "2026-11-14"),
        ("this month", "2026-11-01", ""),
        ("two weeks ago", "2026-10-30", "2026-11-06"),
        ("What did she do the week before 16 November 2023?", "2023-11-09", "2023-11-18"),
        ("the week after May 3, 2024", "2024-05-04", "2024-05-13"),
        ("the week of 6 November 2023", "2023-11-06", "2023-11-15"),
        ("the day before 2 May 2024", "2024-05-01", "2024-05-04"),
        ("the weekend before 20 October 2023", "2023-10-13", "2023-10-22"),
        ("in the second week of November", "2026-11-08", "2026-11-17"),
        ("the last week of February 2024", "2024-02-23", "2024-03-03"),
        ("in the first weekend of October", "2026-10-03", "2026-10-07"),
        ("the last weekend in March 2024", "2024-03-30", "2024-04-03"),
        ("What changed in mid-August?", "2026-08-11", "2026-08-23"),
        ("early May 2024", "2024-05-01", "2024-05-13"),
        ("late in March", "2026-03-21", "2026-04-03"),
        ("by the end of summer", "2026-08-01", "2026-09-03"),
        ("in the summer of 2023", "2023-06-01", "2023-09-03"),
        ("last winter", "2025-12-01", "2026-03-03"),
        ("at the end of 2024", "2024-09-01", "2025-01-03"),
        ("la semaine avant le 16 novembre 2023", "2023-11-09", "2023-11-18"),
        ("la deuxième semaine de novembre", "2026-11-08", "2026-11-17"),
        ("à la mi-août", "2026-08-11", "2026-08-23"),
        ("fin de l'été", "2026-08-01", "2026-09-03"),
        ("le premier week-end d'octobre", "2026-10-03", "2026-10-07"),
        ("en mars", "2026-03-01", "2026-04-03"),
        ("le 9 novembre 2022", "2022-11-09", "2022-11-12"),
        ("qu'avons-nous dit hier ?", "2026-11-16", "2026-11-17"),
        ("la semaine dernière", "2026-11-09", "2026-11-16"),
        ("le mois dernier", "2026-10-01", "2026-11-01"),
        ("il y a 3 jours", "2026-11-13", "2026-11-15"),
        ("the two weeks before 16 November 2023", "2023-11-02", "2023-11-18"),
        ("deux semaines avant le 16 novembre 2023", "2023-11-02", "2023-11-18"),
        ("What broke last weekend?", "2026-11-14", "2026-11-18"),
        ("ce week-end", "2026-11-21", "2026-11-25"),
        ("le week-end dernier", "2026-11-14", "2026-11-18"),
        ("au milieu du mois d'août", "2026-08-11", "2026-08-23"),
        ("la dernière semaine de mars 2024", "2024-03-25", "2024-04-03"),
        ("die Woche vor dem 16. November 2023", "2023-11-09", "2023-11-18"),
        ("in der zweiten Novemberwoche", "2026-11-08", "2026-11-17"),
        ("in der zweiten Woche im November", "2026-11-08", "2026-11-17"),
        ("Mitte August", "2026-08-11", "2026-08-23"),
        ("am Ende des Sommers", "2026-08-01", "2026-09-03"),
        ("am ersten Wochenende im Oktober", "2026-10-03", "2026-10-07"),
        ("das letzte Wochenende im März 2024", "2024-03-30", "2024-04-03"),
        ("Was haben wir im März entschieden?", "2026-03-01", "2026-04-03"),
        ("am 9. November 2022", "2022-11-09", "2022-11-12"),
        ("Was ging gestern kaputt?", "2026-11-16", "2026-11-17"),
        ("letzte Woche", "2026-11-09", "2026-11-16"),
        ("vor zwei Wochen", "2026-10-30", "2026-11-06"),
        ("seit Juni", "2026-06-01", ""),
        ("letzten Freitag", "2026-11-13", "2026-11-14"),
        ("vor dem 3. Mai 2024", "", "2024-05-03"),
        ("la semana antes del 16 de noviembre de 2023", "2023-11-09", "2023-11-18"),
        ("la segunda semana de noviembre", "2026-11-08", "2026-11-17"),
        ("a mediados de agosto", "2026-08-11", "2026-08-23"),
        ("a finales del verano", "2026-08-01", "2026-09-03"),
        ("el primer fin de semana de octubre", "2026-10-03", "2026-10-07"),
        ("el último fin de semana de marzo de 2024", "2024-03-30", "2024-04-03"),
        ("¿Qué decidimos en marzo?", "2026-03-01", "2026-04-03"),
        ("el 9 de noviembre de 2022", "2022-11-09", "2022-11-12"),
        ("¿qué dijimos ayer?", "2026-11-16", "2026-11-17"),
        ("la semana pasada", "2026-11-09", "2026-11-16"),
        ("hace 3 días", "2026-11-13", "2026-11-15"),
        ("desde junio", "2026-06-01", ""),
        ("a principios de mayo de 2024", "2024-05-01", "2024-05-13"),
        ("el viernes pasado", "2026-11-13", "2026-11-14"),
    ],
)
def test_a_question_names_its_time(question: str, since: str, until: str) -> None:
    assert span(question) == (since, until)


@pytest.mark.parametrize(
    "question",
    [
        "May I ask?",
        "the march of time",
        "31 June 2022",
        "Where is the cart?",
        "in 42",
        "Why does this test fall over?",
        "the end of the file",
        "the first week of the sprint",
        "middle of the night",
        "une mise à jour a été faite",
        "Wo ist das Ende der Datei?",
        "Vor dem Start wird der Cache geleert, nach dem Test auch.",
        "Warum ist der letzte Test rot?",
        "¿Dónde está el fin del archivo?",
        "La segunda prueba falla antes de la primera.",
    ],
)
def test_other_questions_name_none(question: str) -> None:
    assert find_spans(question, NOW) == []


def test_an_event_is_named_in_words() -> None:
    before = find_event("What did we use before we moved to Postgres?")
    after = find_event("Qu'avons-nous changé après la migration vers Postgres ?")

    assert before is not None
    assert (before.text, before.is_before) == ("we moved to postgres", True)
    assert after is not None
    assert (after.text, after.is_before) == ("la migration vers postgres ", False)
    assert find_event("What happened before March 2023?") is None
