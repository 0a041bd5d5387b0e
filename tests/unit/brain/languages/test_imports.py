"""Imports: the ways to write them that the samples do not show."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.brain.conftest import Reading


@pytest.mark.parametrize(
    ("path", "text", "imports"),
    [
        ("a.py", "from . import one, two as deux\n", ["1: . one=one two=deux"]),
        ("a.py", "from . \\\n  import one\n", ["1: . one=one"]),
        ("a.py", "import a, b.c as d\n", ["1: a as a", "1: b.c as d"]),
        ("a.py", "def f():\n    from late import thing\n", ["2: late thing=thing"]),
        ("a.ts", 'import x, * as y from "z";', ["1: z as y default=x"]),
        ("a.ts", 'import { type A, default as B } from "z";', ["1: z A=A default=B"]),
        ("a.ts", 'import fs = require("fs");', ["1: fs as fs"]),
        ("a.ts", 'export * as ns from "./n";', ["1: ./n as ns"]),
        ("a.js", "const x = await import('./lazy');", ["1: ./lazy"]),
        ("a.js", "require('./side-effect');", ["1: ./side-effect"]),
        ("a.js", "var a = require('a'),\n    b = require('b');", ["1: a as a", "2: b as b"]),
        ("a.rs", "use a::{b::{self, c}, d::*};", ["1: a::b as b", "1: a::d *", "1: a::b c=c"]),
        ("a.rs", "pub(crate) use serde as json;\n", ["1: serde as json"]),
        ("a.rs", "extern crate libc;\n", ["1: libc as libc"]),
        ("a.scala", "import a.{b => c, _}, d.e\n", ["1: a *", "1: a b=c", "1: d e=e"]),
        ("a.php", "<?php\nuse A\\B as C, D\\E;\n", ["2: A B=C", "2: D E=E"]),
        ("a.rb", "require_relative 'near'\n", ["1: ./near *"]),
        ("a.cs", "global using static A.B;\n", ["1: A.B *"]),
        ("a.hs", "import A.B ((<+>), C (..), d)\n", ["1: A.B as A.B <+>=<+> C=C d=d"]),
        ("a.kt", "import a.b.C as D\n", ["1: a.b C=D"]),
        ("a.swift", "import struct Foundation.Date\n", ["1: Foundation.Date as Foundation.Date *"]),
        ("a.ex", "alias A.B.C\n", ["1: A.B.C as C"]),
        ("a.lua", 'require("a.b").setup()\n', ["1: a.b"]),
        ("a.zig", 'const X = @import("x.zig").X;\n', ["1: x.zig"]),
    ],
)
def test_an_import_is_read_as(
    read: Callable[[str, str], Reading], path: str, text: str, imports: list[str]
) -> None:
    found = read(path, text)
    assert not found.outline.damaged
    assert found.imports == imports


@pytest.mark.parametrize(
    ("path", "text", "table"),
    [
        (
            "a.js",
            "module.exports = {\n  one() {},\n  two: () => 2,\n  three: 3,\n};\n",
            ["module a 1-5", "function one 2-2", "function two 3-3"],
        ),
        ("a.js", "export default function () {}\n", ["module a 1-1", "function default 1-1"]),
        ("a.js", "export default class {}\n", ["module a 1-1", "class default 1-1"]),
        ("a.js", "var A = class extends B {};\n", ["module a 1-1", "class A 1-1"]),
        (
            "a.cs",
            "namespace A.B;\n\nclass C { }\n",
            ["module a 1-3", "namespace A.B 1-3", "  class A.B.C 3-3"],
        ),
        (
            "a.go",
            "package a\n\nfunc (t *T) M() {}\n\ntype T struct{}\n",
            ["module a 1-5", "  method T.M 3-3", "struct T 5-5"],
        ),
        (
            "a.py",
            "@one\n# note\n@two\ndef f(): pass\n",
            ["module a 1-4", "function f 1-4"],
        ),
    ],
)
def test_a_definition_is_read_as(
    read: Callable[[str, str], Reading], path: str, text: str, table: list[str]
) -> None:
    assert read(path, text).table == table
