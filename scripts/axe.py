"""axe-core, which checks pages for accessibility, installed into .cache by npm.

    python -m scripts.axe

Nothing of it is committed, and the package does not contain it.
"""

from __future__ import annotations

from pathlib import Path

from scripts.mcp_clients import install_packages

FOLDER = Path(__file__).parent.parent / ".cache" / "axe"
PACKAGES = {"axe-core": "4.14.0"}


def install_axe() -> Path:
    """Return the file with the script. Raises ClientsUnavailable."""
    return install_packages(FOLDER, PACKAGES) / "node_modules" / "axe-core" / "axe.min.js"


if __name__ == "__main__":
    print(install_axe())
