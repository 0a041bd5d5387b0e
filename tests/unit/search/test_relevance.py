"""Relevance: a number that means the same in every project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ragforge.domain.code import Scope, ScopeMatch, ScopeName
from ragforge.domain.hits import MIN_RELEVANCE
from ragforge.search.code_relevance import Asked, estimate_relevance
from ragforge.search.question.wording import WordGroup, expand_query
from ragforge.search.rank import Candidates
from ragforge.search.relevance import WEIGHTS, Evidence, RelevantKind, estimate
from ragforge.search.words.tokenise import WORDS

SIGN_COOKIE = Scope(
    "sign_cookie",
    "sign_cookie",
    "function",
    "web/sessions.py",
    1,
    2,
    "def sign_cookie(session):\n    return hmac(session.key, session.cookie)\n",
    "h",
    signature="def sign_cookie(session):",
)


def found(score: float, scope: Scope = SIGN_COOKIE, named: bool = False) -> Candidates:
    name = ScopeName(
        scope.uuid, scope.name, scope.qualified_name, scope.type, scope.file, 1, 2, scope.signature
    )
    match = ScopeMatch(name, score)
    return Candidates([match], [match] if score else [], [], [name] if named else [])


KNOWN = WORDS.query(
    "file user autumn cookie cookies files lecture of poem sea session signed tax total what"
)
"""The words that the project of these tests holds."""


def relevance(
    question: str,
    candidates: Candidates,
    scope: Scope = SIGN_COOKIE,
    groups: Sequence[WordGroup] = (),
    minimum: float = 0.55,
) -> float:
    groups = groups or expand_query(question, WORDS).groups
    asked = Asked.of(question, groups, WORDS)._replace(known=KNOWN)
    return estimate_relevance(asked, candidates, [scope], WORDS, minimum)


def test_a_question_about_the_code_is_relevant_and_a_recipe_is_not() -> None:
    assert relevance("how is the session cookie signed", found(0.8)) > 0.9
    assert relevance("how do I bake cookies with cinnamon and butter", found(0.6)) < MIN_RELEVANCE


def test_the_same_holds_with_only_words() -> None:
    assert relevance("how is the session cookie signed", found(0.0)) > 0.9
    assert relevance("how do I bake cookies with cinnamon and butter", found(0.0)) < MIN_RELEVANCE


def test_a_model_whose_threshold_was_never_measured_does_not_decide() -> None:
    question = "a poem about the sea in autumn"

    assert relevance(question, found(0.8), minimum=0.3) < MIN_RELEVANCE


def test_a_french_question_about_english_code_is_let_through() -> None:
    assert relevance("Où est signé le cookie de l'utilisateur ?", found(0.6)) >= MIN_RELEVANCE
    assert relevance("Wo wird das Cookie der Sitzung signiert?", found(0.6)) >= MIN_RELEVANCE


def test_words_that_the_project_does_not_hold_count_against_a_question() -> None:
    ours = "how does the session find its cookie"
    theirs = "how does the reconciler of the kubernetes operator find its session cookie"

    assert relevance(theirs, found(0.0)) < MIN_RELEVANCE < relevance(ours, found(0.0))


def test_in_a_small_project_unknown_words_count_less() -> None:
    question = "how does the reconciler find the session cookie"
    one = found(0.6).by_words[0]
    many = [one._replace(scope=one.scope._replace(uuid=f"s{n}")) for n in range(60)]
    small, large = found(0.6), Candidates(many, many)

    assert relevance(question, large) < relevance(question, small)


def test_the_code_needs_only_one_of_the_words_for_a_thing() -> None:
    question = "comment les clés sont apposées"
    groups = (frozenset({"key"}), frozenset({"affix", "append", "stamp", "sign"}))

    assert relevance(question, found(0.62)) < MIN_RELEVANCE
    assert relevance(question, found(0.62), groups=groups) >= MIN_RELEVANCE


def test_a_question_for_the_place_of_what_a_name_holds_half_of_is_let_through() -> None:
    total = replace(SIGN_COOKIE, name="total_tax", qualified_name="total_tax", file="shop/cart.py")

    assert relevance("Where is the tax added?", found(0.56, total), total) >= MIN_RELEVANCE
    assert relevance("Where is the museum of tax?", found(0.56), SIGN_COOKIE) < MIN_RELEVANCE
    assert relevance("Where is my tax refund?", found(0.0, total), total) < MIN_RELEVANCE


def test_a_script_without_lists_of_words_is_let_through() -> None:
    assert relevance("セッションはどこで署名されますか", found(0.55)) >= MIN_RELEVANCE


def test_the_name_of_a_file_that_is_there_counts() -> None:
    assert relevance("what happens in sessions.py", found(0.6)) > relevance(
        "what happens in elephants.py", found(0.6)
    )


def test_what_tests_hold_counts_less() -> None:
    test = Scope(
        "test_poem", "test_poem", "function", "tests/test_poem.py", 1, 1, "poem sea autumn", "h"
    )
    code = Scope("poem", "poem", "function", "poem.py", 1, 1, "poem sea autumn", "h")
    question = "poem sea autumn"

    assert relevance(question, found(0.7, test), test) < relevance(question, found(0.7, code), code)


@given(st.text(), st.floats(0, 1))
def test_it_is_always_between_0_and_1(question: str, score: float) -> None:
    assert 0 <= relevance(question, found(score)) <= 1


@given(st.sampled_from(sorted(WEIGHTS)), st.booleans())
def test_more_evidence_never_makes_any_kind_less_likely(
    kind: RelevantKind, by_meaning: bool
) -> None:
    nothing = estimate(kind, Evidence(), by_meaning)

    assert estimate(kind, Evidence(unknown=1), by_meaning) <= nothing < 0.5
    assert nothing < estimate(kind, Evidence(1, 1), by_meaning) <= 1
