"""Table: all languages, how their files are recognised, and where their values are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib import import_module

from ragforge.brain.languages.language import Language
from ragforge.records import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One language."""

    name: str
    endings: str  # of its files, without the dot
    value: str = ""  # "<module>:<constant>"; without one, its files are cut into chunks
    filenames: str = ""  # of files that have no such ending, in lower case
    manifests: str = ""  # files that decide what imports mean
    is_document: bool = False  # documents are searched apart from code


ROWS = (
    Row(
        "bash",
        "sh bash zsh ksh bats",
        ".shell:BASH",
        """.bash_aliases .bash_login .bash_logout .bash_profile .bashrc .envrc .profile
        .zprofile .zshenv .zshrc pkgbuild""",
    ),
    Row("c", "c h", ".c:C"),
    Row("cpp", "cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp ixx cppm", ".c:CPP"),
    Row("csharp", "cs csx", ".csharp:CSHARP"),
    Row("elixir", "ex exs", ".elixir:ELIXIR"),
    Row("go", "go", ".go:GO", manifests="go.mod"),
    Row("haskell", "hs", ".haskell:HASKELL"),
    Row("java", "java", ".jvm:JAVA"),
    Row(
        "javascript",
        "js jsx mjs cjs",
        ".javascript:JAVASCRIPT",
        manifests="package.json tsconfig.json jsconfig.json",
    ),
    Row("kotlin", "kt kts", ".jvm:KOTLIN"),
    Row("lua", "lua", ".lua:LUA"),
    Row("php", "php phtml php5 phps", ".php:PHP", manifests="composer.json"),
    Row("python", "py pyi pyw", ".python:PYTHON", "sconscript sconstruct wscript"),
    Row(
        "ruby",
        "rb rake gemspec ru",
        ".ruby:RUBY",
        """appraisals brewfile capfile dangerfile fastfile gemfile guardfile podfile
        rakefile thorfile vagrantfile .irbrc .pryrc""",
    ),
    Row("rust", "rs", ".rust:RUST", manifests="Cargo.toml"),
    Row("scala", "scala sc sbt", ".jvm:SCALA"),
    Row("swift", "swift", ".swift:SWIFT"),
    Row("tsx", "tsx", ".javascript:TSX"),
    Row("typescript", "ts mts cts", ".javascript:TYPESCRIPT"),
    Row("zig", "zig", ".zig:ZIG"),
    # Documents, most of which are cut at their headings.
    Row("asciidoc", "adoc asciidoc", is_document=True),
    Row("latex", "tex bib", is_document=True),
    Row("markdown", "md markdown mdx mdown mkd", is_document=True),
    Row("notebook", "ipynb", is_document=True),
    Row("org", "org", is_document=True),
    Row("restructuredtext", "rst", is_document=True),
    Row("text", "txt text log", is_document=True),
    # The files of these are cut into chunks.
    Row("batch", "bat cmd"),
    Row("clojure", "clj cljs cljc edn"),
    Row("cmake", "cmake", filenames="cmakelists.txt"),
    Row("css", "css scss sass less"),
    Row("csv", "csv tsv"),
    Row("dart", "dart"),
    Row("dockerfile", "dockerfile", filenames="dockerfile containerfile"),
    Row("erlang", "erl hrl"),
    Row("fsharp", "fs fsi fsx"),
    Row("graphql", "graphql gql"),
    Row("groovy", "groovy gradle", filenames="jenkinsfile"),
    Row("hcl", "tf tfvars hcl"),
    Row("html", "html htm xhtml jinja j2"),
    Row("ini", "ini cfg conf properties editorconfig"),
    Row("json", "json jsonc json5 jsonl"),
    Row("julia", "jl"),
    Row("makefile", "mk mak", filenames="makefile gnumakefile"),
    Row("nix", "nix"),
    Row("ocaml", "ml mli"),
    Row("perl", "pl pm"),
    Row("powershell", "ps1 psm1"),
    Row("protobuf", "proto"),
    Row("r", "r"),
    Row("solidity", "sol"),
    Row("sql", "sql"),
    Row("svelte", "svelte"),
    Row("toml", "toml", filenames="cargo.lock poetry.lock pipfile"),
    Row("vim", "vim"),
    Row("vue", "vue"),
    Row("xml", "xml svg xsd xsl xslt plist"),
    Row("yaml", "yaml yml"),
)


class LanguageTable:
    """Languages by name, by the names of their files, and by those of their manifests."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = {row.name: row for row in rows}
        self.by_ending = {end: row.name for row in rows for end in row.endings.split()}
        self.by_filename = {name: row.name for row in rows for name in row.filenames.split()}
        self.manifests = frozenset(name for row in rows for name in row.manifests.split())
        self._loaded: dict[str, Language | None] = {}

    def load(self, name: str) -> Language | None:
        """Import a language's value when it is first needed: a project has one or two."""
        if name not in self._loaded:
            row = self.rows.get(name)
            self._loaded[name] = _import_value(row.value) if row and row.value else None
        return self._loaded[name]


def _import_value(value: str) -> Language:
    module, constant = value.split(":")
    language = getattr(import_module(module, __package__), constant)
    assert isinstance(language, Language)
    return language


TABLE = LanguageTable(ROWS)


def detect_language(path: str) -> str | None:
    """Return the language of a file by the file's name, None if it is unknown."""
    filename = path.rpartition("/")[2].lower()  # not by pathlib: there may be very many
    if found := TABLE.by_filename.get(filename):
        return found
    if filename.startswith(("dockerfile.", "containerfile.")):
        return "dockerfile"
    stem, _, ending = filename.rpartition(".")
    return TABLE.by_ending.get(ending if stem else "")


def find_language(name: str | None) -> Language | None:
    """Return what is known of a language, None if its files are not parsed."""
    return TABLE.load(name) if name else None


def find_family(name: str | None) -> str | None:
    """Return the family of a language, None if its files are not parsed."""
    language = find_language(name)
    return language.names.family if language else None


def is_manifest(path: str) -> bool:
    """Tell whether a file decides what the imports of other files mean."""
    return path.rpartition("/")[2] in TABLE.manifests


def pick_manifests(paths: Iterable[str]) -> list[str]:
    """Return those of many files that decide what the imports of others mean."""
    ends = tuple(TABLE.manifests)  # nearly all files end otherwise
    return [path for path in paths if path.endswith(ends) and is_manifest(path)]


def is_document(name: str | None) -> bool:
    """Tell whether the files of a language are documents, not code."""
    row = TABLE.rows.get(name or "")
    return row is not None and row.is_document


@lru_cache(1 << 14)
def is_document_path(path: str) -> bool:
    """Tell whether a file is a document by its name."""
    return is_document(detect_language(path))
