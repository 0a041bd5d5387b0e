"""Incremental ingestion: after any edits the store equals one that saw only the last state."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ragforge.domain.schema import PROJECT
from ragforge.ports.store import Store
from tests.fakes.engines import Engines
from tests.fakes.projects import (
    LONG_AGO,
    ToyEmbedder,
    brain_of,
    differences,
    set_time,
    snapshot,
    write,
)

NAMES = ("load", "save", "parse", "total")
TYPES = ("Cart", "Item", "Shop")
STEPS = 7


@dataclass(frozen=True)
class Language:
    """How to write a file of few names, so that they often meet."""

    paths: tuple[str, ...]
    imports: tuple[str, ...]  # {n} a name, {t} a type, {k} another name
    definitions: tuple[str, ...]  # {n} and {t} are names, {b} a base, {c} a call
    around: str = "{0}"
    calls: tuple[str, ...] = ("{n}()", "{t}()")
    comment: str = "//"


LANGUAGES = {
    "python": Language(
        paths=(
            *("app/__init__.py", "app/core.py", "app/util.py", "app/sub/__init__.py"),
            *("app/sub/core.py", "tool.py", "tests/test_core.py"),
        ),
        imports=(
            *("import app", "import app.core", "import app.util as {k}", "import requests"),
            *("from app.core import {n}, {t}", "from app import {n}", "from app import core"),
            *("from .core import {n} as {k}", "from . import util", "from .util import *"),
            *("from app.sub import {t}", "from app.sub.core import *", "from .. import {n}"),
        ),
        definitions=(
            "def {n}(x):\n    return {c}\n\n",
            "class {t}({b}):\n    def {n}(self):\n        return {c}\n\n",
        ),
        calls=("{n}()", "{t}()", "core.{n}()", "self.{n}()", "app.util.{n}()", "util.{t}.{n}()"),
        comment="#",
    ),
    "typescript": Language(
        paths=("web/a.ts", "web/b.ts", "web/index.ts", "web/lib/a.ts", "web/lib/index.tsx"),
        imports=(
            *("import {{ {n} }} from './a';", "import {{ {t} as {k} }} from './b';"),
            *("import * as core from './lib';", "export * from './b';", "import {k} from './a';"),
            *("export {{ {n} }} from './lib/a';", "import {{ {n} }} from '@shop/web';"),
            *("import {{ {t} }} from '@/lib/a';", "import left from 'left-pad';"),
        ),
        definitions=(
            "export function {n}(x: number) {{\n  return {c};\n}}\n",
            "export class {t} extends {b} {{\n  {n}() {{\n    return {c};\n  }}\n}}\n",
        ),
        calls=("{n}()", "new {t}()", "core.{n}()", "this.{n}()"),
    ),
    "go": Language(
        paths=("srv/main.go", "srv/store/a.go", "srv/store/b.go", "srv/store/b_test.go"),
        imports=(
            *('import "example.com/shop/srv/store"', 'import "fmt"'),
            *('import "example.com/shop/srv"', 'import {k} "example.com/shop/srv/store"'),
        ),
        definitions=(
            "func {n}(x int) {{\n\t{c}\n}}\n",
            "type {t} struct {{\n\t{b}\n}}\n\nfunc (s *{t}) {n}() {{\n\t{c}\n}}\n",
            "func (s *{t}) {n}(k *{b}) {{\n\t{c}\n}}\n",
            "type {n} interface {{\n\t{k}()\n}}\n",
            "type {t} interface {{\n\t{b}\n\t{n}(*{b})\n}}\n",
        ),
        around="package store\n\n{0}",
        calls=("{n}()", "{t}{{}}", "store.{n}()", "s.{n}()"),
    ),
    "ruby": Language(
        paths=("lib/cart.rb", "lib/item.rb", "lib/shop/cart.rb"),
        imports=("require_relative './item'", "require 'json'", "require 'shop/cart'"),
        definitions=(
            "def {n}(x)\n  {c}\nend\n",
            "class {t}\n  include {b}\n\n  def self.{n}\n    {c}\n  end\nend\n",
            "module {t}\n  def {n}\n    {c}\n  end\nend\n",
            "class {t}\n  attr_reader :{n}\n\n  def {k}\n    {n}\n  end\nend\n",
        ),
        calls=("{n}()", "{t}.new", "{t}.{n}", "Shop::{t}.{n}", "self.{n}"),
        comment="#",
    ),
    "csharp": Language(
        paths=("cs/Cart.cs", "cs/Item.cs", "cs/more/Shop.cs"),
        imports=("using System;", "using Shop.Core;"),
        definitions=(
            "class Plain{n} {{\n  void {n}() {{ {c}; }}\n}}\n",
            "namespace Shop.Core {{\n  class {t} : {b} {{\n    void {n}() {{ {c}; }}\n  }}\n}}\n",
        ),
        calls=("{n}()", "new {t}()", "{t}.{n}()", "this.{n}()"),
    ),
    "java": Language(
        paths=(
            *("jvm/src/main/java/p/Cart.java", "jvm/src/main/java/p/Item.java"),
            *("jvm/src/test/java/p/CartTest.java", "jvm/src/main/java/q/Shop.java"),
        ),
        imports=("import p.{t};", "import q.*;", "import java.util.List;", "import q.{t};"),
        definitions=(
            "class Plain{n} {{\n  void {n}() {{ {c}; }}\n}}\n",
            "class {t} extends {b} {{\n  static void {n}() {{ {c}; }}\n}}\n",
        ),
        calls=("{n}()", "new {t}()", "{t}.{n}()"),
    ),
    "kotlin": Language(
        paths=("jvm/src/main/kotlin/q/Shop.kt", "jvm/src/main/kotlin/r/Cart.kt"),
        imports=("import p.{t}", "import q.*", "import q.{t} as {k}"),
        definitions=(
            "fun {n}(x: Int) {{\n  {c}\n}}\n",
            "class {t} : {b}() {{\n  fun {n}() {{ {c} }}\n}}\n",
            "enum class {t} {{ {b}, LARGE }}\n\nfun {t}.{n}() {{\n  {c}\n}}\n",
        ),
        calls=("{n}()", "{t}()", "{t}.{n}()"),
    ),
    "rust": Language(
        paths=("rs/Cargo.toml", "rs/src/lib.rs", "rs/src/cart.rs", "rs/src/item.rs"),
        imports=(
            *("mod cart;", "mod item;", "use crate::cart::{n};", "use crate::item::{t};"),
            *("use super::cart::*;", "use serde::Thing;"),
        ),
        definitions=(
            "pub fn {n}(x: u8) {{\n    {c};\n}}\n",
            "mod {n} {{\n    pub fn {k}() {{\n        {c};\n    }}\n}}\n",
            "pub struct {t} {{}}\nimpl {b} for {t} {{\n    fn {n}(&self) {{ {c}; }}\n}}\n",
            "impl {t} {{\n    fn {n}(&self) {{ {c}; }}\n}}\n",
            "pub enum {t} {{\n    {b},\n    {n}(u8),\n}}\n",
            "#[macro_export]\nmacro_rules! {n} {{ () => {{}} }}\n",
        ),
        calls=("{n}()", "{t}::{n}()", "crate::cart::{n}()", "self.{n}()", "cart::{t}::{n}()"),
    ),
    "c": Language(
        paths=("c/cart.h", "c/cart.c", "c/item.cpp", "c/sub/item.h"),
        imports=('#include "cart.h"', '#include "item.h"', "#include <stdio.h>"),
        definitions=(
            "void {n}(int x) {{\n  {c};\n}}\n",
            "struct {t} {{\n  int {n};\n}};\n",
        ),
        calls=("{n}()", "{n}(0)"),
    ),
    "php": Language(
        paths=("php/Cart.php", "php/Item.php", "php/sub/Shop.php"),
        imports=("use Shop\\{t};", "require 'Item.php';", "use Other\\{t} as {k};"),
        definitions=(
            "function {n}($x) {{\n  {c};\n}}\n",
            "class {t} {{\n  use {b};\n  static function {n}() {{ {c}; }}\n}}\n",
        ),
        around="<?php\nnamespace Shop;\n{0}",
        calls=("{n}()", "new {t}()", "{t}::{n}()", "self::{n}()"),
    ),
    "markdown": Language(
        paths=("README.md", "docs/guide.md"),
        imports=("See [{n}](guide.md).",),
        definitions=(
            "## About {n}\n\nIt is {c}.\n\n",
            "# The {t}\n\nIt is a {b}; {n} gives {c}.\n\n",
        ),
        calls=("fine", "`{n}`"),
        comment="Also",
    ),
}
MANIFESTS = {
    "go.mod": ("module example.com/shop\n", "module example.com/other\n"),
    "web/package.json": ('{"name": "@shop/web", "main": "index"}', '{"name": "@shop/other"}'),
    "tsconfig.json": (
        '{"compilerOptions": {"paths": {"@/*": ["web/*"]}}}',
        '{"compilerOptions": {"paths": {"@/*": ["src/*"]}}}',
    ),
    "rs/Cargo.toml": ('[package]\nname = "shop"\n', '[package]\nname = "other"\n'),
}
IGNORED = ("sub/\n", "*.rb\n", "core.py\n", "store\n!store/a.go\n", "")
DIRECTORIES = ("app/sub", "app", "web/lib", "srv/store", "cs/more", "jvm/src/test", "rs/src")


@dataclass
class Shaker:
    """Makes a random project, and changes it at random; it tells what it did."""

    root: Path
    chance: random.Random
    clock: int = LONG_AGO
    trace: list[str] = field(default_factory=list)

    def begin(self) -> None:
        others = [name for name in LANGUAGES if name not in ("python", "markdown", "kotlin")]
        chosen = ["python", *self.chance.sample(others, 3), "markdown"]
        chosen += ["kotlin"] * ("java" in chosen)
        for name in chosen:
            for path in LANGUAGES[name].paths:
                if self.chance.random() < 0.9:
                    self.write(path, self.text(path))
        self.manifest()

    def step(self) -> None:
        changes: list[tuple[int, Callable[[], None]]] = [
            *((6, self.edit_body), (4, self.rename_a_name), (4, self.rewrite), (4, self.add)),
            *((3, self.add_import), (3, self.drop_a_line), (2, self.remove), (2, self.rename)),
            *((1, self.move_directory), (2, self.ignore), (2, self.touch), (1, self.spoil)),
            *((2, self.manifest), (1, self.tear)),
        ]
        weights = [weight for weight, _ in changes]
        [(_, change)] = self.chance.choices(changes, weights)
        change()

    def edit_body(self) -> None:
        path = self.any_file()
        lines = self.read(path).split("\n")
        line = self.chance.randrange(len(lines) + 1)
        indent = re.match(r"\s*", lines[line] if line < len(lines) else "")
        comment = f"{indent.group() if indent else ''}{self.language(path).comment} again"
        self.write(path, "\n".join([*lines[:line], comment, *lines[line:]]))

    def rename_a_name(self) -> None:
        path = self.any_file()
        pool = self.chance.choice((NAMES, TYPES))
        old, new = self.chance.sample(pool, 2)
        self.write(path, re.sub(rf"\b{old}\b", new, self.read(path)))

    def rewrite(self) -> None:
        path = self.any_file()
        self.write(path, self.text(path))

    def add(self) -> None:
        known = {path for language in LANGUAGES.values() for path in language.paths}
        missing = sorted(path for path in known if not (self.root / path).exists())
        if missing:
            path = self.chance.choice(missing)
            if not any(place.is_file() for place in (self.root / path).parents):
                self.write(path, self.text(path))

    def add_import(self) -> None:
        path = self.any_file()
        line = self.filled(self.chance.choice(self.language(path).imports))
        self.write(path, f"{line}\n{self.read(path)}")

    def drop_a_line(self) -> None:
        path = self.any_file()
        lines = self.read(path).split("\n")
        wanted = [n for n, line in enumerate(lines) if re.search(r"import|use|require|incl", line)]
        del lines[self.chance.choice(wanted or range(len(lines)))]
        self.write(path, "\n".join(lines))

    def remove(self) -> None:
        path = self.any_file()
        (self.root / path).unlink()
        self.trace.append(f"remove {path}")

    def rename(self) -> None:
        path = self.any_file()
        directory, _, name = path.rpartition("/")
        stem, dot, extension = name.partition(".")
        target = f"{self.chance.choice((*NAMES, 'core', 'item', 'b', 'requests'))}{dot}{extension}"
        place = self.root / directory / target
        if not place.exists() and stem != target:
            (self.root / path).rename(place)
            self.trace.append(f"rename {path} to {target}")

    def move_directory(self) -> None:
        directory = self.root / self.chance.choice(DIRECTORIES)
        target = directory.with_name(self.chance.choice(("moved", "core", "sub", "lib")))
        if directory.is_dir() and not target.exists():
            directory.rename(target)
            self.trace.append(f"move {directory} to {target}")

    def ignore(self) -> None:
        self.write(".gitignore", self.chance.choice(IGNORED))

    def touch(self) -> None:
        path = self.any_file()
        self.clock += 1
        set_time(self.root / path, self.clock)
        self.trace.append(f"touch {path}")

    def spoil(self) -> None:
        path = self.any_file()
        content = self.chance.choice((b"\0\1\2", b"x=1;" * 5_000, b"// Code generated by x.\n"))
        (self.root / path).write_bytes(content)
        self.trace.append(f"spoil {path} with {content[:8]!r}")

    def tear(self) -> None:
        path = self.any_file()
        text = self.read(path)
        self.write(path, text[: self.chance.randrange(len(text) + 1)] + "\n def ((( {")

    def manifest(self) -> None:
        for path, texts in MANIFESTS.items():
            if self.chance.random() < 0.6:
                self.write(path, self.chance.choice(texts))
        gone = self.chance.choice(list(MANIFESTS))
        if self.chance.random() < 0.2 and (self.root / gone).exists():
            (self.root / gone).unlink()
            self.trace.append(f"remove {gone}")

    def text(self, path: str) -> str:
        """Return a file with a few imports, functions and types."""
        if path in MANIFESTS:
            return self.chance.choice(MANIFESTS[path])
        language, some = self.language(path), self.chance.randrange
        imports = [self.filled(self.chance.choice(language.imports)) for _ in range(some(4))]
        bodies = self.chance.choices(language.definitions, k=some(6))
        lines = "\n".join(imports) + "\n\n" + "".join(self.filled(b, language) for b in bodies)
        return language.around.format(lines)

    def filled(self, template: str, language: Language | None = None) -> str:
        call = self.chance.choice(language.calls) if language else ""
        return template.format(
            n=self.chance.choice(NAMES),
            k=self.chance.choice(NAMES),
            t=(kind := self.chance.choice(TYPES)),
            b=self.chance.choice([other for other in TYPES if other != kind]),
            c=call.format(n=self.chance.choice(NAMES), t=self.chance.choice(TYPES)),
        )

    def language(self, path: str) -> Language:
        extension = path.rpartition(".")[2]
        for language in LANGUAGES.values():
            if any(known.endswith(f".{extension}") for known in language.paths):
                return language
        return LANGUAGES["markdown"]

    def any_file(self) -> str:
        return self.chance.choice(
            sorted(
                place.relative_to(self.root).as_posix()
                for place in self.root.rglob("*")
                if place.is_file() and place.name != ".gitignore"
            )
        )

    def read(self, path: str) -> str:
        return (self.root / path).read_bytes().decode("utf-8", "replace")

    def write(self, path: str, text: str) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        self.trace.append(f"write {path}:\n{text}")
        if self.chance.random() < 0.6:  # else it is so young that its time is not relied on
            self.clock += 1
            set_time(place, self.clock)


async def shaken_equals_fresh(engines: Engines, engine: str, root: Path, seed: int) -> None:
    root.mkdir()
    shaker = Shaker(root, random.Random(seed))
    shaker.begin()
    store = await engines.empty(engine)
    await brain_of(store, root, ToyEmbedder()).ingest()
    for _ in range(STEPS):
        for _ in range(shaker.chance.choice((1, 1, 2, 4))):
            shaker.step()
        shaker.trace.append("INGEST")
        await brain_of(store, root, ToyEmbedder()).ingest()
    grown = await snapshot(store, root)
    _, embedded_again = await brain_of(store, root, ToyEmbedder()).ingest()
    assert grown == await snapshot(store, root)
    assert embedded_again == 0

    fresh_store = await engines.empty(engine)
    await brain_of(fresh_store, root, ToyEmbedder()).ingest()
    fresh = await snapshot(fresh_store, root)
    if found := differences(grown, fresh):
        print(*shaker.trace, "", *found, sep="\n")
    assert not differences(grown, fresh)
    assert fresh.unembedded == 0
    assert len(fresh.vectors) == len(fresh.scopes) > 0


@pytest.mark.parametrize("seed", range(int(os.environ.get("SHAKES", "40"))))
async def test_a_shaken_project_in_sqlite_equals_a_fresh_one(
    engines: Engines, tmp_path: Path, seed: int
) -> None:
    await shaken_equals_fresh(engines, "sqlite", tmp_path / "project", seed)


@pytest.mark.neo4j
@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 3))])
async def test_a_shaken_project_in_neo4j_equals_a_fresh_one(
    engines: Engines, tmp_path: Path, seed: int
) -> None:
    await shaken_equals_fresh(engines, "neo4j", tmp_path / "project", seed)


async def test_a_file_that_was_only_touched_changes_nothing_of_the_state(
    store: Store, tmp_path: Path
) -> None:
    root = tmp_path / "touched"
    write(root, {"a.py": "def f(): ...\n"})
    brain = brain_of(store, root, ToyEmbedder())
    await brain.ingest()
    settled = await store.records.get(PROJECT, brain.project_id)
    os.utime(root / "a.py", (1, 1))
    report, _ = await brain.ingest()
    assert report.after == report.before == settled
