"""Relations of small projects, as names resolve in each language."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from textwrap import dedent
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragforge.brain.graph.name_index import Modules, OutlinedFile
from ragforge.brain.graph.project_graph import Relater
from ragforge.brain.languages.table import find_family
from ragforge.brain.parse.read_source import parse
from ragforge.domain.code import RELATION_KINDS, Relation
from tests.fakes.type_names import TypeNames


class Project:
    """Files in memory, and their relations as lines a person can read."""

    def __init__(self, files: dict[str, str], manifests: dict[str, str] | None = None) -> None:
        self.known: dict[str, OutlinedFile] = {}
        types = TypeNames()
        for path, text in files.items():
            outline = parse(path, dedent(text))
            seen: Counter[str] = Counter()
            ids = []
            for number, definition in enumerate(outline.definitions):
                name = definition.qualified_name if number else "(file)"
                ids.append(f"{path}:{name}" + ("'" * seen[name]))
                seen[name] += 1
            self.known[path] = OutlinedFile(path, path, outline, tuple(ids))
            types.add(path, outline)
        paths = [*files, *(manifests or {})]
        self.relater = Relater(self.known.get, Modules(paths, manifests), types)

    def relations(self, path: str) -> list[Relation]:
        return self.relater.find_relations(path)

    def uses(self, path: str, name: str) -> set[str]:
        """What a scope consumes; of its own file only by name."""
        return self._targets("CONSUMES", path, f"{path}:{name}")

    def bases(self, path: str, name: str) -> set[str]:
        return self._targets("INHERITS_FROM", path, f"{path}:{name}")

    def imports(self, path: str) -> set[str]:
        return self._targets("IMPORTS", path, path)

    def libraries(self, path: str) -> set[str]:
        return self._targets("USES_LIBRARY", path, path)

    def _targets(self, kind: str, path: str, source: str) -> set[str]:
        return {
            relation.target.removeprefix(f"{path}:")
            for relation in self.relations(path)
            if (relation.kind, relation.source) == (kind, source)
        }


class TestPython:
    def test_imports_are_files_or_libraries(self) -> None:
        project = Project(
            {
                "app/__init__.py": "",
                "app/main.py": "import numpy as np\nfrom . import tools\n"
                "from .models import User\n",
                "app/tools.py": "import os.path",
                "app/models.py": "class User: ...",
            }
        )
        assert project.imports("app/main.py") == {"app/tools.py", "app/models.py"}
        assert project.relater.find_imports("app/main.py") == ("app/models.py", "app/tools.py")
        assert project.libraries("app/main.py") == {"numpy"}
        assert project.libraries("app/tools.py") == {"os"}

    def test_a_call_leads_to_the_imported_function_under_any_name(self) -> None:
        project = Project(
            {
                "a.py": """
                    import b
                    import b as other
                    from b import make as build, CONSTANT
                    def f():
                        b.helper()
                    def g():
                        return build(other.Thing)
                    def h():
                        return CONSTANT
                    """,
                "b.py": """
                    CONSTANT = 1
                    def helper(): ...
                    def make(): ...
                    class Thing: ...
                    """,
            }
        )
        assert project.uses("a.py", "f") == {"b.py:helper"}
        assert project.uses("a.py", "g") == {"b.py:make", "b.py:Thing"}
        assert project.uses("a.py", "h") == {"b.py:CONSTANT"}

    def test_modules_are_reached_by_their_dotted_name(self) -> None:
        project = Project(
            {
                "a.py": "import pkg.sub\nfrom pkg import sub as s\n"
                "def f():\n    pkg.sub.run()\ndef g():\n    s.run()\n",
                "pkg/__init__.py": "",
                "pkg/sub.py": "def run(): ...",
            }
        )
        assert project.uses("a.py", "f") == {"pkg/sub.py:run"}
        assert project.uses("a.py", "g") == {"pkg/sub.py:run"}

    def test_a_name_that_a_package_hands_on_is_found_where_it_is_defined(self) -> None:
        project = Project(
            {
                "app.py": "import shop\nfrom shop import Cart, price\n"
                "def f():\n    Cart()\n    price()\n    shop.Cart()\n",
                "shop/__init__.py": "from .cart import Cart\nfrom .money import *\n",
                "shop/cart.py": "class Cart: ...",
                "shop/money.py": "def price(): ...",
            }
        )
        assert project.uses("app.py", "f") == {"shop/cart.py:Cart", "shop/money.py:price"}

    def test_a_wildcard_brings_public_names_of_exactly_one_file(self) -> None:
        project = Project(
            {
                "a.py": "from b import *\nfrom c import *\n"
                "def f():\n    one()\n    both()\n    _hidden()\n",
                "b.py": "def one(): ...\ndef both(): ...\ndef _hidden(): ...\n",
                "c.py": "def both(): ...",
            }
        )
        assert project.uses("a.py", "f") == {"b.py:one"}

    def test_self_is_the_class_and_what_it_inherits_from_another_file(self) -> None:
        project = Project(
            {
                "a.py": """
                    from b import Base
                    class Child(Base):
                        def run(self):
                            self.step()
                            self.inherited()
                            self.unknown()
                            self.other.step()
                        def step(self): ...
                        @classmethod
                        def make(cls):
                            return cls.build()
                        def save(self):
                            super().save()
                    """,
                "b.py": """
                    from c import Root
                    class Base(Root):
                        def inherited(self): ...
                        def save(self): ...
                    """,
                "c.py": "class Root:\n    def build(cls): ...\n    def save(self): ...\n",
            }
        )
        assert project.bases("a.py", "Child") == {"b.py:Base"}
        assert project.uses("a.py", "Child.run") == {"Child.step", "b.py:Base.inherited"}
        assert project.uses("a.py", "Child.make") == {"c.py:Root.build"}
        assert project.uses("a.py", "Child.save") == {"b.py:Base.save"}

    def test_a_member_of_a_named_class_is_found_or_else_the_class(self) -> None:
        project = Project(
            {
                "a.py": "from b import Money\n"
                "def f():\n    Money.parse('1')\ndef g():\n    Money.objects.all()\n",
                "b.py": "class Money:\n    def parse(text): ...\n",
            }
        )
        assert project.uses("a.py", "f") == {"b.py:Money.parse"}
        assert project.uses("a.py", "g") == {"b.py:Money"}

    def test_an_unknown_receiver_makes_no_edge(self) -> None:
        project = Project(
            {
                "a.py": "from b import save\nclass C:\n    def save(self): ...\n"
                "def f(x):\n    x.save()\n    x.y.save()\n    len(x)\n",
                "b.py": "def save(): ...",
            }
        )
        assert project.uses("a.py", "f") == set()

    def test_a_member_of_something_computed_makes_no_edge(self) -> None:
        project = Project({"a.py": "def save(): ...\ndef f(): ...\n"})
        known = project.known["a.py"]
        module, save, f = known.outline.definitions
        computed = replace(f, calls=(".save",))
        outline = replace(known.outline, definitions=(module, save, computed))
        project.known["a.py"] = replace(known, outline=outline)
        assert project.uses("a.py", "f") == set()

    def test_long_names_of_modules_are_followed(self) -> None:
        project = Project(
            {
                "a.py": "import p.q.r\ndef f():\n    p.q.r.run()\n",
                "p/__init__.py": "",
                "p/q/__init__.py": "",
                "p/q/r.py": "def run(): ...",
            }
        )
        assert project.uses("a.py", "f") == {"p/q/r.py:run"}

    def test_a_base_is_not_part_of_a_name(self) -> None:
        project = Project(
            {
                "a.py": "from b import Outer\n"
                "class A(Outer.Gone): ...\nclass B(Outer.Inner): ...\n",
                "b.py": "class Outer:\n    class Inner: ...\n",
            }
        )
        assert project.bases("a.py", "A") == set()
        assert project.bases("a.py", "B") == {"b.py:Outer.Inner"}

    def test_a_parameter_or_variable_hides_what_is_imported(self) -> None:
        project = Project(
            {
                "a.py": """
                    from b import settings, run
                    def f(settings):
                        return settings.load()
                    def g(run):
                        run()
                    def h():
                        return settings.load()
                    def value():
                        return job
                    def job(): ...
                    """,
                "b.py": "def run(): ...\nclass settings:\n    def load(): ...\n",
            }
        )
        assert project.uses("a.py", "f") == set()
        assert project.uses("a.py", "g") == set()
        assert project.uses("a.py", "h") == {"b.py:settings.load"}
        assert project.uses("a.py", "value") == {"job"}

    def test_an_import_in_a_function_is_known_there_only(self) -> None:
        project = Project(
            {
                "a.py": "def f():\n    from b import run\n    run()\n"
                "def g():\n    from c import run\n    run()\ndef h():\n    run()\n",
                "b.py": "def run(): ...",
                "c.py": "def run(): ...",
            }
        )
        assert project.uses("a.py", "f") == {"b.py:run"}
        assert project.uses("a.py", "g") == {"c.py:run"}
        assert project.uses("a.py", "h") == set()

    def test_a_name_with_two_imports_is_ambiguous(self) -> None:
        project = Project(
            {
                "a.py": "try:\n    from b import run\nexcept ImportError:\n"
                "    from c import run\ndef f():\n    run()\n",
                "b.py": "def run(): ...",
                "c.py": "def run(): ...",
            }
        )
        assert project.uses("a.py", "f") == set()

    def test_an_imported_name_of_a_library_is_not_one_of_the_project(self) -> None:
        project = Project(
            {
                "a.py": "from lib import Model\nfrom b import *\ndef f():\n    Model()\n",
                "b.py": "class Model: ...",
            }
        )
        assert project.uses("a.py", "f") == set()

    def test_decorators_and_nested_functions_are_used(self) -> None:
        project = Project(
            {
                "a.py": """
                    from b import cached
                    @cached(10)
                    def f():
                        def inner(): ...
                        inner()
                    class C:
                        def inner(self): ...
                        def m(self):
                            inner()
                    """,
                "b.py": "def cached(n): ...",
            }
        )
        assert project.uses("a.py", "f") == {"b.py:cached", "f.inner"}
        assert project.uses("a.py", "C.m") == set()

    def test_recursion_and_the_own_class_make_no_edge(self) -> None:
        project = Project(
            {
                "a.py": "def f():\n    f()\nclass C:\n    def copy(self):\n        return C()\n"
                "def even():\n    odd()\ndef odd():\n    even()\n"
            }
        )
        assert project.uses("a.py", "f") == set()
        assert project.uses("a.py", "C.copy") == set()
        assert project.uses("a.py", "even") == {"odd"}
        assert project.uses("a.py", "odd") == {"even"}

    def test_cycles_of_imports_and_of_bases_end(self) -> None:
        project = Project(
            {
                "a.py": "from b import B, gone\nfrom b import *\n"
                "class A(B):\n    def m(self):\n        self.missing()\n        gone()\n",
                "b.py": "from a import A, gone\nfrom a import *\nclass B(A): ...\n",
            }
        )
        assert project.bases("a.py", "A") == {"b.py:B"}
        assert project.bases("b.py", "B") == {"a.py:A"}
        assert project.uses("a.py", "A.m") == set()

    def test_a_property_is_its_getter(self) -> None:
        project = Project(
            {
                "a.py": """
                    class C:
                        @property
                        def x(self): ...
                        @x.setter
                        def x(self, value):
                            self._x = value
                        def m(self):
                            return self.x
                    """
            }
        )
        assert project.uses("a.py", "C.m") == {"C.x"}

    def test_inner_scopes_have_parents_and_outer_ones_none(self) -> None:
        project = Project({"a.py": "class C:\n    def m(self): ...\ndef f(): ...\n"})
        assert project.relations("a.py") == [Relation("HAS_PARENT", "a.py:C.m", "a.py:C")]


class TestJavaScript:
    def test_imports_are_files_or_libraries(self) -> None:
        project = Project(
            {
                "src/app.ts": "import React from 'react'\nimport {x} from './x'\nimport './y'\n",
                "src/x.ts": "export const x = () => 1",
                "src/y.ts": "",
            }
        )
        assert project.imports("src/app.ts") == {"src/x.ts", "src/y.ts"}
        assert project.libraries("src/app.ts") == {"react"}

    def test_named_default_star_and_renamed_imports_are_followed(self) -> None:
        project = Project(
            {
                "app.ts": """
                    import make, {helper as h} from './lib'
                    import * as lib from './lib'
                    import Panel from './Panel'
                    export function f() { make(); h(); lib.other(); new Panel() }
                    """,
                "lib.ts": """
                    export default function create() {}
                    export function helper() {}
                    export const other = () => {
                        return 1
                    }
                    """,
                "Panel.tsx": "class Panel {}\nexport default Panel\n",
            }
        )
        assert project.uses("app.ts", "f") == {
            "lib.ts:create",
            "lib.ts:helper",
            "lib.ts:other",
            "Panel.tsx:Panel",
        }

    def test_an_index_hands_names_on(self) -> None:
        project = Project(
            {
                "app.ts": "import {Cart, price, Box} from './shop'\n"
                "const f = () => { new Cart(); price(); new Box() }\n",
                "shop/index.ts": "export {Cart} from './cart'\nexport * from './money'\n"
                "export {default as Box} from './Box'\n",
                "shop/cart.ts": "export class Cart {}",
                "shop/money.ts": "export function price() {}",
                "shop/Box.ts": "export default class Box {}",
            }
        )
        assert project.uses("app.ts", "f") == {
            "shop/cart.ts:Cart",
            "shop/money.ts:price",
            "shop/Box.ts:Box",
        }

    def test_this_is_the_class_and_what_it_inherits(self) -> None:
        project = Project(
            {
                "a.ts": """
                    import {Base} from './b'
                    export class Child extends Base {
                      run() { this.step(); this.shared(); this.x.step(); super.stop() }
                      step() {}
                    }
                    """,
                "b.ts": "export class Base {\n  shared() {}\n  stop() {}\n}\n",
            }
        )
        assert project.bases("a.ts", "Child") == {"b.ts:Base"}
        assert project.uses("a.ts", "Child.run") == {
            "Child.step",
            "b.ts:Base.shared",
            "b.ts:Base.stop",
        }

    def test_components_and_types_are_used(self) -> None:
        project = Project(
            {
                "a.tsx": "import {Button, type Props} from './b'\n"
                "export const App = (props: Props) => <Button a={props.a} />\n",
                "b.tsx": "export interface Props { a: string }\n"
                "export function Button(props: Props) { return null }\n",
            }
        )
        assert project.uses("a.tsx", "App") == {"b.tsx:Button", "b.tsx:Props"}

    def test_required_modules_are_followed(self) -> None:
        project = Project(
            {
                "a.js": "const b = require('./b')\nconst {two} = require('./b')\n"
                "function f() { b.one(); two() }\n",
                "b.js": "exports.one = function () {}\nmodule.exports.two = () => {}\n",
            }
        )
        assert project.uses("a.js", "f") == {"b.js:one", "b.js:two"}

    def test_a_module_that_is_one_thing_is_used_itself(self) -> None:
        project = Project(
            {
                "a.js": "const Router = require('./router')\n"
                "function f() { return new Router() }\n",
                "router.js": "class Router {}\nmodule.exports = Router\n",
            }
        )
        assert project.uses("a.js", "f") == {"router.js:Router"}

    def test_methods_of_a_prototype_are_of_one_object(self) -> None:
        project = Project(
            {
                "a.js": """
                    function Server() {}
                    Server.prototype.start = function () { this.stop() }
                    Server.prototype.stop = function () {}
                    """
            }
        )
        assert project.uses("a.js", "Server.start") == {"Server.stop"}

    def test_the_body_of_an_overloaded_function_is_meant(self) -> None:
        text = """
            export function total(a: string): number
            export function total(a: number): number
            export function total(a: any) {
              return 1
            }
            """
        project = Project(
            {"a.ts": "import {total} from './b'\nfunction f() { total(1) }\n", "b.ts": text}
        )
        assert project.uses("a.ts", "f") == {"b.ts:total''"}

    def test_unknown_receivers_and_locals_make_no_edge(self) -> None:
        project = Project(
            {
                "a.ts": "import {save, api} from './b'\n"
                "function f(x, api) { x.save(); api.save(); const save = 1; return save }\n",
                "b.ts": "export function save() {}\nexport class api { static save() {} }\n",
            }
        )
        assert project.uses("a.ts", "f") == set()


class TestGo:
    MANIFESTS: ClassVar = {"go.mod": "module acme.io/shop\n"}

    def test_packages_know_their_own_names_and_others_by_import(self) -> None:
        project = Project(
            {
                "main.go": """
                    package main
                    import (
                        "fmt"
                        db "acme.io/shop/store"
                    )
                    func main() { s := db.Open(); s.Close(); fmt.Println(helper()); db.Gone() }
                    """,
                "util.go": "package main\nfunc helper() int { return 1 }\n",
                "store/db.go": "package store\nfunc Open() *Store { return &Store{} }\n",
                "store/store.go": "package store\ntype Store struct {\n}\n"
                "func (s *Store) Close() {}\n",
            },
            self.MANIFESTS,
        )
        assert project.imports("main.go") == {"store/db.go", "store/store.go"}
        assert project.libraries("main.go") == {"fmt"}
        assert project.uses("main.go", "main") == {
            "store/db.go:Open",
            "store/store.go:Store.Close",
            "util.go:helper",
        }
        assert project.uses("store/db.go", "Open") == {"store/store.go:Store"}

    def test_a_receiver_is_the_object_in_any_file_of_the_package(self) -> None:
        project = Project(
            {
                "a.go": "package p\n"
                "func (q *Queue) Push(x Item) { q.grow(); q.Lock(); x.grow() }\n",
                "b.go": "package p\ntype Queue struct {\n\tBase\n}\nfunc (q *Queue) grow() {}\n",
                "c.go": "package p\ntype Base struct {\n}\nfunc (b *Base) Lock() {}\n"
                "type Item struct {\n}\n",
            }
        )
        assert project.uses("a.go", "Queue.Push") == {
            "b.go:Queue.grow",
            "c.go:Base.Lock",
            "b.go:Queue",
            "c.go:Item",
        }
        assert project.bases("b.go", "Queue") == {"c.go:Base"}

    def test_a_name_in_two_files_is_ambiguous(self) -> None:
        project = Project(
            {
                "a.go": "package p\nfunc run() { dial() }\n",
                "b_linux.go": "package p\nfunc dial() {}\n",
                "b_windows.go": "package p\nfunc dial() {}\n",
            }
        )
        assert project.uses("a.go", "run") == set()


class TestRust:
    FILES: ClassVar = {
        "Cargo.toml": "",
        "src/lib.rs": "mod shapes;\nmod draw;\npub use shapes::Square;\npub use draw::*;\n",
        "src/shapes.rs": """
            use crate::draw::{Draw, pen as ink};
            pub struct Square { side: f64 }
            impl Square {
                pub fn new() -> Self { Self::check(); Square { side: 1.0 } }
                fn check() {}
            }
            impl Draw for Square {
                fn draw(&self) { self.area(); self.outline(); ink::dip(); crate::draw::stroke(); }
                fn area(&self) {}
            }
            #[cfg(test)]
            mod tests {
                use super::*;
                use super::helper;
                fn it_works() { Square::new(); helper(); x.new(); }
            }
            fn helper() {}
            """,
        "src/draw/mod.rs": """
            pub mod pen;
            pub trait Draw { fn outline(&self) { stroke() } }
            pub fn stroke() {}
            """,
        "src/draw/pen.rs": "pub fn dip() { super::stroke() }\n",
        "src/main.rs": "use geo::Square;\nuse serde::Error;\n"
        "fn main() { Square::new(); geo::stroke(); }\n",
    }

    @pytest.fixture
    def project(self) -> Project:
        return Project(self.FILES, {"Cargo.toml": '[package]\nname = "geo"\n'})

    def test_imports_are_files_or_crates(self, project: Project) -> None:
        assert project.imports("src/lib.rs") == {"src/shapes.rs", "src/draw/mod.rs"}
        assert project.imports("src/shapes.rs") == {"src/draw/mod.rs", "src/draw/pen.rs"}
        assert project.imports("src/main.rs") == {"src/lib.rs"}
        assert project.libraries("src/main.rs") == {"serde"}

    def test_self_is_the_type_with_all_its_implementations(self, project: Project) -> None:
        assert project.bases("src/shapes.rs", "Square''") == {"src/draw/mod.rs:Draw"}
        assert project.uses("src/shapes.rs", "Square.new") == {"Square.check", "Square"}
        assert project.uses("src/shapes.rs", "Square.draw") == {
            "Square.area",
            "src/draw/mod.rs:Draw.outline",
            "src/draw/mod.rs:stroke",
            "src/draw/pen.rs:dip",
        }

    def test_an_inner_module_sees_its_file_by_super(self, project: Project) -> None:
        assert project.uses("src/shapes.rs", "tests.it_works") == {"Square.new", "helper"}

    def test_paths_and_public_uses_are_followed(self, project: Project) -> None:
        assert project.uses("src/draw/pen.rs", "dip") == {"src/draw/mod.rs:stroke"}
        assert project.uses("src/main.rs", "main") == {
            "src/shapes.rs:Square.new",
            "src/draw/mod.rs:stroke",
        }

    def test_an_implementation_in_another_file_knows_its_type(self) -> None:
        project = Project(
            {
                "Cargo.toml": "",
                "src/lib.rs": "mod a;\nmod b;\n",
                "src/a.rs": "pub struct Job {}\nimpl Job { pub fn run(&self) {} }\n",
                "src/b.rs": "use crate::a::Job;\nuse crate::a::gone::*;\n"
                "impl Job { fn go(&self) { self.run(); missing(); } }\n",
            }
        )
        assert project.uses("src/b.rs", "Job") == {"src/a.rs:Job"}
        assert project.uses("src/b.rs", "Job.go") == {"src/a.rs:Job.run"}

    def test_all_members_of_a_type_do_not_make_every_name_that_type(self) -> None:
        project = Project(
            {
                "Cargo.toml": "",
                "src/lib.rs": "mod kind;\nuse kind::Kind::*;\n"
                "fn f() { Flat(); unknown(); make(); }\n",
                "src/kind.rs": "pub enum Kind { Flat }\nimpl Kind { pub fn make() {} }\n",
            }
        )
        assert project.uses("src/lib.rs", "f") == {
            *("src/kind.rs:Kind.make", "src/kind.rs:Kind.Flat", "src/kind.rs:Kind"),
        }


class TestJvm:
    def test_java_sees_its_package_its_imports_and_its_bases(self) -> None:
        root = "src/main/java/com/acme"
        project = Project(
            {
                f"{root}/Account.java": """
                    package com.acme;
                    import com.acme.util.Text;
                    import static com.acme.util.Text.trim;
                    import java.util.List;
                    public class Account extends Base implements Named {
                      Account(Money m) { super(m); }
                      void book() { check(); shared(); Text.pad(); trim(); m.add(); new Money(); }
                      void check() {}
                      Account copy() { return new Account(null); }
                    }
                    """,
                f"{root}/Base.java": "package com.acme;\nclass Base { void shared() {} }\n",
                f"{root}/Money.java": "package com.acme;\nclass Money { void add() {} }\n",
                f"{root}/util/Text.java": "package com.acme.util;\n"
                "public class Text { static void pad() {}\n static void trim() {} }\n",
                "src/test/java/com/acme/AccountTest.java": "package com.acme;\n"
                "import com.acme.util.*;\n"
                "class AccountTest { void t() { new Account(null); Text.pad(); } }\n",
            }
        )
        path = f"{root}/Account.java"
        assert project.bases(path, "Account") == {f"{root}/Base.java:Base"}
        assert project.imports(path) == {f"{root}/util/Text.java"}
        assert project.libraries(path) == {"java"}
        assert project.uses(path, "Account.book") == {
            "Account.check",
            f"{root}/Base.java:Base.shared",
            f"{root}/Money.java:Money",
            f"{root}/util/Text.java:Text.pad",
            f"{root}/util/Text.java:Text.trim",
        }
        assert project.uses(path, "Account.copy") == set()
        test = "src/test/java/com/acme/AccountTest.java"
        assert project.uses(test, "AccountTest.t") == {
            f"{root}/Account.java:Account",
            f"{root}/util/Text.java:Text.pad",
        }
        assert project.imports(test) == {f"{root}/util/Text.java"}

    def test_kotlin_functions_and_types_are_imported(self) -> None:
        project = Project(
            {
                "src/app/Main.kt": "package app\nimport util.helper\nimport core.*\n"
                "import kotlin.Result\nfun main() { helper(); Engine().start(); Result() }\n",
                "src/util/Helpers.kt": "package util\nfun helper() {}\n",
                "src/core/Engine.kt": "package core\nclass Engine : Runner { fun start() {} }\n"
                "interface Runner\n",
                "src/other/Result.kt": "package other\nclass Result\n",
            }
        )
        assert project.uses("src/app/Main.kt", "main") == {
            "src/util/Helpers.kt:helper",
            "src/core/Engine.kt:Engine",
            "src/core/Engine.kt:Engine.start",
        }
        assert project.imports("src/app/Main.kt") == {
            "src/util/Helpers.kt",
            "src/core/Engine.kt",
        }
        assert project.bases("src/core/Engine.kt", "Engine") == {"Runner"}

    def test_a_type_that_only_one_file_has_needs_no_path_unless_it_may_be_javas(self) -> None:
        files = {
            "common/src/Job.kt": "package co\ninterface Job\n",
            "jvm/src/Use.kt": "package co\nfun f(j: Job) {}\n",
            "jvm/src/Java.kt": "package co\nimport java.util.*\nfun f(j: Job) {}\n",
        }
        project = Project(files)
        assert project.uses("jvm/src/Use.kt", "f") == {"common/src/Job.kt:Job"}
        assert project.uses("jvm/src/Java.kt", "f") == set()
        twice = Project({**files, "native/src/Job.kt": "package co\ninterface Job\n"})
        assert twice.uses("jvm/src/Use.kt", "f") == set()

    def test_scala_objects_and_classes_of_one_name_are_one(self) -> None:
        project = Project(
            {
                "src/main/scala/a/Stack.scala": "package a\nclass Stack { def push() = 1 }\n"
                "object Stack {\n  def empty() = new Stack\n  def other() = 1\n}\n",
                "src/main/scala/b/Use.scala": "package b\nimport a.Stack\n"
                "object Use { def f(s: Stack) = Stack.empty() }\n",
            }
        )
        path = "src/main/scala/a/Stack.scala"
        assert project.uses("src/main/scala/b/Use.scala", "Use.f") == {
            f"{path}:Stack",
            f"{path}:Stack.empty",
        }


class TestC:
    def test_names_come_through_includes_of_includes(self) -> None:
        project = Project(
            {
                "src/main.c": """
                    #include <stdio.h>
                    #include "api.h"
                    static int local(int x) { return x; }
                    int main(void) { buffer_t b; int size = 0; open_it(&b); local(size); puts(""); }
                    """,
                "src/api.h": '#include "types.h"\nint open_it(buffer_t *b);\n',
                "src/types.h": "typedef struct { int used; } buffer_t;\ntypedef int size;\n",
            }
        )
        assert project.imports("src/main.c") == {"src/api.h"}
        assert project.libraries("src/main.c") == {"stdio"}
        assert project.uses("src/main.c", "main") == {
            "src/api.h:open_it",
            "src/types.h:buffer_t",
            "local",
        }

    def test_a_name_in_two_headers_is_ambiguous(self) -> None:
        project = Project(
            {
                "a.c": '#include "x.h"\n#include "y.h"\nvoid f(void) { run(); }\n',
                "x.h": "void run(void);\n",
                "y.h": "void run(void);\n",
            }
        )
        assert project.uses("a.c", "f") == set()

    def test_headers_that_include_each_other_end(self) -> None:
        project = Project(
            {
                "a.h": '#include "b.h"\nvoid one(void);\n',
                "b.h": '#include "a.h"\nvoid two(void);\n',
                "c.c": '#include "a.h"\nvoid f(void) { one(); two(); }\n',
            }
        )
        assert project.uses("c.c", "f") == {"a.h:one", "b.h:two"}

    def test_namespaces_and_classes_reach_over_files(self) -> None:
        project = Project(
            {
                "engine.h": """
                    namespace game {
                    class Base { public: void stop(); };
                    class Engine : public Base { public: Engine(); void start(); void warm(); };
                    int count(int x);
                    }
                    """,
                "engine.cc": """
                    #include "engine.h"
                    namespace game {
                    Engine::Engine() {}
                    void Engine::start() { warm(); stop(); count(1); Engine e; other.warm(); }
                    }
                    """,
                "main.cc": """
                    #include "engine.h"
                    int main() { game::Engine e; game::count(2); count(3); }
                    """,
            }
        )
        assert project.bases("engine.h", "game.Engine") == {"game.Base"}
        assert project.uses("engine.cc", "game.Engine.start") == {
            "engine.h:game.Engine.warm",
            "engine.h:game.Base.stop",
            "engine.h:game.count",
            "engine.h:game.Engine",
        }
        assert project.uses("main.cc", "main") == {"engine.h:game.Engine", "engine.h:game.count"}


class TestNamedTypes:
    """Languages whose types are known in a whole project."""

    def test_csharp_types_are_seen_in_their_namespace_or_by_using_it(self) -> None:
        project = Project(
            {
                "Store.cs": """
                    namespace Acme.Data {
                      public class Store { public static void Open() {} }
                      public class Task {}
                    }
                    """,
                "Web.cs": """
                    using Acme.Data;
                    using System.Text;
                    namespace Acme.Web {
                      public class Page : Base {
                        public void Load() {
                          Store.Open(); Check(); Shared(); s.Open(); new Page();
                        }
                        void Check() {}
                      }
                    }
                    """,
                "Base.cs": "namespace Acme.Web;\n"
                "public class Base { protected void Shared() {} }\n",
                "Far.cs": "namespace Other { class Far { Task T() { return null; } } }\n",
            }
        )
        assert project.bases("Web.cs", "Acme.Web.Page") == {"Base.cs:Acme.Web.Base"}
        assert project.uses("Web.cs", "Acme.Web.Page.Load") == {
            "Store.cs:Acme.Data.Store.Open",
            "Acme.Web.Page.Check",
            "Base.cs:Acme.Web.Base.Shared",
        }
        assert project.uses("Far.cs", "Other.Far.T") == set()
        assert project.libraries("Web.cs") == {"System"}

    def test_csharp_partial_classes_are_one(self) -> None:
        project = Project(
            {
                "Page.cs": "namespace A;\npartial class Page { void Load() { Help(); } }\n",
                "Page.Help.cs": "namespace A;\npartial class Page { void Help() {} }\n",
                "Use.cs": "namespace A;\nclass Use { void F(Page p) {} }\n",
            }
        )
        assert project.uses("Page.cs", "A.Page.Load") == {"Page.Help.cs:A.Page.Help"}
        assert project.uses("Use.cs", "A.Use.F") == set()

    def test_ruby_constants_are_looked_up_outwards(self) -> None:
        project = Project(
            {
                "lib/shop/cart.rb": """
                    require "json"
                    require_relative "item"
                    module Shop
                      class Cart < Base
                        include Countable
                        def add(x)
                          check(x)
                          Item.build(x)
                          Item.new.save
                          String.new
                          x.check
                          shared
                          shared()
                        end
                        def check(x); end
                        def save
                          super
                        end
                      end
                    end
                    """,
                "lib/shop/item.rb": "module Shop\n  class Item\n    def self.build(x); end\n"
                "    def save; end\n  end\nend\n",
                "lib/shop/base.rb": "module Shop\n  class Base\n    def shared; end\n"
                "    def save; end\n  end\nend\n",
                "lib/countable.rb": "module Countable\nend\n",
                "lib/string.rb": "class String\nend\n",
            }
        )
        path = "lib/shop/cart.rb"
        assert project.bases(path, "Shop.Cart") == {
            "lib/shop/base.rb:Shop.Base",
            "lib/countable.rb:Countable",
        }
        assert project.imports(path) == {"lib/shop/item.rb"}
        assert project.libraries(path) == {"json"}
        assert {
            "Shop.Cart.check",
            "lib/shop/item.rb:Shop.Item.build",
            "lib/shop/item.rb:Shop.Item",
            "lib/shop/base.rb:Shop.Base.shared",
            "lib/shop/item.rb:Shop.Item.save",
        } == project.uses(path, "Shop.Cart.add")

    def test_ruby_modules_are_not_part_of_a_name(self) -> None:
        project = Project(
            {
                "a.rb": "class Job < Rack::Session\n  def run\n    Rack::Cookie.new\n"
                "    Rack.start\n  end\nend\n",
                "b.rb": "module Rack\nend\n",
            }
        )
        assert project.bases("a.rb", "Job") == set()
        assert project.uses("a.rb", "Job.run") == {"b.rb:Rack"}

    def test_php_classes_are_used_by_name(self) -> None:
        project = Project(
            {
                "app/Mail/Mailer.php": r"""<?php
                    namespace App\Mail;
                    use App\Models\User;
                    use Psr\Log\LoggerInterface as Logger;
                    class Mailer extends Transport {
                      use Retries;
                      function send(User $user, Logger $log) {
                        $this->again(); self::check(); parent::send(); User::find(1);
                        $user->save(); new Queue(); new Exception();
                      }
                      static function check() {}
                    }
                    """,
                "app/Mail/Transport.php": "<?php\nnamespace App\\Mail;\n"
                "class Transport { function send() {} }\n"
                "trait Retries { function again() {} }\nclass Queue {}\n",
                "app/Mail/Exception.php": "<?php\nnamespace App\\Mail;\nclass Exception {}\n",
                "app/Models/User.php": "<?php\nnamespace App\\Models;\n"
                "class User { static function find($x) {}\n function save() {} }\n",
                "app/Other/Queue.php": "<?php\nnamespace App\\Other;\nclass Queue {}\n",
            }
        )
        path, transport = "app/Mail/Mailer.php", "app/Mail/Transport.php:App.Mail."
        user = "app/Models/User.php:App.Models.User"
        assert project.bases(path, "App.Mail.Mailer") == {
            f"{transport}Transport",
            f"{transport}Retries",
        }
        assert project.uses(path, "App.Mail.Mailer.send") == {
            f"{transport}Retries.again",
            "App.Mail.Mailer.check",
            f"{transport}Transport.send",
            f"{transport}Queue",
            user,
            f"{user}.find",
            f"{user}.save",
        }
        assert project.imports(path) == {"app/Models/User.php"}
        assert project.libraries(path) == {"Psr"}

    def test_elixir_modules_are_meant_by_their_whole_name(self) -> None:
        project = Project(
            {
                "lib/worker.ex": """
                    defmodule Jobs.Worker do
                      alias Jobs.Queue
                      import Jobs.Text, only: [trim: 1]
                      use GenServer
                      def run(x) do
                        Queue.pop(x)
                        trim(x)
                        perform(x)
                        Enum.map(x, &Jobs.Enum.go/1)
                        __MODULE__.perform(x)
                      end
                      defp perform(x), do: x
                    end
                    """,
                "lib/queue.ex": "defmodule Jobs.Queue do\n  def pop(x), do: x\nend\n",
                "lib/text.ex": "defmodule Jobs.Text do\n  def trim(x), do: x\nend\n",
                "lib/enum.ex": "defmodule Jobs.Enum do\n  def map(x, y), do: x\n"
                "  def go(x), do: x\nend\n",
            }
        )
        assert project.uses("lib/worker.ex", "Jobs.Worker.run") >= {
            "lib/queue.ex:Jobs.Queue.pop",
            "lib/text.ex:Jobs.Text.trim",
            "Jobs.Worker.perform",
        }
        assert "lib/enum.ex:Jobs.Enum.map" not in project.uses("lib/worker.ex", "Jobs.Worker.run")
        assert project.imports("lib/worker.ex") == {"lib/queue.ex", "lib/text.ex"}
        assert project.libraries("lib/worker.ex") == {"GenServer"}

    def test_swift_extensions_belong_to_their_type(self) -> None:
        project = Project(
            {
                "Player.swift": "class Player: Playable {\n  func play() { skip(); self.stop() }\n"
                "  func stop() {}\n}\n",
                "Skip.swift": "import Foundation\n"
                "extension Player {\n  func skip() { Track.load() }\n}\n"
                "func pick<Track>(x: Track) { Track.load() }\n",
                "Track.swift": "protocol Playable {}\nstruct Track {\n  static func load() {}\n}\n",
            }
        )
        assert project.uses("Player.swift", "Player.play") == {
            "Skip.swift:Player.skip",
            "Player.stop",
        }
        assert project.bases("Player.swift", "Player") == {"Track.swift:Playable"}
        assert project.uses("Skip.swift", "Player") == {"Player.swift:Player"}
        assert project.uses("Skip.swift", "Player.skip") == {"Track.swift:Track.load"}
        assert "Track.swift:Track.load" not in project.uses("Skip.swift", "pick")
        assert project.libraries("Skip.swift") == {"Foundation"}


class TestOthers:
    def test_lua_tables_are_modules(self) -> None:
        project = Project(
            {
                "lua/app/init.lua": """
                    local Util = require("app.util")
                    local M = {}
                    function M.setup(x)
                      Util.trim(x)
                      M.run()
                      x.trim()
                    end
                    function M.run() end
                    function M:go()
                      self.run()
                    end
                    return M
                    """,
                "lua/app/util.lua": "local M = {}\nfunction M.trim(x) end\nreturn M\n",
            }
        )
        assert project.imports("lua/app/init.lua") == {"lua/app/util.lua"}
        assert project.uses("lua/app/init.lua", "M.setup") == {"lua/app/util.lua:M.trim", "M.run"}

    def test_shell_functions_come_from_sourced_files(self) -> None:
        project = Project(
            {
                "run.sh": 'source ./lib.sh\nmain() {\n  log "x"\n  cat x\n}\n',
                "lib.sh": "log() {\n  echo\n}\n",
            }
        )
        assert project.imports("run.sh") == {"lib.sh"}
        assert project.uses("run.sh", "main") == {"lib.sh:log"}

    def test_haskell_names_are_imported_whole_or_qualified(self) -> None:
        project = Project(
            {
                "src/Main.hs": "module Main where\nimport Text.Parse (parse)\n"
                "import qualified Text.Print as P\nimport Text.All\nimport Data.Map\n\n"
                "main x = P.render (parse (every x))\n",
                "src/Text/Parse.hs": "module Text.Parse where\n\nparse x = x\n",
                "src/Text/Print.hs": "module Text.Print where\n\nrender x = x\n",
                "src/Text/All.hs": "module Text.All where\n\nevery x = x\n",
            }
        )
        assert project.uses("src/Main.hs", "main") == {
            "src/Text/Parse.hs:parse",
            "src/Text/Print.hs:render",
            "src/Text/All.hs:every",
        }
        assert project.libraries("src/Main.hs") == {"Data.Map"}

    def test_zig_files_are_structs(self) -> None:
        project = Project(
            {
                "main.zig": 'const util = @import("util.zig");\nconst std = @import("std");\n'
                "pub fn main() void {\n    util.log();\n    other.log();\n}\n",
                "util.zig": "pub fn log() void {}\n",
            }
        )
        assert project.imports("main.zig") == {"util.zig"}
        assert project.libraries("main.zig") == {"std"}
        assert project.uses("main.zig", "main") == {"util.zig:log"}

    def test_documents_and_unknown_files_relate_to_nothing(self) -> None:
        project = Project({"a.md": "# One\n\n## Two\n\ntext\n", "b.toml": "x = 1\n"})
        assert {relation.kind for relation in project.relations("a.md")} == {"HAS_PARENT"}
        assert project.relations("b.toml") == []
        assert project.relations("gone.py") == []
        assert project.relater.find_imports("gone.py") == ()


class TestTypeNames:
    def test_a_file_is_replaced_and_removed(self) -> None:
        names = TypeNames()
        names.add("a.rb", parse("a.rb", "module A\n  class B\n  end\nend\n"))
        names.add("b.rb", parse("b.rb", "class B\nend\n"))
        assert names("ruby", "B") == [("a.rb", 2), ("b.rb", 1)]
        assert names("ruby", "A.B") == [("a.rb", 2)]
        names.add("a.rb", parse("a.rb", "class C\nend\n"))
        assert names("ruby", "B") == [("b.rb", 1)]
        names.remove("b.rb")
        names.remove("never.rb")
        assert names("ruby", "B") == []
        assert names("python", "C") == []

    def test_languages_that_share_types_are_a_family(self) -> None:
        assert find_family("java") == find_family("kotlin") == find_family("scala")
        assert find_family("typescript") == find_family("javascript")
        assert find_family("markdown") is None
        assert find_family(None) is None


_NAMES = ("alpha", "beta", "Gamma", "delta")
_MODULES = ("a", "b", "p.c", "p")
_LINES = st.one_of(
    st.builds("from {} import {}".format, st.sampled_from(_MODULES), st.sampled_from(_NAMES)),
    st.builds("from {} import *".format, st.sampled_from(_MODULES)),
    st.builds("import {}".format, st.sampled_from(_MODULES)),
    st.builds("def {}():\n    {}()".format, st.sampled_from(_NAMES), st.sampled_from(_NAMES)),
    st.builds(
        "class {}({}):\n    def {}(self):\n        self.{}()\n        {}.{}()".format,
        *(st.sampled_from(names) for names in (_NAMES, _NAMES, _NAMES, _NAMES, _MODULES, _NAMES)),
    ),
)
_FILES = st.fixed_dictionaries(
    {
        path: st.lists(_LINES, max_size=5).map("\n".join)
        for path in ("a.py", "b.py", "p/__init__.py", "p/c.py")
    }
)


@given(files=_FILES, order=st.permutations(["a.py", "b.py", "p/__init__.py", "p/c.py"]))
def test_relations_have_known_ends_and_do_not_depend_on_the_order(
    files: dict[str, str], order: list[str]
) -> None:
    project = Project(files)
    found = {path: project.relations(path) for path in files}
    other = Project({path: files[path] for path in order})
    assert {path: other.relations(path) for path in order} == found
    scopes = {scope for known in project.known.values() for scope in known.ids}
    for path, relations in found.items():
        assert len(set(relations)) == len(relations)
        assert relations == sorted(relations, key=lambda r: (r.kind, r.source, r.target))
        for relation in relations:
            assert relation.kind in RELATION_KINDS
            assert relation.source != relation.target
            if relation.kind in ("IMPORTS", "USES_LIBRARY"):
                assert relation.source == path
                assert relation.kind == "USES_LIBRARY" or relation.target in files
            else:
                assert {relation.source, relation.target} <= scopes
