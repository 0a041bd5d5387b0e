"""The environment: which variables are settings, and which others RagForge knows."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from ragforge.config.dotted_keys import ALIASES, list_keys
from ragforge.config.problems import describe_unknown_variable

PREFIX = "RAGFORGE_"
SHORT_NAMES = {"RAGFORGE_STORE": "store.url"}
OTHER_NAMES = (
    "RAGFORGE_CONFIG",
    "RAGFORGE_DEBUG",
    "RAGFORGE_LOG",
    "RAGFORGE_NEO4J_JARS",
    "RAGFORGE_NEO4J_PASSWORD",
    "RAGFORGE_NEO4J_USER",
)
TEST_PREFIX = "RAGFORGE_TEST_"


def format_variable(key: str) -> str:
    """Return the variable of a key: jobs.lease_seconds → RAGFORGE_JOBS__LEASE_SECONDS."""
    return PREFIX + key.upper().replace(".", "__")


def read_settings(environ: Mapping[str, str], problems: list[str]) -> dict[str, tuple[str, str]]:
    """Return the variables that are settings: key → (variable, value).

    An empty variable counts as unset. Adds to the problems a name with `__` that is no
    setting, and a setting that is given under both its names.
    """
    names = {format_variable(alias): key for alias, key in ALIASES.items()}
    names |= {format_variable(key): key for key in list_keys()}
    found: dict[str, tuple[str, str]] = {}
    for variable, value in sorted(environ.items()):
        if not variable.startswith(PREFIX) or variable.startswith(TEST_PREFIX) or not value:
            continue
        key = SHORT_NAMES.get(variable) or names.get(variable)
        if key is None:
            if "__" in variable:
                problems.append(
                    describe_unknown_variable(variable, [*names, *SHORT_NAMES, *OTHER_NAMES])
                )
        elif key in found:
            problems.append(f"{found[key][0]} and {variable} both set {key!r}: keep one.")
        else:
            found[key] = (variable, value)
    return found


def find_doubtful_names(environ: Mapping[str, str]) -> dict[str, str]:
    """Return variables that look like a mistyped name: variable → the name that is known.

    They may belong to another program, so they are not an error.
    """
    known = [*SHORT_NAMES, *OTHER_NAMES]
    doubtful: dict[str, str] = {}
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name.startswith(TEST_PREFIX) or "__" in name:
            continue
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
        if name not in known and near:
            doubtful[name] = near[0]
    return doubtful
