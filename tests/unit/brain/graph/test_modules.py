"""Which files a module name means, language by language."""

from __future__ import annotations

import json
from typing import ClassVar

import pytest

from ragforge.brain.graph.name_index import Modules


def found(
    paths: str,
    importer: str,
    language: str,
    module: str,
    manifests: dict[str, str] | None = None,
) -> str:
    """The files that a module means, in one line."""
    return " ".join(Modules(paths.split(), manifests).find(importer, language, module))


class TestPython:
    PATHS = """
        shop/__init__.py shop/cart.py shop/models/__init__.py shop/models/user.py
        src/lib/__init__.py src/lib/text.py tests/test_cart.py tests/helpers.py tools/run.py
    """

    @pytest.mark.parametrize(
        ("importer", "module", "file"),
        [
            ("tools/run.py", "shop.cart", "shop/cart.py"),
            ("tools/run.py", "shop", "shop/__init__.py"),
            ("tools/run.py", "lib.text", "src/lib/text.py"),
            ("shop/cart.py", ".models", "shop/models/__init__.py"),
            ("shop/models/user.py", "..cart", "shop/cart.py"),
            ("shop/models/user.py", "..", "shop/__init__.py"),
            ("shop/models/__init__.py", ".user", "shop/models/user.py"),
            ("tests/test_cart.py", "helpers", "tests/helpers.py"),
            ("tools/run.py", "shop.nothing", ""),
            ("tools/run.py", "numpy", ""),
            ("shop/cart.py", "....far", ""),
        ],
    )
    def test_an_import_leads_to_a_file(self, importer: str, module: str, file: str) -> None:
        assert found(self.PATHS, importer, "python", module) == file

    def test_a_name_imported_from_a_package_may_be_a_module(self) -> None:
        modules = Modules(self.PATHS.split())
        assert modules.find_submodule("tools/run.py", "python", "shop.models", "user") == (
            "shop/models/user.py",
        )
        assert modules.find_submodule("shop/models/user.py", "python", "..", "cart") == (
            "shop/cart.py",
        )

    def test_if_two_roots_have_a_name_the_importers_root_is_meant(self) -> None:
        paths = "a/pkg/__init__.py a/pkg/x.py b/pkg/__init__.py b/pkg/x.py c/main.py"
        assert found(paths, "b/pkg/x.py", "python", "pkg.x") == "b/pkg/x.py"
        assert found(paths, "c/main.py", "python", "pkg.x") == ""

    def test_a_module_comes_before_a_package_and_a_source_before_a_stub(self) -> None:
        paths = "p/__init__.py p/a.py p/a/__init__.py p/b.pyi p/b.py p/c.pyi"
        assert found(paths, "p/__init__.py", "python", ".a") == "p/a.py"
        assert found(paths, "p/__init__.py", "python", ".b") == "p/b.py"
        assert found(paths, "p/__init__.py", "python", ".c") == "p/c.pyi"

    def test_the_standard_library_is_not_a_strangers_file(self) -> None:
        assert found("tests/signal.py app/main.py", "app/main.py", "python", "signal") == ""

    def test_libraries_have_the_first_name(self) -> None:
        modules = Modules(self.PATHS.split())
        assert modules.find_library("python", "numpy.linalg") == "numpy"
        assert modules.find_library("python", ".models") is None
        assert modules.find_library("python", "shop.gone") is None


