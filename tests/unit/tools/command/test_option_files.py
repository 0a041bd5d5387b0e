"""The files that list options: each of their keys is read, so that a misspelt one is noticed."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ragforge.tools.command import programs
from ragforge.tools.command.git import check
from ragforge.tools.command.options import ListedProgram
from ragforge.tools.command.programs import load_programs

KEYS = {"like", "flags", "takes", "maybe", "takes_one_of", "maybe_one_of", "instead", "default"}
KEYS |= {"operands", "counts", "run_as", "dashes", "describes"}
FILES = [
    (Path(programs.__file__).with_name("options.toml"), load_programs),
    (Path(check.__file__).with_name("subcommands.toml"), check.load_subcommands),
]


@pytest.mark.parametrize(("file", "load"), FILES, ids=["programs", "git"])
def test_every_section_has_only_keys_that_are_read(
    file: Path, load: Callable[[], Mapping[str, ListedProgram]]
) -> None:
    sections = tomllib.loads(file.read_text("utf-8"))
    groups = sections.pop("groups", {})
    unknown = {name: set(one) - KEYS for name, one in (sections | groups).items()}
    assert {name: keys for name, keys in unknown.items() if keys} == {}
    assert sections.keys() <= load().keys()
