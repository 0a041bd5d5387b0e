"""Plans without a model: what a message calls for."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragforge.context.planner import PlannedSearch, join_reasons, pick_key_words, plan_searches
from ragforge.tools.command.decide import decide
from ragforge.tools.command.plan import Allowed


def regexes(message: str) -> list[str]:
    return [
        str(call.arguments["regex"]) for call in plan_searches(message) if call.tool == "grep_files"
    ]


def test_a_name_is_looked_for_where_it_is_defined_and_where_it_is_used() -> None:
    defined, used = regexes("What does `SessionMiddleware.process_request` do?")
    assert re.search(defined, "    def process_request(self):")
    assert not re.search(defined, "process_request()")
    assert re.search(used, "x.process_request()")


@pytest.mark.parametrize(
    "message",
    [
        "what does the function authenticate do",
        "la fonction authenticate",
        "die Funktion authenticate",
    ],
)
def test_a_plain_word_after_a_kind_of_scope_is_a_name(message: str) -> None:
    defined, used = regexes(message)
    assert re.search(defined, "def authenticate(user):")
    assert re.search(used, "authenticate()")


def test_a_question_in_another_language_is_looked_for_in_english() -> None:
    assert regexes("the function that parses") == []
    assert pick_key_words("Comment supprimer un fichier dans le dossier ?") == [
        "delete",
        "file",
        "directory",
    ]


def test_a_quoted_string_is_searched_as_it_is() -> None:
    [first, *_] = regexes('Where does "lease [lost]?" come from')
    assert re.fullmatch(first, "lease [lost]?")


def test_the_constant_part_of_an_error_is_searched() -> None:
    message = """I get this:
Traceback (most recent call last):
  File "x.py", line 3
ValueError: cannot reshape array of size 12 into shape (5,)"""
    assert re.escape("cannot reshape array of size") in regexes(message)[0]


def test_a_path_narrows_the_search_to_its_file() -> None:
    calls = plan_searches("Why does the retry in src/app/worker.py wait for so long?")
    assert any(call.arguments["pattern"] == "**/worker.py" for call in calls)


@pytest.mark.parametrize(
    ("message", "glob"),
    [
        ("Explain src/app/worker.py", "'**/src/app/worker.py'"),
        ("Explain ./src/worker.py", "'**/src/worker.py'"),
        ("Explain /home/me/shop/src/worker.py", "'**/src/worker.py'"),
    ],
)
def test_a_path_is_looked_for_by_a_command_that_lists_files(message: str, glob: str) -> None:
    [command] = [
        call.arguments["command"] for call in plan_searches(message) if "command" in call.arguments
    ]
    assert command == f"rg --files --sort path -g {glob} | head -n 5"


def test_the_name_of_a_file_is_not_taken_for_a_name_in_code() -> None:
    assert not any(r"\b(py)\b" in regex for regex in regexes("What does src/cart.py do?"))


def test_a_message_of_many_parts_gets_several_kinds_of_searches() -> None:
    calls = plan_searches(
        "Why is the retry in src/worker.py not counted? OSError: the lease has ended"
    )
    assert len(calls) == 3
    assert {call.tool for call in calls} == {"grep_files", "run_command"}


def test_plain_words_are_looked_for_with_typos_allowed() -> None:
    [call] = plan_searches("how does authentification of customers work")
    assert call == PlannedSearch(
        "search_files", {"pattern": "**/*", "query": "authentification customers work"}
    )


@pytest.mark.parametrize("message", ["", "   ", "?", "hi", "the of and"])
def test_nothing_to_look_for_means_no_search(message: str) -> None:
    assert plan_searches(message) == []


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("What does `check_password` do?", "names check_password, has the words check_password"),
        ('Who says "lease lost"?', 'quotes "lease lost"'),
        ("Explain src/cart.py", "names the file src/cart.py"),
        ("OSError: the lease has ended", 'has the error "the lease has ended"'),
        ("which function is called when customers pay", "has the words function called customers"),
        ("how do customers pay", ""),
        ("hi", ""),
    ],
)
def test_rules_say_what_in_the_message_calls_for_their_searches(message: str, why: str) -> None:
    assert join_reasons(plan_searches(message)).startswith(why)


@pytest.mark.parametrize(
    "message",
    [
        "Merci beaucoup, bonne journée !",
        "Wie backe ich einen Apfelkuchen mit Zimt und Streuseln?",
        "Which running shoes are good for flat feet?",
    ],
)
def test_small_talk_and_prose_about_other_things_are_not_looked_for(message: str) -> None:
    assert plan_searches(message) == []


def test_what_prose_quotes_is_looked_for() -> None:
    [call] = plan_searches('Where does the sentence "Bake it for an hour" come from?')

    assert call.tool == "grep_files"


def test_telling_words_are_the_long_ones_in_their_order() -> None:
    assert pick_key_words("how does the worker keep the lease of a background job") == [
        "worker",
        "lease",
        "background",
    ]


@given(st.text(max_size=400))
def test_any_message_gives_at_most_three_searches_with_valid_patterns(message: str) -> None:
    calls = plan_searches(message)
    assert len(calls) <= 3
    for call in calls:
        if call.tool == "grep_files":
            re.compile(str(call.arguments["regex"]))


@given(
    st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=9), min_size=1, max_size=4)
)
def test_a_command_for_a_path_is_always_read_only(steps: list[str]) -> None:
    for call in plan_searches(f"Explain {'/'.join(steps)}.py"):
        if call.tool == "run_command":
            decision = decide(str(call.arguments["command"]), "/")
            assert isinstance(decision, Allowed), decision
