"""Programs: those on the list. Their options are in `options.toml`; a file has a family of them.

Of some, only the version may be asked. They run in an empty directory: proxies of toolchains
(cargo, npm, yarn, dotnet) would read files of the project that can name another program to run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

from ragforge.domain.text import split_words
from ragforge.tools.command import options
from ragforge.tools.command.options import CustomProgram, Kind, ListedProgram, Operands
from ragforge.tools.command.paths import WorkingDirectory
from ragforge.tools.command.plan import NotAllowed, Word
from ragforge.tools.command.programs import awk, files, jq, search, sed, text

_WITH_OPTION = split_words(
    "python python2 python3 pip pip3 pipx uv poetry pdm hatch ruff mypy black pytest node npm npx "
    "pnpm yarn bun deno tsc eslint prettier cargo rustc rustup rustfmt gcc g++ cc c++ clang "
    "clang++ make cmake ninja meson ruby gem bundle rake php composer perl dotnet swift java "
    "javac kotlin kotlinc scala mvn gradle lua luajit R Rscript julia ghc cabal stack elixir "
    "mix erl ocaml opam dart flutter zig nim docker docker-compose podman terraform ansible curl "
    "wget psql mysql sqlite3 redis-server nginx protoc bazel"
)
# Those that ask in their own way, and what else they may be given.
_OWN_WAYS = {
    "go": (("version",),),
    "java": (("-version",), ("--version",)),
    "javac": (("-version",), ("--version",)),
    "kubectl": (("version", "--client"), ("version", "--client=true")),
    "helm": (("version", "--short"), ("version", "--client")),
    "lua": (("-v",),),
    "ssh": (("-V",),),
    "nginx": (("-v",),),
    "scala": (("-version",), ("--version",)),
    "kotlin": (("-version",),),
    "terraform": (("version",), ("-version",)),
}


def _take_version(name: str) -> Callable[[WorkingDirectory, Sequence[Word]], list[str]]:
    def take(place: WorkingDirectory, words: Sequence[Word]) -> list[str]:
        given = tuple(word.text for word in words)
        if given in _OWN_WAYS.get(name, ()):
            return list(given)
        if name in _WITH_OPTION and given in (("-V",), ("-v",)):
            return ["--version"]
        raise NotAllowed("only its version may be asked, with --version")

    return take


VERSIONS = {
    name: CustomProgram(_take_version(name)) for name in sorted(_WITH_OPTION | set(_OWN_WAYS))
}
KINDS: Mapping[str, Kind] = {
    "text": options.text,
    "path": options.path,
    "layout": options.layout,
    "number": options.number,
    "signed": options.signed,
    "amount": options.amount,
    "ranges": options.ranges,
    "when": options.when,
    "date": options.date,
    **text.KINDS,
    **files.KINDS,
    **search.KINDS,
    **sed.KINDS,
    **awk.KINDS,
}
"""The kinds of values that `options.toml` names."""
OPERANDS: Mapping[str, Operands] = {
    "nothing": options.take_no_operands,
    "texts": options.take_texts,
    "paths": options.take_paths,
    "one_path": options.take_up_to(1),
    "two_paths": options.take_up_to(2),
    **text.OPERANDS,
    **files.OPERANDS,
    **search.OPERANDS,
    **sed.OPERANDS,
    **awk.OPERANDS,
}
"""What `options.toml` says of operands."""


@cache
def load_programs() -> Mapping[str, ListedProgram]:
    """Return every program that may run, but git."""
    rules = options.load_rules(Path(__file__).with_name("options.toml"), KINDS, OPERANDS)
    find = CustomProgram(partial(files.take_find, rules["find"].options))
    return {**rules, "find": find, **text.PROGRAMS, **files.PROGRAMS, **jq.PROGRAMS, **VERSIONS}