class TestJavaScript:
    PATHS = """
        src/app.ts src/util.ts src/view/index.tsx src/old.js src/types.d.ts src/style.css
        web/src/lib/api.ts web/src/main.ts
        packages/core/src/index.ts packages/core/src/links/http.ts packages/core/package.json
    """

    @pytest.mark.parametrize(
        ("module", "file"),
        [
            ("./util", "src/util.ts"),
            ("./util.js", "src/util.ts"),
            ("./view", "src/view/index.tsx"),
            ("./view/", "src/view/index.tsx"),
            ("./old", "src/old.js"),
            ("./types", "src/types.d.ts"),
            ("./style.css", "src/style.css"),
            ("../src/util", "src/util.ts"),
            ("../../util", ""),
            ("util", ""),
        ],
    )
    def test_a_path_leads_to_a_file(self, module: str, file: str) -> None:
        assert found(self.PATHS, "src/app.ts", "typescript", module) == file

    def test_an_alias_of_the_nearest_tsconfig_is_followed(self) -> None:
        config = """{
          // the editor needs it
          "compilerOptions": {"baseUrl": ".", "paths": {"#lib/*": ["src/lib/*"],},},
        }"""
        manifests = {"web/tsconfig.json": config}
        args = (self.PATHS, "web/src/main.ts", "typescript")
        assert found(*args, "#lib/api", manifests) == "web/src/lib/api.ts"
        assert found(*args, "src/lib/api", manifests) == "web/src/lib/api.ts"

    def test_an_at_sign_means_the_source_directory(self) -> None:
        assert found(self.PATHS, "web/src/main.ts", "tsx", "@/lib/api") == "web/src/lib/api.ts"

    def test_a_package_of_the_workspace_is_known_by_its_name(self) -> None:
        package = {
            "name": "@acme/core",
            "main": "dist/index.js",
            "exports": {"./http": {"import": "./dist/links/http.js"}},
        }
        manifests = {"packages/core/package.json": json.dumps(package)}
        args = (self.PATHS, "src/app.ts", "javascript")
        assert found(*args, "@acme/core", manifests) == "packages/core/src/index.ts"
        assert found(*args, "@acme/core/http", manifests) == "packages/core/src/links/http.ts"
        assert Modules(self.PATHS.split(), manifests).find_library("tsx", "@acme/core") is None

    def test_libraries_keep_their_scope(self) -> None:
        modules = Modules(self.PATHS.split())
        assert modules.find_library("typescript", "@tanstack/react-query/next") == (
            "@tanstack/react-query"
        )
        assert modules.find_library("javascript", "lodash/fp") == "lodash"
        assert modules.find_library("javascript", "node:fs") == "fs"
        assert modules.find_library("javascript", "./gone") is None

    def test_a_broken_manifest_counts_as_missing(self) -> None:
        manifests = {"tsconfig.json": "{nonsense", "package.json": "[]"}
        assert found(self.PATHS, "src/app.ts", "typescript", "./util", manifests) == "src/util.ts"


class TestGo:
    PATHS = "go.mod main.go store/db.go store/mem.go store/db_test.go store/readme.md"
    MANIFESTS: ClassVar = {"go.mod": "module github.com/acme/shop\n\ngo 1.22\n"}

    def test_a_package_is_the_files_of_a_directory_without_tests(self) -> None:
        package = "github.com/acme/shop/store"
        assert found(self.PATHS, "main.go", "go", package, self.MANIFESTS) == (
            "store/db.go store/mem.go"
        )
        root = "github.com/acme/shop"
        assert found(self.PATHS, "store/db.go", "go", root, self.MANIFESTS) == "main.go"

    def test_tests_see_the_tests_of_their_package(self) -> None:
        modules = Modules(self.PATHS.split(), self.MANIFESTS)
        assert modules.find_siblings("store/db_test.go", "go") == (
            "store/db.go",
            "store/db_test.go",
            "store/mem.go",
        )
        assert "store/db_test.go" not in modules.find_siblings("store/db.go", "go")

    @pytest.mark.parametrize(
        ("module", "library"),
        [
            ("fmt", "fmt"),
            ("net/http", "net/http"),
            ("github.com/lib/pq/oid", "github.com/lib/pq"),
            ("golang.org/x/net/html", "golang.org/x/net"),
            ("gopkg.in/yaml.v3", "gopkg.in/yaml.v3"),
            ("github.com/acme/shop/gone", None),
        ],
    )
    def test_a_library_is_a_repository(self, module: str, library: str | None) -> None:
        assert Modules(self.PATHS.split(), self.MANIFESTS).find_library("go", module) == library


