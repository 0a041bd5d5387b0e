"""Times: the stretch of time that a question names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ragforge.search.times import find_event, find_spans

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
        ("yesterday", "2026-11-16", "2026-11-17"),
        ("last week", "2026-11-09", "2026-11-16"),
        ("last Friday", "2026-11-13", "2026-11-14"),
        ("this month", "2026-11-01", ""),
        ("two weeks ago", "2026-10-30", "2026-11-06"),
        ("en mars", "2026-03-01", "2026-04-03"),
        ("le 9 novembre 2022", "2022-11-09", "2022-11-12"),
        ("qu'avons-nous dit hier ?", "2026-11-16", "2026-11-17"),
        ("la semaine dernière", "2026-11-09", "2026-11-16"),
        ("le mois dernier", "2026-10-01", "2026-11-01"),
        ("il y a 3 jours", "2026-11-13", "2026-11-15"),
    ],
)
def test_a_question_names_its_time(question: str, since: str, until: str) -> None:
    assert span(question) == (since, until)


@pytest.mark.parametrize(
    "question", ["May I ask?", "the march of time", "31 June 2022", "Where is the cart?", "in 42"]
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
