"""Rank: which scope comes first, and why."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragforge.domain.code import ScopeMatch, ScopeName
from ragforge.domain.vectors import TRANSFORMER, MeaningWeights
from ragforge.search.question.code_names import find_identifiers
from ragforge.search.rank import OWN, Candidates, RankedScope, rank
from ragforge.search.rank_paths import is_internal, is_secondary
from ragforge.search.words.tokenise import WORDS


def scope(place: str, type_: str = "function", line: int = 1, signature: str = "") -> ScopeName:
    """Return a scope known by its place, such as `src/cart.py:Cart.add`, which is its id too."""
    file, _, name = place.partition(":")
    own = name.rpartition(".")[2]
    return ScopeName(place, own, name, type_, file, line, line + 9, signature)


def candidates(
    *scopes: ScopeName,
    words: Sequence[tuple[str, float]] = (),
    meaning: Sequence[tuple[str, float]] = (),
    files: Sequence[tuple[str, float]] = (),
    by_name: Sequence[str] = (),
    used: dict[str, int] | None = None,
) -> Candidates:
    named = {found.uuid: found for found in scopes}

    def matches(some: Sequence[tuple[str, float]]) -> list[ScopeMatch]:
        return [ScopeMatch(named[place], score) for place, score in some]

    return Candidates(
        matches(words), matches(meaning), matches(files), [named[n] for n in by_name], used or {}
    )


def order(question: str, found: Candidates, limit: int = 10) -> list[str]:
    return [ranked.id for ranked in rank(question, found, WORDS, limit)]


def equally(*places: str) -> list[tuple[str, float]]:
    return [(place, 1.0) for place in places]


@pytest.mark.parametrize(
    "inside", ["pool/internal/pool.go:open_pool", "pool/_private/pool.py:open_pool"]
)
def test_the_inside_of_an_api_comes_after_what_others_import(inside: str) -> None:
    outside = "pool/api/pool.go:open_pool"
    found = candidates(scope(inside), scope(outside), words=equally(inside, outside))

    assert order("how is a pool opened", found) == [outside, inside]


def test_a_view_of_details_is_not_the_inside_of_an_api() -> None:
    assert not is_internal("django/views/generic/detail.py")


def test_a_scope_that_fits_comes_before_one_that_only_its_file_brings_first() -> None:
    helper, answer = scope("handler.py:log"), scope("sans/app.py:find_error_handler")
    found = candidates(
        helper,
        answer,
        words=[(answer.uuid, 9.0), (helper.uuid, 4.0)],
        files=[(helper.uuid, 1.0)],
    )

    def rank_by(own: float) -> str:
        return rank("which error handler is called", found, WORDS, 2, own=own)[0].id

    assert (rank_by(0.0), rank_by(OWN)) == (helper.uuid, answer.uuid)


def test_a_scope_of_a_few_lines_comes_after_others_unless_it_is_named() -> None:
    size = scope("a.py:MAX_SIZE")._replace(end_line=3)
    check = scope("b.py:check_size")
    words = equally(size.uuid, check.uuid)

    found = candidates(size, check, words=words)
    assert order("how is the max size checked", found)[0] == check.uuid
    named = candidates(size, check, words=words, by_name=[size.uuid])
    assert order("what is MAX_SIZE", named)[0] == size.uuid


def test_a_question_about_a_name_that_no_scope_has_finds_the_code_that_holds_it() -> None:
    runs, usage = scope("a.go:Execute"), scope("a.go:Usage")
    found = candidates(runs, usage, words=[(runs.uuid, 9.0), (usage.uuid, 3.0)])

    assert order("What does SilenceUsage do?", found)[0] == runs.uuid


def test_the_section_of_a_version_comes_first_if_the_question_names_it() -> None:
    sections = [scope("H.md:"), scope("H.md:", line=9)]
    newer, asked = (
        one._replace(uuid=name, name=name, qualified_name=name)
        for one, name in zip(sections, ("2.32.2 (2024)", "2.32.0 (2024)"), strict=True)
    )
    found = candidates(newer, asked, words=[(newer.uuid, 9.0), (asked.uuid, 5.0)])

    assert order("What changed in version 2.32.0?", found)[0] == asked.uuid


def test_an_exact_name_beats_many_words() -> None:
    exact, wordy = scope("a.py:parse_url"), scope("b.py:read")
    found = candidates(
        exact,
        wordy,
        words=[("b.py:read", 9.0), ("a.py:parse_url", 1.0)],
        by_name=["a.py:parse_url"],
    )

    assert order("how does parse_url read an address from a text", found)[0] == "a.py:parse_url"


def test_the_most_precise_name_beats_those_that_share_its_end() -> None:
    scopes = [scope("a.py:Cart.add", "method"), scope("b.py:Shop.add", "method")]
    ids = [found.uuid for found in scopes]

    assert order("Shop.add", candidates(*scopes, by_name=ids))[0] == "b.py:Shop.add"


def test_a_type_comes_before_its_constructor() -> None:
    scopes = [scope("a.java:Cart", "class"), scope("a.java:Cart.Cart", "method", 2)]
    ids = [found.uuid for found in scopes]

    assert order("Cart", candidates(*scopes, by_name=ids)) == ["a.java:Cart", "a.java:Cart.Cart"]


@pytest.mark.parametrize(
    "path",
    ["tests/cart.py", "src/test_cart.py", "web/cart.spec.ts", "CartTest.java", "examples/cart.py"],
)
def test_tests_and_examples_come_later(path: str) -> None:
    test, code = scope(f"{path}:add_item"), scope("src/cart.py:add_item")
    found = candidates(test, code, words=equally(test.uuid, code.uuid))

    assert order("where are items added", found)[0] == code.uuid


def test_tests_come_first_for_those_who_ask_for_them() -> None:
    test, code = scope("tests/test_adding.py:test_add_item"), scope("src/cart.py:add_item")
    found = candidates(test, code, words=equally(test.uuid, code.uuid))

    assert order("tests of adding an item", found)[0] == test.uuid


@pytest.mark.parametrize(
    ("path", "aside"),
    [
        ("tests/a.py", True),
        ("a/test_b.py", True),
        ("conftest.py", True),
        ("a/b.test.ts", True),
        ("pkg/b_test.go", True),
        ("docs/a.py", True),
        ("_examples/a.go", True),
        ("bench/a.c", True),
        ("src/parse/tests.rs", True),
        ("src/contest.py", False),
        ("src/latest.py", False),
        ("src/testing_ground.py", False),
        ("src/Attestation.java", False),
    ],
)
def test_a_secondary_file_is_recognised_by_its_path(path: str, aside: bool) -> None:
    assert is_secondary(path) is aside


@pytest.mark.parametrize(
    ("later", "earlier"),
    [
        ("deprecated/cart.py:add_item", "shop/cart.py:add_item"),
        ("compat/cart.py:add_item", "shop/cart.py:add_item"),
        ("types/cart.ts:add_item", "src/cart.ts:add_item"),
        ("Cart.Async.cs:add_item", "Cart.cs:add_item"),
        ("win/cart.c:add_item", "unix/cart.c:add_item"),
        ("cart.rs:tests.add_item", "cart.rs:add_item"),
    ],
)
def test_what_people_seldom_mean_comes_later(later: str, earlier: str) -> None:
    found = candidates(scope(later), scope(earlier), words=equally(later, earlier))

    assert order("where are items added", found) == [earlier, later]


def test_windows_comes_first_for_those_who_ask_for_it() -> None:
    windows, unix = scope("windows/cart.c:add_item"), scope("unix/cart.c:add_item")
    found = candidates(windows, unix, words=equally(windows.uuid, unix.uuid))

    assert order("how are items added on Windows", found)[0] == windows.uuid


def test_a_definition_comes_before_the_declaration_in_a_header() -> None:
    declared = scope("cart.h:add_item", signature="void add_item(int item);")
    defined = scope("cart.c:add_item", signature="void add_item(int item)")
    found = candidates(declared, defined, words=equally(declared.uuid, defined.uuid))

    assert order("how is an item added", found) == [defined.uuid, declared.uuid]


def test_a_type_comes_before_what_is_added_to_it() -> None:
    added, type_ = scope("a.swift:Cart", "impl"), scope("b.swift:Cart", "class")
    found = candidates(added, type_, words=equally(added.uuid, type_.uuid))

    assert order("what is in the cart", found) == [type_.uuid, added.uuid]


def test_a_file_that_represents_its_folder_has_its_name() -> None:
    here, there = scope("src/checkout/mod.rs:run"), scope("src/misc/mod.rs:run")
    found = candidates(here, there, words=equally(there.uuid, here.uuid))
    other = scope("src/checkout/misc.rs:run")
    found = candidates(here, other, words=equally(other.uuid, here.uuid))

    assert order("how does the checkout work", found)[0] == here.uuid
    assert order("how does the checkout work", found)[0] == here.uuid


def test_a_file_whose_names_together_hold_the_words_comes_first() -> None:
    parts = [scope("a.py:open_cart"), scope("a.py:drop_item", line=5)]
    other = [scope("b.py:open_cart"), scope("b.py:open_store", line=5)]
    places = [one.uuid for one in (*other, *parts)]
    found = candidates(*other, *parts, words=equally(*places))

    assert order("open the cart, then drop something", found)[0] == "a.py:open_cart"


def test_the_longer_of_two_files_that_fit_comes_first() -> None:
    short, long = scope("a.py:Cart.add"), scope("b.py:Cart.add", line=900)
    found = candidates(short, long, words=equally(short.uuid, long.uuid))

    assert order("how are items added", found)[0] == long.uuid


def test_a_file_with_a_plain_name_comes_before_a_special_one() -> None:
    special, plain = scope("a/batch_upsert_statement.py:run"), scope("b/upsert_statement.py:run")
    found = candidates(special, plain, words=equally(special.uuid, plain.uuid))

    assert order("the statement for a batch upsert or one", found)[0] == special.uuid
    assert order("upsert statement", found)[0] == plain.uuid


def test_siblings_of_one_kind_do_not_fill_the_first_places() -> None:
    kinds = ("Kafka", "Redis", "Mqtt", "Amqp", "Stomp")
    siblings = [f"links/{kind}Connector.java:{kind}Connector.run" for kind in kinds]
    places = [*siblings, "links/Pool.java:Pool.open"]
    words = [(place, 1.0) for place in siblings] + [("links/Pool.java:Pool.open", 0.8)]

    found = order("lasting brokers", candidates(*map(scope, places), words=words))

    assert found.index("links/Pool.java:Pool.open") == 3
    assert set(found) == set(places)


def test_the_name_of_the_file_counts() -> None:
    here, there = scope("src/checkout.py:run"), scope("src/misc.py:run")
    found = candidates(here, there, words=equally(there.uuid, here.uuid))

    assert order("how does the checkout work", found)[0] == here.uuid


def test_the_first_of_each_file_comes_before_the_second_of_one() -> None:
    scopes = [
        *(scope("src/cart.py:add_item", line=n) for n in (1,)),
        scope("src/cart.py:drop_item", line=5),
        scope("src/shop.py:take_item"),
    ]
    found = candidates(
        *scopes,
        words=[
            ("src/cart.py:add_item", 1.0),
            ("src/cart.py:drop_item", 1.0),
            ("src/shop.py:take_item", 0.8),
        ],
    )

    assert order("item", found) == [
        "src/cart.py:add_item",
        "src/shop.py:take_item",
        "src/cart.py:drop_item",
    ]


def test_a_file_that_others_use_comes_before_its_equal() -> None:
    scopes = [scope("src/one.py:load"), scope("src/two.py:load")]
    words = equally("src/one.py:load", "src/two.py:load")

    assert order("load", candidates(*scopes, words=words, used={"src/two.py": 9}))[0] == (
        "src/two.py:load"
    )


def test_meaning_decides_where_words_do_not() -> None:
    scopes = [scope("src/one.py:f"), scope("src/two.py:g")]
    found = candidates(
        *scopes,
        words=equally("src/one.py:f", "src/two.py:g"),
        meaning=[("src/two.py:g", 0.9), ("src/one.py:f", 0.6)],
    )

    assert order("something else", found)[0] == "src/two.py:g"


def test_a_better_model_counts_more() -> None:
    scopes = [scope("src/one.py:f"), scope("src/two.py:g")]
    found = candidates(
        *scopes,
        words=[("src/one.py:f", 1.0), ("src/two.py:g", 0.7)],
        meaning=[("src/two.py:g", 0.9), ("src/one.py:f", 0.6)],
    )

    by_table, by_transformer = (
        [ranked.id for ranked in rank("something", found, WORDS, 2, weights)]
        for weights in (MeaningWeights(), TRANSFORMER)
    )

    assert by_table == ["src/one.py:f", "src/two.py:g"]
    assert by_transformer == ["src/two.py:g", "src/one.py:f"]


def test_a_name_with_one_of_the_words_for_a_thing_fits_it_wholly() -> None:
    scopes = [scope("src/one.py:remove_cookie"), scope("src/two.py:read_cookie")]
    found = candidates(*scopes, words=equally(*(one.uuid for one in scopes)))
    groups = [frozenset(("delet", "remov", "supprim")), frozenset(("cooki",))]

    ranked = rank("supprimer cookie", found, WORDS, 2, groups=groups)

    assert [place.id for place in ranked] == ["src/one.py:remove_cookie", "src/two.py:read_cookie"]


def test_signals_tell_who_found_what() -> None:
    scopes = [scope("a.py:a", "module"), scope("a.py:load"), scope("b.py:save")]
    found = candidates(
        *scopes,
        words=[("b.py:save", 1.0)],
        meaning=[("a.py:load", 0.9)],
        files=[("a.py:a", 0.8)],
        by_name=["b.py:save"],
    )

    signals = {ranked.id: ranked.signals for ranked in rank("save", found, WORDS, 10)}

    assert signals == {
        "a.py:a": ("file",),
        "a.py:load": ("meaning", "file"),
        "b.py:save": ("name", "words"),
    }


def test_nothing_found_is_nothing_ranked() -> None:
    assert order("anything", candidates()) == []
    assert order("anything", candidates(scope("a.py:f"))) == []


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("where is parse_url used", ["parse_url"]),
        ("how does HTTPServer start", ["HTTPServer"]),
        ("Cart::add and Cart#total", ["Cart.add", "Cart.total"]),
        ("cart", ["cart"]),
        ("where is the cart", []),
        ("what does the function authenticate do", ["authenticate"]),
        ("la fonction authenticate", ["authenticate"]),
        ("the function that parses", []),
        ("", []),
    ],
)
def test_identifiers_are_what_is_written_as_code(question: str, expected: list[str]) -> None:
    assert find_identifiers(question) == expected


places = st.builds(
    "{}{}.py:{}".format,
    st.sampled_from(["", "src/", "tests/"]),
    st.sampled_from(["cart", "shop", "util"]),
    st.sampled_from(["add", "Cart.add", "total", "test_add", "Cart.Cart", "cart"]),
)
scores = st.floats(0, 10)


@st.composite
def found_by_searches(draw: st.DrawFn) -> Candidates:
    some = draw(st.lists(places, min_size=1, max_size=12, unique=True))
    types = st.sampled_from(["function", "class", "module", "method"])

    def matches() -> list[tuple[str, float]]:
        chosen = draw(st.lists(st.sampled_from(some), unique=True))
        return [(place, draw(scores)) for place in chosen]

    return candidates(
        *(scope(place, draw(types), draw(st.integers(1, 99))) for place in some),
        words=matches(),
        meaning=matches(),
        files=matches(),
        by_name=draw(st.lists(st.sampled_from(some), unique=True)),
        used={place.partition(":")[0]: draw(st.integers(0, 9)) for place in some},
    )


@settings(derandomize=True)
@given(
    st.sampled_from(["add to cart", "Cart.add", "tests of total", "", "cart"]),
    found_by_searches(),
    st.integers(0, 15),
)
def test_scores_fall_from_one_and_stay_above_nothing(
    question: str, found: Candidates, limit: int
) -> None:
    ranked = rank(question, found, WORDS, limit)
    given_scores = [hit.score for hit in ranked]

    assert len(ranked) <= limit
    assert given_scores == sorted(given_scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in given_scores)
    assert given_scores[:1] in ([], [1.0])
    assert len({hit.id for hit in ranked}) == len(ranked)


@settings(derandomize=True)
@given(found_by_searches(), st.randoms(use_true_random=False))
def test_the_same_findings_have_the_same_order_however_they_came(
    found: Candidates, chance: object
) -> None:
    def ranked(given: Candidates) -> list[RankedScope]:
        return rank("add to cart", given, WORDS, 20)

    by_words, by_meaning, by_name = (
        chance.sample(some, len(some))  # type: ignore[attr-defined]
        for some in (found.by_words, found.by_meaning, found.by_name)
    )
    shuffled = Candidates(by_words, by_meaning, found.files_by_meaning, by_name, found.used)

    assert ranked(found) == ranked(found)
    assert [hit.id for hit in ranked(shuffled)] == [hit.id for hit in ranked(found)]
