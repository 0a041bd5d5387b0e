"""Languages: which language a file is in, by its name, and who knows that language."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import PurePosixPath

from ragforge.brain.parse.language import Language

_EXTENSIONS = {
    extension: language
    for language, extensions in {
        "bash": "sh bash zsh ksh bats",
        "c": "c h",
        "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp ixx cppm",
        "csharp": "cs csx",
        "elixir": "ex exs",
        "go": "go",
        "haskell": "hs",
        "java": "java",
        "javascript": "js jsx mjs cjs",
        "kotlin": "kt kts",
        "lua": "lua",
        "markdown": "md markdown mdx mdown mkd",
        "php": "php phtml php5 phps",
        "python": "py pyi pyw",
        "ruby": "rb rake gemspec ru",
        "rust": "rs",
        "scala": "scala sc sbt",
        "swift": "swift",
        "tsx": "tsx",
        "typescript": "ts mts cts",
        "zig": "zig",
        # Known by name only: documents are cut at their headings, others into chunks.
        "asciidoc": "adoc asciidoc",
        "batch": "bat cmd",
        "clojure": "clj cljs cljc edn",
        "cmake": "cmake",
        "css": "css scss sass less",
        "csv": "csv tsv",
        "dart": "dart",
        "dockerfile": "dockerfile",
        "erlang": "erl hrl",
        "fsharp": "fs fsi fsx",
        "graphql": "graphql gql",
        "groovy": "groovy gradle",
        "hcl": "tf tfvars hcl",
        "html": "html htm xhtml jinja j2",
        "ini": "ini cfg conf properties editorconfig",
        "json": "json jsonc json5 jsonl",
        "julia": "jl",
        "latex": "tex bib",
        "makefile": "mk mak",
        "nix": "nix",
        "notebook": "ipynb",
        "ocaml": "ml mli",
        "org": "org",
        "perl": "pl pm",
        "powershell": "ps1 psm1",
        "protobuf": "proto",
        "r": "r",
        "restructuredtext": "rst",
        "solidity": "sol",
        "sql": "sql",
        "svelte": "svelte",
        "text": "txt text log",
        "toml": "toml",
        "vim": "vim",
        "vue": "vue",
        "xml": "xml svg xsd xsl xslt plist",
        "yaml": "yaml yml",
    }.items()
    for extension in extensions.split()
}

_FILENAMES = {
    filename: language
    for language, filenames in {
        "bash": """.bash_aliases .bash_login .bash_logout .bash_profile .bashrc .envrc .profile
            .zprofile .zshenv .zshrc pkgbuild""",
        "cmake": "cmakelists.txt",
        "dockerfile": "dockerfile containerfile",
        "groovy": "jenkinsfile",
        "makefile": "makefile gnumakefile",
        "python": "sconscript sconstruct wscript",
        "ruby": """appraisals brewfile capfile dangerfile fastfile gemfile guardfile podfile
            rakefile thorfile vagrantfile .irbrc .pryrc""",
        "toml": "cargo.lock poetry.lock pipfile",
    }.items()
    for filename in filenames.split()
}

_FAMILIES = {
    "bash": "shell:BASH",
    "c": "c:C",
    "cpp": "c:CPP",
    "csharp": "csharp:CSHARP",
    "elixir": "elixir:ELIXIR",
    "go": "go:GO",
    "haskell": "haskell:HASKELL",
    "java": "jvm:JAVA",
    "javascript": "javascript:JAVASCRIPT",
    "kotlin": "jvm:KOTLIN",
    "lua": "lua:LUA",
    "php": "php:PHP",
    "python": "python:PYTHON",
    "ruby": "ruby:RUBY",
    "rust": "rust:RUST",
    "scala": "jvm:SCALA",
    "swift": "swift:SWIFT",
    "tsx": "javascript:TSX",
    "typescript": "javascript:TYPESCRIPT",
    "zig": "zig:ZIG",
}


def language_of(path: str) -> str | None:
    """Return the language of a file by its name, None if that says nothing."""
    filename = PurePosixPath(path).name.lower()
    if found := _FILENAMES.get(filename):
        return found
    if filename.startswith(("dockerfile.", "containerfile.")):
        return "dockerfile"
    return _EXTENSIONS.get(PurePosixPath(filename).suffix.removeprefix("."))


@cache
def language_named(name: str) -> Language | None:
    """Return what is known of a language, None if its files are not parsed."""
    if name not in _FAMILIES:
        return None
    module, constant = _FAMILIES[name].split(":")
    language = getattr(import_module(f"ragforge.brain.parse.{module}"), constant)
    assert isinstance(language, Language)
    return language
