"""Extracts: a long class as its head, the members that match, and an outline of the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragforge.brain.parse.outline import build_scopes, make_scope_ids
from ragforge.brain.parse.read_source import parse
from ragforge.domain.code import Scope, ScopeName
from ragforge.search.extracts import REST, Extract, extract
from ragforge.search.words.tokenise import WORDS

OTHERS = "".join(
    f"\n    def {verb}_{thing}(self, owner):\n        return self.{thing}s[owner]\n"
    for thing in ("invoice", "report", "avatar", "theme", "badge", "coupon")
    for verb in ("create", "remove")
)
SERVICE = f'''"""Accounts."""


@final
class AuthService:
    """Signs users in."""

    MOST = 5

    def authenticate(self, name, password):
        user = self.users.find(name)
        return user if self.check_password(user, password) else None
{OTHERS}
    @staticmethod
    def check_password(user, password):
        """Tell whether a password is the user's."""
        return hash(password) == user.hash
{OTHERS.replace("create_", "read_").replace("remove_", "write_")}
'''
PASSWORD = WORDS.query("How does AuthService check a password?")


def scopes_of(path: str, text: str) -> dict[str, Scope]:
    outline = parse(path, text)
    found = build_scopes(path, outline, text, make_scope_ids("p", path, outline))
    return {scope.qualified_name: scope for scope in found}


def name_all(scopes: dict[str, Scope]) -> list[ScopeName]:
    return [
        ScopeName(
            *(s.uuid, s.name, s.qualified_name, s.type, s.file, s.start_line, s.end_line),
            s.signature,
        )
        for s in scopes.values()
    ]


def take(name: str, chars: int, words: list[str] = PASSWORD, **more: object) -> Extract:
    scopes = scopes_of("auth.py", SERVICE)
    found = extract(scopes[name], name_all(scopes), words, chars, **more)  # type: ignore[arg-type]
    assert found is not None
    return found


def test_the_members_that_match_are_shown_with_their_code() -> None:
    text = take("AuthService", 1_500).text

    assert "return hash(password) == user.hash" in text
    assert "return user if self.check_password(user, password) else None" in text
    assert "return self.invoices[owner]" not in text


def test_it_begins_with_the_head_of_the_class() -> None:
    assert take("AuthService", 1_500).text.startswith('@final\nclass AuthService:\n    """Signs')


def test_a_head_that_is_cut_begins_with_its_own_lines() -> None:
    assert take("AuthService", 150).lines[:2] == ("@final", "class AuthService:")


def test_other_members_are_listed_with_their_lines() -> None:
    found = take("AuthService", 3_000)
    listed = found.lines[found.lines.index(REST) + 1 :]

    assert "14-15  def create_invoice(self, owner)" in listed
    assert not any("check_password" in line for line in listed)


def test_every_line_has_its_number_in_the_file() -> None:
    found = take("AuthService", 1_500)
    file = SERVICE.split("\n")

    numbered = [(n, line) for n, line in zip(found.numbers, found.lines, strict=True) if n]
    assert len(numbered) > 10
    assert all(file[number - 1] == line for number, line in numbered)


def test_a_gap_says_which_lines_follow() -> None:
    found = take("AuthService", 1_500)
    place = found.lines.index("    @staticmethod")

    first = found.numbers[place]
    assert found.lines[place - 1] == f"[lines {first}-{first + 3}]"


def test_the_name_of_the_class_does_not_choose_among_its_members() -> None:
    scopes = scopes_of("a.py", SERVICE.replace("def write_theme(self", "def of_auth_service(self"))
    found = extract(scopes["AuthService"], name_all(scopes), PASSWORD, 1_500)

    assert found is not None
    assert "    def check_password(user, password):" in found.lines
    assert "    def of_auth_service(self, owner):" not in found.lines


def test_members_that_are_wanted_are_shown_whatever_their_words() -> None:
    found = take("AuthService", 1_500, wanted=[(17, 18)])

    assert "    def remove_invoice(self, owner):" in found.lines


def test_lines_that_are_known_are_only_listed() -> None:
    whole = take("AuthService", 1_500)
    place = whole.lines.index("    @staticmethod")
    known = whole.numbers[place : place + 4]
    found = take("AuthService", 3_000, known=known)

    assert "    @staticmethod" not in found.lines
    assert any(line.startswith(f"{known[0]}-{known[-1]}  ") for line in found.lines)


def test_a_file_shows_members_of_its_classes() -> None:
    found = take("auth", 1_500)

    assert "        return hash(password) == user.hash" in found.lines
    assert found.lines[0] == '"""Accounts."""'


def test_without_words_it_is_the_head_and_an_outline() -> None:
    found = take("AuthService", 600, words=[])

    assert "    MOST = 5" in found.lines
    assert "return hash(password) == user.hash" not in found.text
    assert found.lines[-1].startswith("and ")


def test_a_long_member_is_cut_and_says_so() -> None:
    body = "".join(f"        step_{n} = password({n})\n" for n in range(100))
    text = (
        f"class Long:\n    def check(self, password):\n{body}\n    def other(self):\n        pass\n"
    )
    scopes = scopes_of("a.py", text)
    found = extract(scopes["Long"], name_all(scopes), WORDS.query("password"), 1_000)

    assert found is not None
    assert any(line.startswith("[lines 2-") and line.endswith(" of 2-102]") for line in found.lines)


def test_a_source_that_is_not_the_lines_of_the_file_has_no_extract() -> None:
    scope = Scope("A", "A", "class", "a.py", 1, 9, "class A:\n    def f(self)", "h")

    assert extract(scope, [], ["f"], 1_000) is None


@given(st.integers(0, 4_000))
def test_it_fits_but_for_the_first_line_and_the_marks(chars: int) -> None:
    found = take("AuthService", chars)
    marks = sum(len(line) + 1 for line in found.lines if line.startswith(("[", "and ")))

    assert len(found.text) <= max(chars, len("@final")) + marks


@pytest.mark.parametrize(
    ("path", "text", "name", "line"),
    [
        ("a.py", "# add one\n@cache\ndef add(\n    one,\n):\n    pass\n", "add", 3),
        ("a.py", "class A:\n    @property\n    def add(self):\n        return 1\n", "A.add", 3),
        ("a.py", "class A:\n    @add.setter\n    def add(self, a):\n        pass\n", "A.add", 3),
        ("a.ts", "/** add */\nexport function add(a: number) {\n  return a;\n}\n", "add", 2),
        ("a.go", "package a\n\n// Add adds.\nfunc Add(a int) int {\n\treturn a\n}\n", "Add", 4),
        ("a.rs", "/// add\n#[inline]\npub fn add(a: i32) -> i32 {\n    a\n}\n", "add", 3),
        ("A.java", "class A {\n  @Override\n  public void add() {\n  }\n}\n", "A.add", 3),
        (
            "a.swift",
            "/// `try a.add(1)`\n@available(*)\n@preconcurrency public func add(_ a: Int) {\n}\n",
            "add",
            3,
        ),
        (
            "a.ex",
            'defmodule A do\n  @doc """\n  add: [1]\n  """\n  def add(a) do\n    a\n  end\nend\n',
            "A.add",
            5,
        ),
        ("a.md", "# One\n\ntext\n\n## Two\n\nmore\n", "One > Two", 5),
    ],
)
def test_the_line_with_the_name_is_found_below_comments_and_decorators(
    path: str, text: str, name: str, line: int
) -> None:
    assert scopes_of(path, text)[name].name_line == line
