"""Files broken in the middle: the scopes around the damage stay."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.brain.conftest import Reading

PYTHON = """\
class Before:
    def one(self):
        return helper()

def broken(x:
    return x +

class After:
    def two(self):
        return 2

def last():
    return after()
"""

TYPESCRIPT = """\
export class Before {
  one(): number { return 1; }
}

export function broken(a: string {
  const x = ;
  if (a) { return

export class After {
  two(): number { return helper(); }
}

export const last = () => after();
"""

GO = """\
package shop

func Before() int {
	return 1
}

func Broken(a int {
	if a >  {
	x := := 3
}

type After struct {
	Name string
}

func (a *After) Two() string {
	return helper(a.Name)
}
"""

JAVA = """\
class Shop {
    int before() {
        return 1;
    }

    int broken(int a {
        if (a > ) { return
    }

    int after() {
        return helper();
    }

    static class Inner {
        void two() { }
    }
}
"""

CPP = """\
int before() { return 1; }

int broken(int a {
    if (a > ) return;
}

class After {
public:
    int two() { return helper(); }
};

int last() { return 3; }
"""

RUST = """\
fn before() -> i32 { 1 }

fn broken(a: i32 -> i32 {
    let x = ;
    match a { 1 =>
}

struct After { name: String }

impl After {
    fn two(&self) -> i32 { helper() }
}

fn last() -> i32 { 3 }
"""


@pytest.mark.parametrize(
    ("path", "text", "kept"),
    [
        ("a.py", PYTHON, ["Before", "Before.one", "After", "After.two", "last"]),
        ("a.ts", TYPESCRIPT, ["Before", "Before.one", "After", "After.two", "last"]),
        ("a.go", GO, ["Before", "After", "After.Two"]),
        ("a.java", JAVA, ["Shop", "Shop.before", "Shop.after", "Shop.Inner", "Shop.Inner.two"]),
        ("a.cpp", CPP, ["before", "After", "After.two", "last"]),
        ("a.rs", RUST, ["before", "After", "After.two", "last"]),
    ],
    ids=["python", "typescript", "go", "java", "cpp", "rust"],
)
def test_a_file_broken_in_the_middle_keeps_the_scopes_around_it(
    read: Callable[[str, str], Reading], path: str, text: str, kept: list[str]
) -> None:
    found = read(path, text)
    lines = text.split("\n")
    assert found.outline.damaged
    for name in kept:
        definition = next(d for d in found.outline.definitions if d.qualified_name == name)
        assert definition.name in lines[definition.start_line - 1]
    assert any("helper" in (*d.calls, *d.uses) for d in found.outline.definitions)


def test_a_definition_that_the_grammar_lost_is_found_by_its_head(
    read: Callable[[str, str], Reading],
) -> None:
    # The grammar takes the text after `$$"` for one that never ends.
    found = read(
        "Config.kt",
        "class Config {\n"
        '    @Value($$"${a.b:}#{T(x)}")\n'
        "    var one: Int = 1\n"
        "\n"
        '    @Value($$"${c}")\n'
        "    fun two(): Int {\n"
        "        return helper()\n"
        "    }\n"
        "\n"
        "    suspend fun <T> List<T>.three(): Int = 3\n"
        "}\n"
        "\n"
        "fun last() = 4\n",
    )
    assert found.outline.damaged
    assert found.table == [
        "module Config 1-13",
        "class Config 1-11",
        "  method Config.two 6-8",
        "  method Config.three 10-10",
        "function last 13-13",
    ]


def test_a_head_inside_a_comment_or_string_is_not_a_definition(
    read: Callable[[str, str], Reading],
) -> None:
    found = read(
        "a.py", 'x = (\n"""\ndef no():\n    pass\n"""\n# def nor():\n\ndef yes():\n  pass\n'
    )
    assert found.outline.damaged
    assert "yes" in {d.name for d in found.outline.definitions}
    assert not {"no", "nor"} & {d.name for d in found.outline.definitions}


def test_a_class_with_two_heads_behind_conditions_has_the_first_one(
    read: Callable[[str, str], Reading],
) -> None:
    found = read(
        "Reader.cs",
        "namespace N\n{\n"
        "    public class Reader\n"
        "#if ASYNC\n        : IAsyncDisposable\n#else\n        : IDisposable\n#endif\n"
        "    {\n        public void Close() { }\n    }\n}\n",
    )
    assert found.table == [
        "module Reader 1-12",
        "namespace N 1-12",
        "  class N.Reader 3-11",
        "    method N.Reader.Close 10-10",
    ]
    assert found.bases == {"N.Reader": "IAsyncDisposable"}


def test_a_macro_on_a_line_by_itself_does_not_hide_what_follows(
    read: Callable[[str, str], Reading],
) -> None:
    found = read(
        "a.cc", "namespace absl {\nABSL_NAMESPACE_BEGIN\nnamespace inner {\nint f();\n}\n}\n"
    )
    assert found.table == [
        "module a 1-6",
        "namespace absl 1-6",
        "  namespace absl.inner 3-5",
        "    function absl.inner.f 4-4",
    ]
