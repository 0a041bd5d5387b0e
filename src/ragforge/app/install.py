"""Install: add the libraries of one of RagForge's extras to the environment it runs in.

The extra's own requirements are installed, not RagForge: it is there already, perhaps from a clone.
"""

from __future__ import annotations

import importlib.util
import shlex
import shutil
import subprocess
import sys
from importlib import invalidate_caches
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from tempfile import TemporaryDirectory

from ragforge.child_python import python_command
from ragforge.config.services import SERVICES
from ragforge.domain.distribution import DISTRIBUTION
from ragforge.errors import ModelMissing
from ragforge.records import dataclass

_LIBRARIES = {"openai": "openai", "anthropic": "anthropic", "google": "google.genai"}
"""The module that each provider's extra brings."""


@dataclass(frozen=True, slots=True)
class Installation:
    """What would be installed, and how."""

    extra: str
    command: tuple[str, ...]

    @property
    def line(self) -> str:
        """The command as a person would type it."""
        return shlex.join(self.command)


def plan_installation(model: str) -> Installation | None:
    """Return how to install what a model needs, or None if it is there, or cannot be installed."""
    service = SERVICES.get(model.partition(":")[0])
    if service is None or _is_installed(service.api):
        return None
    wanted = _list_requirements(service.api)
    command = _choose_command() if wanted else None
    return None if command is None else Installation(service.api, (*command, *wanted))


def install(installation: Installation) -> None:
    """Run the command, whose output the user sees. Raises ModelMissing if it fails."""
    with TemporaryDirectory() as empty:  # the folder of a project may configure an index
        done = subprocess.run(installation.command, cwd=empty, check=False)
    invalidate_caches()
    if done.returncode:
        raise ModelMissing(
            f"The library for {installation.extra} could not be installed: "
            f"{installation.line} ended with {done.returncode}."
        )


def _is_installed(extra: str) -> bool:
    try:
        there = [importlib.util.find_spec(name) for name in ("pydantic_ai", _LIBRARIES[extra])]
    except ModuleNotFoundError:  # of `google.genai` without `google`
        return False
    return None not in there


def _list_requirements(extra: str) -> tuple[str, ...]:
    """Return what the installed RagForge says that an extra needs; nothing if it does not know."""
    try:
        lines = requires(DISTRIBUTION) or []
    except PackageNotFoundError:  # it runs from its source
        return ()
    parts = [line.partition(";") for line in lines]
    return tuple(
        wanted.strip()
        for wanted, _, condition in parts
        if condition.replace("'", '"').strip() == f'extra == "{extra}"'
    )


def _choose_command() -> tuple[str, ...] | None:
    """Return the program that installs into this environment: who made it, keeps it."""
    prefix = Path(sys.prefix)
    if (prefix / "pipx_metadata.json").exists() and (pipx := shutil.which("pipx")):
        return (pipx, "inject", DISTRIBUTION)
    if (uv := shutil.which("uv")) and ((prefix / "uv-receipt.toml").exists() or not _has_pip()):
        return (uv, "pip", "install", "--no-config", "--python", sys.executable)
    return tuple(python_command("pip", "install")) if _has_pip() else None


def _has_pip() -> bool:
    return importlib.util.find_spec("pip") is not None
