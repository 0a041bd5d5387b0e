"""Table: all languages, how their files are recognised, and where their values are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec

from ragforge.brain.languages.language import Language
from ragforge.records import dataclass


@dataclass(frozen=True, slots=True)
class LanguageRow:
    """One language."""

    name: str
    endings: str  # of its files, without the dot
    value: str = ""  # "<module>:<constant>"; without one, its files are cut into chunks
    filenames: str = ""  # of files that have no such ending, in lower case
    manifests: str = ""  # files that decide what imports mean
    is_document: bool = False  # documents are searched apart from code


ROWS = (
    LanguageRow(
        "bash",
        "sh bash zsh ksh bats",
        ".shell:BASH",
        """.bash_aliases .bash_login .bash_logout .bash_profile .bashrc .envrc .profile
        .zprofile .zshenv .zshrc pkgbuild""",
    ),
    LanguageRow("c", "c h", ".c:C"),
    LanguageRow("cpp", "cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp ixx cppm", ".c:CPP"),
    LanguageRow("csharp", "cs csx", ".csharp:CSHARP"),
    LanguageRow("elixir", "ex exs", ".elixir:ELIXIR"),
    LanguageRow("go", "go", ".go:GO", manifests="go.mod"),
    LanguageRow("haskell", "hs", ".haskell:HASKELL"),
    LanguageRow("java", "java", ".jvm:JAVA"),
    LanguageRow(
        "javascript",
        "js jsx mjs cjs",
        ".javascript:JAVASCRIPT",
        manifests="package.json tsconfig.json jsconfig.json",
    ),
    LanguageRow("kotlin", "kt kts", ".jvm:KOTLIN"),
    LanguageRow("lua", "lua", ".lua:LUA"),
    LanguageRow("php", "php phtml php5 phps", ".php:PHP", manifests="composer.json"),
    LanguageRow("python", "py pyi pyw", ".python:PYTHON", "sconscript sconstruct wscript"),
    LanguageRow(
        "ruby",
        "rb rake gemspec ru",
        ".ruby:RUBY",
        """appraisals brewfile capfile dangerfile fastfile gemfile guardfile podfile
        rakefile thorfile vagrantfile .irbrc .pryrc""",
    ),
    LanguageRow("rust", "rs", ".rust:RUST", manifests="Cargo.toml"),
    LanguageRow("scala", "scala sc sbt", ".jvm:SCALA"),
    LanguageRow("swift", "swift", ".swift:SWIFT"),
    LanguageRow("tsx", "tsx", ".javascript:TSX"),
    LanguageRow("typescript", "ts mts cts", ".javascript:TYPESCRIPT"),
    LanguageRow("zig", "zig", ".zig:ZIG"),
    # Documents, most of which are cut at their headings.
    LanguageRow("asciidoc", "adoc asciidoc", is_document=True),
    LanguageRow("latex", "tex bib", is_document=True),
    LanguageRow("markdown", "md markdown mdx mdown mkd", is_document=True),
    LanguageRow("notebook", "ipynb", is_document=True),
    LanguageRow("org", "org", is_document=True),
    LanguageRow("restructuredtext", "rst", is_document=True),
    LanguageRow("text", "txt text log", is_document=True),
    # The files of these are cut into chunks.
    LanguageRow("batch", "bat cmd"),
    LanguageRow("clojure", "clj cljs cljc edn"),
    LanguageRow("cmake", "cmake", filenames="cmakelists.txt"),
    LanguageRow("css", "css scss sass less"),
    LanguageRow("csv", "csv tsv"),
    LanguageRow("dart", "dart"),
    LanguageRow("dockerfile", "dockerfile", filenames="dockerfile containerfile"),
    LanguageRow("erlang", "erl hrl"),
    LanguageRow("fsharp", "fs fsi fsx"),
    LanguageRow("graphql", "graphql gql"),
    LanguageRow("groovy", "groovy gradle", filenames="jenkinsfile"),
    LanguageRow("hcl", "tf tfvars hcl"),
    LanguageRow("html", "html htm xhtml jinja j2"),
    LanguageRow("ini", "ini cfg conf properties editorconfig"),
    LanguageRow("json", "json jsonc json5 jsonl"),
    LanguageRow("julia", "jl"),
    LanguageRow("makefile", "mk mak", filenames="makefile gnumakefile"),
    LanguageRow("nix", "nix"),
    LanguageRow("ocaml", "ml mli"),
    LanguageRow("perl", "pl pm"),
    LanguageRow("powershell", "ps1 psm1"),
    LanguageRow("protobuf", "proto"),
    LanguageRow("r", "r"),
    LanguageRow("solidity", "sol"),
    LanguageRow("sql", "sql"),
    LanguageRow("svelte", "svelte"),
    LanguageRow("toml", "toml", filenames="cargo.lock poetry.lock pipfile"),
    LanguageRow("vim", "vim"),
    LanguageRow("vue", "vue"),
    LanguageRow("xml", "xml svg xsd xsl xslt plist"),
    LanguageRow("yaml", "yaml yml"),
)


class LanguageTable:
    """Languages by name, by the names of their files, and by those of their manifests."""

    def __init__(self, rows: Sequence[LanguageRow]) -> None:
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


@cache
def has_grammar(name: str | None) -> bool:
    """Tell whether a language's files can be parsed here; rare grammars are an extra."""
    language = find_language(name)
    return language is not None and find_spec(language.grammar.partition(":")[0]) is not None


def lacks_grammar(path: str) -> bool:
    """Tell whether a file would be parsed if the grammar of its language was installed."""
    name = detect_language(path)
    return find_language(name) is not None and not has_grammar(name)


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
