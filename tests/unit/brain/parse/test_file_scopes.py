"""Scopes: ids that last, and sources in which nothing occurs twice."""

from __future__ import annotations

import re

import pytest

from ragforge.brain.parse.outline import MAX_SOURCE_CHARS, build_scopes, make_scope_ids
from ragforge.brain.parse.read_source import parse
from ragforge.domain.code import Scope, make_id


def scopes(path: str, text: str, project: str = "project") -> dict[str, Scope]:
    """Return the scopes of a text by qualified name; of several with one name, numbered."""
    outline = parse(path, text)
    ids = make_scope_ids(project, path, outline)
    found: dict[str, Scope] = {}
    for scope in build_scopes(path, outline, text, ids):
        name = scope.qualified_name if scope.type != "module" or scope.signature else "FILE"
        while name in found:
            name += "+"
        found[name] = scope
    return found


PYTHON = """\
import os


def first():
    return 1


class Cart:
    size = 3

    def add(self, item):
        self.items.append(item)

    class Row:
        def show(self):
            print(self)


def last():
    return 2
"""


def test_an_id_outlives_changes_of_lines_and_bodies() -> None:
    before = scopes("a.py", PYTHON)
    after = scopes("a.py", "# a comment\n\n" + PYTHON.replace("print(self)", "pass"))

    assert {name: scope.uuid for name, scope in before.items()} == {
        name: scope.uuid for name, scope in after.items()
    }


def test_an_id_is_of_its_project_file_name_and_type() -> None:
    ids = {
        scopes("a.py", "def f(): ...\n")["f"].uuid,
        scopes("b.py", "def f(): ...\n")["f"].uuid,
        scopes("a.py", "class f: ...\n")["f"].uuid,
        scopes("a.py", "def g(): ...\n")["g"].uuid,
        scopes("a.py", "def f(): ...\n", project="another")["f"].uuid,
    }

    assert len(ids) == 5


def test_scopes_that_share_a_name_are_told_apart_by_their_order() -> None:
    one = scopes("a.py", "def f(): ...\n")
    two = scopes("a.py", "def f(): ...\ndef f(): ...\n")

    assert two["f"].uuid == one["f"].uuid
    assert two["f+"].uuid != one["f"].uuid


def test_parts_of_an_id_cannot_run_together() -> None:
    assert make_id("a", "bc") != make_id("ab", "c")


def test_the_source_of_a_class_or_file_is_its_lines() -> None:
    found = scopes("a.py", PYTHON)
    lines = PYTHON.split("\n")

    assert found["FILE"].source.rstrip() == PYTHON.rstrip()
    for scope in found.values():
        assert scope.source == "\n".join(lines[scope.start_line - 1 : scope.end_line])


def test_a_scope_without_inner_ones_is_searched_by_its_source() -> None:
    found = scopes("a.py", PYTHON)["Cart.add"]

    assert found.search_text is None
    assert found.indexed_text == found.source


def test_a_class_is_searched_by_its_own_lines_and_the_heads_of_what_it_holds() -> None:
    found = scopes("a.py", PYTHON)

    assert found["Cart"].indexed_text == (
        "class Cart:\n    size = 3\n\n    def add(self, item)\n\n    class Row"
    )
    assert found["Cart.Row"].indexed_text == "    class Row:\n        def show(self)"


def test_a_file_is_searched_by_its_own_lines_and_the_heads_of_what_it_defines() -> None:
    assert scopes("a.py", PYTHON)["FILE"].indexed_text == (
        "import os\n\n\ndef first()\n\n\nclass Cart\n\n\ndef last()"
    )


def test_a_changed_method_changes_the_hash_of_all_around_it_and_of_nothing_else() -> None:
    before, after = scopes("a.py", PYTHON), scopes("a.py", PYTHON.replace("print", "return"))

    changed = {name for name in before if before[name].hash != after[name].hash}

    assert changed == {"FILE", "Cart", "Cart.Row", "Cart.Row.show"}


NESTED = {
    "a.py": PYTHON,
    "a.ts": (
        "const mark = 1;\nexport class A {\n  size = 2;\n  add() {\n    const x = 3;\n  }\n"
        "  show() {\n    const y = 4;\n  }\n}\nfunction f() {\n  const z = 5;\n}\n"
    ),
    "A.java": (
        "package p;\nclass A {\n  int size = 2;\n  void add() {\n    int x = 3;\n  }\n"
        "  class B {\n    void show() {\n      int y = 4;\n    }\n  }\n}\n"
    ),
    "a.rb": "X = 1\nmodule M\n  class A\n    def add\n      y = 2\n    end\n  end\nend\n",
    "a.rs": "mod m {\n  pub fn f() {\n    let x = 1;\n  }\n}\nfn g() {\n  let y = 2;\n}\n",
}


@pytest.mark.parametrize("path", NESTED)
def test_no_line_of_a_body_is_indexed_twice(path: str) -> None:
    found = scopes(path, NESTED[path])
    heads = [scope.signature.strip() for scope in found.values() if scope.signature]

    for line in NESTED[path].split("\n"):
        is_head = any(line.strip().startswith(head) for head in heads)
        if re.search(r"\w", line) and not is_head:
            holders = [name for name, s in found.items() if line in s.indexed_text.split("\n")]
            assert len(holders) == 1, (line, holders)


GO = """\
package shop

type Cart struct {
\tsize int
}

func other() {
\tprint("not of the cart")
}

func (c *Cart) Add() {
\tc.size++
}
"""


def test_a_type_whose_methods_are_elsewhere_keeps_to_its_own_lines() -> None:
    assert "not of the cart" not in scopes("a.go", GO)["Cart"].indexed_text


def test_a_renamed_method_that_is_elsewhere_changes_what_its_type_is_made_of() -> None:
    before, after = scopes("a.go", GO), scopes("a.go", GO.replace("Add", "Put"))

    assert before["Cart"].indexed_text != after["Cart"].indexed_text
    assert before["Cart"].hash != after["Cart"].hash


def test_a_chapter_says_which_sections_are_inside_it_not_what_they_say() -> None:
    found = scopes("a.md", "# One\n\ntext\n\n## Two\n\nmore\n")

    assert found["One"].source == "# One\n\ntext\n\n## Two\n\nmore"
    assert found["One"].indexed_text == "# One\n\ntext\n\n## Two"
    assert found["One > Two"].source == "## Two\n\nmore"


def test_a_very_long_source_is_cut_and_its_hash_is_of_all_of_it() -> None:
    body = "".join(f"    x{number} = {number}\n" for number in range(20_000))
    one, other = (scopes("a.py", f"def f():\n{body}    return {end}\n")["f"] for end in (1, 2))

    assert len(one.source) == MAX_SOURCE_CHARS
    assert one.source == other.source
    assert one.hash != other.hash


def test_decorators_are_part_of_the_signature() -> None:
    found = scopes("a.py", "@cached\n@app.route('/x')\ndef f(x): ...\n")

    assert found["f"].signature == "@cached @app.route def f(x)"
    assert found["f"].start_line == 1


def test_carriage_returns_are_part_of_the_source_and_not_of_the_lines() -> None:
    found = scopes("a.py", "def f():\r\n    return 1\r\n\r\ndef g():\r\n    return 2\r\n")

    assert (found["g"].start_line, found["g"].end_line) == (4, 5)
    assert found["g"].source.replace("\r", "") == "def g():\n    return 2"