class TestRust:
    PATHS = """
        Cargo.toml src/lib.rs src/shapes.rs src/shapes/circle.rs src/draw/mod.rs src/draw/pen.rs
        tests/smoke.rs tests/common/mod.rs tools/gen/Cargo.toml tools/gen/src/lib.rs
    """
    MANIFESTS: ClassVar = {
        "Cargo.toml": '[package]\nname = "geo-core"',
        "tools/gen/Cargo.toml": '[package]\nname = "gen"',
    }

    @pytest.mark.parametrize(
        ("importer", "module", "file"),
        [
            ("src/lib.rs", "crate::shapes", "src/shapes.rs"),
            ("src/shapes.rs", "self::circle", "src/shapes/circle.rs"),
            ("src/shapes/circle.rs", "super", "src/shapes.rs"),
            ("src/shapes/circle.rs", "super::super::draw", "src/draw/mod.rs"),
            ("src/draw/pen.rs", "super", "src/draw/mod.rs"),
            ("src/draw/pen.rs", "crate", "src/lib.rs"),
            ("tests/smoke.rs", "geo_core::shapes::circle", "src/shapes/circle.rs"),
            ("tests/smoke.rs", "self::common", "tests/common/mod.rs"),
            ("src/lib.rs", "gen", "tools/gen/src/lib.rs"),
            ("src/lib.rs", "std::fmt", ""),
            ("src/lib.rs", "serde::de", ""),
        ],
    )
    def test_a_path_leads_to_a_file(self, importer: str, module: str, file: str) -> None:
        assert found(self.PATHS, importer, "rust", module, self.MANIFESTS) == file

    def test_a_name_that_is_not_a_module_is_left_over(self) -> None:
        modules = Modules(self.PATHS.split(), self.MANIFESTS)
        assert modules.locate("src/lib.rs", "rust", "crate::shapes::Kind::Flat") == (
            ("src/shapes.rs",),
            ("Kind", "Flat"),
        )

    def test_a_library_is_a_crate(self) -> None:
        modules = Modules(self.PATHS.split(), self.MANIFESTS)
        assert modules.find_library("rust", "serde::de::Error") == "serde"
        assert modules.find_library("rust", "crate::gone") is None
        assert modules.find_library("rust", "geo_core::gone") is None


class TestJvm:
    PATHS = """
        src/main/java/com/acme/Account.java src/main/java/com/acme/util/Text.java
        src/main/java/com/acme/util/Dates.kt src/test/java/com/acme/AccountTest.java
        other/src/main/java/org/example/util/Far.java
        a/src/main/kotlin/demo/Same.kt b/src/main/kotlin/demo/Same.kt
    """

    def test_a_class_is_a_file_and_a_package_a_directory(self) -> None:
        importer = "src/main/java/com/acme/Account.java"
        assert found(self.PATHS, importer, "java", "com.acme.util.Text").endswith("Text.java")
        assert found(self.PATHS, importer, "java", "com.acme.util") == (
            "src/main/java/com/acme/util/Dates.kt src/main/java/com/acme/util/Text.java"
        )
        assert found(self.PATHS, importer, "java", "util") == ""

    def test_classes_are_left_over(self) -> None:
        modules = Modules(self.PATHS.split())
        located = modules.locate("X.java", "java", "com.acme.Account.State")
        assert located == (("src/main/java/com/acme/Account.java",), ("Account", "State"))

    def test_if_two_builds_have_a_package_the_importers_build_is_meant(self) -> None:
        own = found(self.PATHS, "b/src/main/kotlin/Main.kt", "kotlin", "demo")
        assert own == "b/src/main/kotlin/demo/Same.kt"
        assert found(self.PATHS, "src/main/java/Main.java", "java", "demo") == ""

    def test_tests_share_the_package_of_what_they_test(self) -> None:
        siblings = Modules(self.PATHS.split()).find_siblings(
            "src/test/java/com/acme/AccountTest.java", "java"
        )
        assert "src/main/java/com/acme/Account.java" in siblings

    def test_a_library_has_two_names_or_the_one_of_its_language(self) -> None:
        modules = Modules(self.PATHS.split())
        assert modules.find_library("java", "org.junit.jupiter.api") == "org.junit"
        assert modules.find_library("java", "java.util") == "java"
        assert modules.find_library("kotlin", "com.acme.util.gone") is None


class TestC:
    PATHS = "src/net/tcp.c src/net/tcp.h include/shop/net.h a/config.h b/config.h"

    @pytest.mark.parametrize(
        ("module", "file"),
        [
            ("tcp.h", "src/net/tcp.h"),
            ("../net/tcp.h", "src/net/tcp.h"),
            ("shop/net.h", "include/shop/net.h"),
            ("config.h", ""),
            ("stdio.h", ""),
        ],
    )
    def test_an_include_leads_to_a_file(self, module: str, file: str) -> None:
        assert found(self.PATHS, "src/net/tcp.c", "c", module) == file

    def test_libraries_are_headers_of_others(self) -> None:
        modules = Modules(self.PATHS.split())
        assert modules.find_library("c", "stdio.h") == "stdio"
        assert modules.find_library("cpp", "gtest/gtest.h") == "gtest"
        assert modules.find_library("cpp", "vector") == "std"
        assert modules.find_library("cpp", "shop::net") is None
        assert modules.find_library("c", "config.h") is None


