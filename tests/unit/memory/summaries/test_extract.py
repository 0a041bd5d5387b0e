"""Summaries without a model: short, grounded, and the same every time."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ragforge.domain.turns import Turn
from ragforge.memory.summaries import extract
from ragforge.memory.summaries.material import find_files, format_turns
from ragforge.search.question.code_names import find_paths
from tests.fakes.builders import assistant, summary, tool_call, tool_result, user


def turn(question: str, answer: str, *calls: object) -> Turn:
    return Turn(user(question), (assistant(answer, *calls),))  # type: ignore[arg-type]


TALK = [
    turn("Why does login loop?", "Let me see. It loops because the cookie expires in src/auth.py."),
    turn("Fix it.", "I fixed the cookie in `src/auth.py`. All tests pass.", tool_call("edit_file")),
    turn("And the cart?", "The cart is fine.\n```python\nimport os  # because\n```"),
]


def test_a_summary_tells_each_question_with_the_sentence_that_answers_it() -> None:
    told = extract.summarise_turns(TALK).conversation_summary.splitlines()
    assert len(told) == 3
    assert told[0].startswith("Why does login loop?")
    assert "because the cookie expires" in told[0]
    assert "Let me see" not in told[0]


def test_findings_are_sentences_that_tell_causes_and_decisions_and_not_code() -> None:
    findings = extract.summarise_turns(TALK).key_findings
    assert "It loops because the cookie expires in src/auth.py." in findings
    assert not any("import os" in finding for finding in findings)


def test_actions_tell_tools_how_often_and_with_what() -> None:
    failed = tool_call("run_tests", arguments={"k": "cart"}, success=False)
    draft = extract.summarise_turns([turn("Run", "Ran", failed, failed, tool_call("grep_files"))])
    first, second = draft.actions_summary.splitlines()
    assert first.startswith("run_tests ×2, 2 failed")
    assert '{"k": "cart"}' in first
    assert second.startswith("grep_files ×1:")


def test_topics_are_the_words_used_most_as_they_were_spelt() -> None:
    topics = extract.summarise_turns(TALK).topics
    assert set(topics[:3]) == {"auth", "cart", "cookie"}
    assert not {"the", "it", "and"} & set(topics)


FRENCH = [
    turn(
        "Pourquoi est-ce que les sessions expirent dans l'application ?",
        "Les sessions expirent parce que le cookie est supprimé. Il faut changer sa durée.",
    ),
    turn("Et pour les paniers ?", "Le panier est gardé avec la session, mais pas dans le cookie."),
]


def test_topics_of_a_conversation_in_french_are_not_function_words() -> None:
    draft = extract.summarise_turns(FRENCH)
    assert {"sessions", "cookie"} <= {topic.lower() for topic in draft.topics}
    assert not {"les", "pour", "est", "dans", "pas", "que"} & {t.lower() for t in draft.topics}
    assert any("parce que le cookie est supprimé" in finding for finding in draft.key_findings)


def test_findings_are_recognised_in_other_languages_too() -> None:
    german = [turn("Warum?", "Ich sehe nach. Die Ursache war ein altes Zertifikat. Schön.")]
    assert extract.summarise_turns(german).key_findings == ["Die Ursache war ein altes Zertifikat."]


def test_a_long_term_summary_keeps_the_newest_of_findings_that_say_the_same() -> None:
    parents = [
        summary("talk", 0, 1, key_findings=("The token lasts 5 minutes.", "Use Redis.")),
        summary("talk", 2, 3, key_findings=("the token lasts 5 minutes",)),
    ]
    assert extract.summarise_summaries(parents).key_findings == [
        "Use Redis.",
        "the token lasts 5 minutes",
    ]


TURNS = st.lists(st.builds(turn, st.text(min_size=1), st.text()), min_size=1, max_size=30)


@settings(deadline=None)
@given(TURNS)
def test_any_turns_give_a_summary_within_its_limits(turns: list[Turn]) -> None:
    draft = extract.summarise_turns(turns)
    assert draft.conversation_summary
    assert len(draft.conversation_summary) <= extract.LEVEL_1_CHARS
    assert draft == extract.summarise_turns(turns)


def test_paths_are_found_in_text_and_other_things_are_not() -> None:
    text = """See src/a.py:12, ./b/c.ts (and `C:\\x\\y.cs`), Makefile, .env and ../up.c.
    Not https://example.com/a.html, v1.2.3, foo.bar(), e.g. this, a@b.com nor data.tar.gz."""
    found = ["src/a.py", "./b/c.ts", "C:\\x\\y.cs", "Makefile", ".env", "../up.c"]
    assert find_paths(text) == found


def test_files_are_those_talked_about_and_those_given_to_tools() -> None:
    call = tool_call(arguments={"edits": [{"path": "lib/x.go"}]}, result=tool_result("y.py"))
    assert find_files([turn("Look at a.py", "It is in b.rs", call)]) == ["a.py", "b.rs", "lib/x.go"]


@given(st.lists(st.integers(0, 20_000), min_size=1, max_size=20), st.integers(1_000, 50_000))
def test_turns_shown_to_a_model_share_the_space(sizes: list[int], chars: int) -> None:
    text = format_turns([turn("Q", "x" * size) for size in sizes], chars)
    assert len(text) <= max(chars, 402 * len(sizes)) + 2 * len(sizes)
    if sum(sizes) + 100 * len(sizes) < chars:
        assert text.count("x") == sum(sizes)
