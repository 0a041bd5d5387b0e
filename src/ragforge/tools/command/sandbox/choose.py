"""Choose: the sandbox that works on this machine."""

from __future__ import annotations

import platform
from typing import Literal, TypeAlias

from ragforge.records import dataclass
from ragforge.tools.command.sandbox import bubblewrap, landlock, seatbelt
from ragforge.tools.command.sandbox.policy import SandboxPolicy

Mode: TypeAlias = Literal["auto", "off", "required"]
REQUIRED = "tools.sandbox is `required`, and no sandbox works on this machine"


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A way to run programs apart."""

    kind: Literal["bubblewrap", "landlock", "seatbelt"]
    program: str = ""  # of bubblewrap
    version: int = 0  # of Landlock
    filters_sockets: bool = False  # where Landlock would close only TCP

    def wrap(self, policy: SandboxPolicy, path: str, words: list[str]) -> list[str]:
        """Return the command that runs a program, at a path and with its words, inside.

        bubblewrap looks for the program by its name, in PATH; the others are given its path.
        """
        if self.kind == "bubblewrap":
            return [*bubblewrap.build_prefix(self.program, policy), *words]
        if self.kind == "landlock":
            return [*landlock.build_prefix(policy, path), *words]
        return [*seatbelt.build_prefix(policy), path, *words[1:]]

    def place_temporary(self, folder: str) -> str:
        """Return where a program finds its directory for temporary files."""
        return bubblewrap.TEMPORARY if self.kind == "bubblewrap" else folder

    @property
    def closes_network(self) -> bool:
        """Tell whether all connections can be refused."""
        return self.kind != "landlock" or self.filters_sockets

    def list_limits(self, has_repository: bool = True) -> list[str]:
        """Return what this sandbox does not stop, as parts of a sentence."""
        # Those of macOS are reached by Mach messages, which its own libraries need too.
        limits = ["does not close services of this machine"] if self.kind == "seatbelt" else []
        if not self.closes_network:
            has_tcp = self.version < landlock.CLOSES_TCP
            limits.append(f"does not close {'the network' if has_tcp else 'UDP and unix sockets'}")
        if has_repository and self.kind == "landlock":
            limits.append("does not protect .git/hooks and .git/config")
        return limits

    def __str__(self) -> str:
        names = {
            "bubblewrap": f"bubblewrap ({self.program})",
            "landlock": f"Landlock, version {self.version}",
            "seatbelt": "sandbox-exec",
        }
        return "; ".join([names[self.kind], *self.list_limits()])


def find_sandbox(root: str, mode: Mode = "auto") -> Sandbox | None:
    """Return the best sandbox that works here, or None; what was tried once is kept."""
    if mode == "off":
        return None
    if bwrap := bubblewrap.find_bwrap(root):
        return Sandbox("bubblewrap", program=bwrap)
    if version := landlock.find_version():
        return Sandbox("landlock", version=version, filters_sockets=landlock.filters_sockets())
    return Sandbox("seatbelt") if seatbelt.is_usable() else None


def explain_absence(mode: Mode) -> str:
    """Return why there is no sandbox, as half a sentence."""
    if mode == "off":
        return "no sandbox: tools.sandbox is `off`"
    on_linux = platform.system() == "Linux"
    missing = "bubblewrap does not work here, and the kernel has no Landlock"
    return f"no sandbox: {missing if on_linux else 'this system has none that RagForge knows'}"
