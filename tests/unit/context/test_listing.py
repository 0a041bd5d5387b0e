"""Listing: what a context shows of the scopes that were found, no line twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ragforge.brain.search.code import CodeFinder, Neighbour
from ragforge.context.excerpts import Excerpt
from ragforge.context.listing import USED_SHARE, WHOLE_CHARS, lay_out, list_code
from ragforge.domain.code import Scope, ScopeName
from ragforge.search.words.tokenise import WORDS
from tests.unit.search.test_extracts import SERVICE, name_all, scopes_of

AUTH = scopes_of("auth.py", SERVICE)
SMALL = scopes_of("cart.py", "import os\n\n\ndef add(item):\n    return [item]\n")
WORDS_ASKED = WORDS.query("How does AuthService check a password?")
CHECK = "AuthService.check_password"


class Files(CodeFinder):
    """Knows the two files."""

    def __init__(self) -> None:
        pass

    async def find_module(self, project_id: str, file: str) -> Scope | None:
        return {"auth.py": AUTH["auth"], "cart.py": SMALL["cart"]}.get(file)

    async def find_inner(
        self, project_id: str, scopes: Iterable[Scope]
    ) -> Mapping[str, Sequence[ScopeName]]:
        return {"auth.py": name_all(AUTH), "cart.py": name_all(SMALL)}

    async def find_neighbours(self, scope_id: str) -> list[Neighbour]:
        return []


def excerpt(scope: Scope, score: float = 0.5) -> Excerpt:
    return Excerpt.of_scope(scope, score, 0.9, ("words",))


def show(
    *found: Excerpt,
    chars: int = 30_000,
    near: Mapping[str, Sequence[tuple[Scope, bool]]] | None = None,
) -> list[Excerpt]:
    inner = {"auth.py": name_all(AUTH), "cart.py": name_all(SMALL)}
    return lay_out(found, inner, near or {}, WORDS_ASKED, chars)


def test_a_short_class_is_shown_whole() -> None:
    [one] = show(excerpt(AUTH["AuthService"]))

    assert len(AUTH["AuthService"].source) <= WHOLE_CHARS
    assert one.text == AUTH["AuthService"].source
    assert one.numbers == tuple(range(one.start_line, one.end_line + 1))


def test_a_class_too_long_for_the_room_is_shown_in_part() -> None:
    [one] = show(excerpt(AUTH["AuthService"]), chars=2_000)

    assert len(one.text) < 1_100
    assert "return hash(password) == user.hash" in one.text
    assert one.place == f"auth.py:{one.start_line}-{one.end_line}"


def test_a_method_in_a_class_that_is_shown_is_not_shown_again() -> None:
    [one] = show(excerpt(AUTH["AuthService"], 0.9), excerpt(AUTH[CHECK], 0.4))

    assert one.name == "AuthService"


def test_a_method_that_comes_first_is_only_listed_in_its_class() -> None:
    method, whole = show(excerpt(AUTH[CHECK], 0.9), excerpt(AUTH["AuthService"], 0.4))

    assert method.text == AUTH[CHECK].source
    assert "return hash(password)" not in whole.text
    assert "def check_password(user, password)" in whole.text


def test_what_the_best_functions_use_comes_last() -> None:
    near = {excerpt(SMALL["add"]).place: [(AUTH[CHECK], True), (AUTH["AuthService"], False)]}
    add, used = show(excerpt(SMALL["add"], 0.8), near=near)

    assert add.name == "add"
    assert (used.name, used.score) == (CHECK, USED_SHARE * 0.8)
    assert used.found_by == ("use in add",)


def test_what_is_used_is_not_shown_twice() -> None:
    near = {excerpt(SMALL["add"]).place: [(AUTH[CHECK], True)]}
    names = [one.name for one in show(excerpt(SMALL["add"]), excerpt(AUTH[CHECK]), near=near)]

    assert names == ["add", CHECK]


def test_callers_are_shown_by_the_line_with_their_name_if_there_is_room() -> None:
    near = {excerpt(SMALL["add"]).place: [(AUTH[CHECK], False), (AUTH["AuthService"], False)]}
    add, caller = show(excerpt(SMALL["add"], 0.8), near=near)

    assert caller.name == CHECK
    assert caller.text.strip().startswith("def check_password(")
    assert caller.numbers == (AUTH[CHECK].name_line,)
    assert caller.found_by == ("calls add",)
    assert show(excerpt(SMALL["add"], 0.8), near=near, chars=len(add.text) + 5) == [add]
    shown = show(excerpt(SMALL["add"], 0.8), excerpt(AUTH[CHECK], 0.4), near=near)
    assert [one.name for one in shown] == ["add", CHECK]


class TestInItsFile:
    """In a small window the best place is shown within its file."""

    async def test_a_short_file_is_shown_whole_and_its_methods_are_not_repeated(self) -> None:
        found = [excerpt(AUTH[CHECK], 0.9), excerpt(SMALL["add"], 0.4)]
        first, second = await list_code(Files(), "p", found, WORDS_ASKED, 30_000, in_file=True)

        assert (first.text, first.score) == (AUTH["auth"].source, 0.9)
        assert second.name == "add"

    async def test_a_long_file_shows_the_place_and_lists_the_rest(self) -> None:
        found = [excerpt(AUTH[CHECK], 0.9)]
        [first] = await list_code(Files(), "p", found, WORDS_ASKED, 1_500, in_file=True)

        assert len(first.text) <= 1_500
        assert AUTH[CHECK].source.splitlines()[-1] in first.text
        assert "[the rest]" in first.text

    async def test_a_document_stays_as_it_was_found(self) -> None:
        found = [replace(excerpt(SMALL["add"]), file="README.md")]
        [first] = await list_code(Files(), "p", found, WORDS_ASKED, 1_500, in_file=True)

        assert first.name == "add"


def test_the_source_of_an_older_store_is_shown_as_it_is() -> None:
    old = Scope("A", "A", "class", "a.py", 1, 9, "class A:\n    def f(self)", "h")

    assert show(excerpt(old)) == [excerpt(old)]
