"""Install: add the libraries of one of RagForge's extras to the environment it runs in.

What the extra needs is installed, not RagForge: it is there already, perhaps from a clone. The
files in `locks` name versions and hashes; `make lock` writes them.
"""

from __future__ import annotations

import importlib.util
import shlex
import shutil
import subprocess
import sys
from importlib import invalidate_caches
from pathlib import Path
from tempfile import TemporaryDirectory

from ragforge.child_python import python_command
from ragforge.config.services import SERVICES
from ragforge.domain.distribution import DISTRIBUTION, format_install_command
from ragforge.errors import ModelMissing
from ragforge.records import dataclass

_LOCKS = Path(__file__).resolve().with_name("locks")
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
    command = _choose_command()
    if command is None:
        return None
    lock = str(_LOCKS / f"{service.api}.txt")
    return Installation(service.api, (*command, "-r", lock))


def install(installation: Installation) -> None:
    """Run the command, whose output the user sees. Raises ModelMissing if it fails."""
    with TemporaryDirectory() as empty:  # the folder of a project may configure an index
        done = subprocess.run(installation.command, cwd=empty, check=False)
    invalidate_caches()
    if done.returncode:
        raise ModelMissing(
            f"The library for {installation.extra} could not be installed: "
            f"{installation.line} ended with {done.returncode}. Without RagForge's versions: "
            f"{format_install_command(installation.extra)}"
        )


def _is_installed(extra: str) -> bool:
    try:
        there = [importlib.util.find_spec(name) for name in ("pydantic_ai", _LIBRARIES[extra])]
    except ModuleNotFoundError:  # of `google.genai` without `google`
        return False
    return None not in there


def _choose_command() -> tuple[str, ...] | None:
    """Return the program that installs into this environment: who made it, keeps it."""
    prefix = Path(sys.prefix)
    if (prefix / "pipx_metadata.json").exists() and (pipx := shutil.which("pipx")):
        # `inject` does not read hashes.
        return (pipx, "runpip", DISTRIBUTION, "install", "--require-hashes")
    if (uv := shutil.which("uv")) and ((prefix / "uv-receipt.toml").exists() or not _has_pip()):
        # With --require-hashes, uv wants hashes of what is installed already too.
        return (uv, "pip", "install", "--no-config", "--verify-hashes", "--python", sys.executable)
    return tuple(python_command("pip", "install", "--require-hashes")) if _has_pip() else None


def _has_pip() -> bool:
    return importlib.util.find_spec("pip") is not None