class TestOthers:
    @pytest.mark.parametrize(
        ("language", "importer", "module", "file"),
        [
            ("ruby", "lib/a/b.rb", "./c", "lib/a/c.rb"),
            ("ruby", "test/t.rb", "a/c", "lib/a/c.rb"),
            ("ruby", "test/t.rb", "c", ""),
            ("lua", "x.lua", "plug.core", "lua/plug/core.lua"),
            ("lua", "x.lua", "plug", "lua/plug/init.lua"),
            ("bash", "bin/run.sh", "../lib/log.sh", "lib/log.sh"),
            ("bash", "bin/run.sh", "$HERE/../lib/log.sh", "lib/log.sh"),
            ("bash", "bin/run.sh", "$HOME/.env", ""),
            ("haskell", "app/Main.hs", "Text.Parse", "src/Text/Parse.hs"),
            ("zig", "src/main.zig", "util.zig", "src/util.zig"),
            ("zig", "src/main.zig", "std", ""),
            ("php", "public/index.php", "../app/boot.php", "app/boot.php"),
            ("csharp", "A.cs", "Acme.Web", ""),
            ("swift", "A.swift", "Foundation", ""),
            ("elixir", "a.ex", "Jobs.Queue", ""),
            ("cobol", "a.cbl", "anything", ""),
        ],
    )
    def test_a_module_leads_to_a_file(
        self, language: str, importer: str, module: str, file: str
    ) -> None:
        paths = """
            lib/a/b.rb lib/a/c.rb x/c.rb y/c.rb lua/plug/core.lua lua/plug/init.lua lib/log.sh
            src/Text/Parse.hs src/util.zig app/boot.php app/Models/User.php
        """
        assert found(paths, importer, language, module) == file

    def test_php_classes_follow_composer_or_their_own_name(self) -> None:
        manifests = {"composer.json": '{"autoload": {"psr-4": {"Shop\\\\": "lib/"}}}'}
        modules = Modules(["lib/Cart/Item.php", "app/Models/User.php"], manifests)
        assert modules.find_submodule("x.php", "php", "Shop\\Cart", "Item") == (
            "lib/Cart/Item.php",
        )
        assert modules.find_submodule("x.php", "php", "App\\Models", "User") == (
            "app/Models/User.php",
        )
        assert modules.find_submodule("x.php", "php", "Psr\\Log", "User") == ()
        assert modules.find_library("php", "Psr\\Log") == "Psr"
        assert modules.find_library("php", "Shop\\Gone") is None

    @pytest.mark.parametrize(
        ("language", "module", "library"),
        [
            ("ruby", "json", "json"),
            ("ruby", "active_support/core_ext", "active_support"),
            ("ruby", "./gone", None),
            ("csharp", "System.Text.Json", "System"),
            ("csharp", "Microsoft.Extensions.Logging", "Microsoft.Extensions"),
            ("swift", "Foundation", "Foundation"),
            ("swift", "Shop", None),
            ("elixir", "Ecto.Query", "Ecto"),
            ("lua", "dkjson", "dkjson"),
            ("haskell", "Data.Map.Strict", "Data.Map"),
            ("zig", "std", "std"),
            ("bash", "./gone.sh", None),
            ("cobol", "anything", None),
        ],
    )
    def test_libraries_have_names(self, language: str, module: str, library: str | None) -> None:
        assert Modules(["Sources/Shop/App.swift"]).find_library(language, module) == library

    def test_the_order_of_the_files_does_not_matter(self) -> None:
        paths = TestPython.PATHS.split() + TestJavaScript.PATHS.split()
        for module in ("shop.cart", "lib.text", "helpers"):
            one = Modules(paths).find("tools/run.py", "python", module)
            assert one == Modules(paths[::-1]).find("tools/run.py", "python", module)
