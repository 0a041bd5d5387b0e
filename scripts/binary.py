"""Binary: RagForge as one folder or file for machines without Python, built by PyInstaller.

`make binary` runs it after `make dist`, in an environment that it makes in `.cache/binary`. The
result is for the system that it is built on: dist/ragforge-SYSTEM-MACHINE.tar.gz (or .zip).
docs/decisions/27-distribution.md has the measurements behind the choice.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST, WORK = ROOT / "dist", ROOT / ".cache" / "binary"
EXTRAS = "acp,languages,mcp,openai,web"
ENTRY = '''
import os, runpy, sys

def main():
    """Be the program, or the Python that it starts for work apart."""
    inner = getattr(sys, "_MEIPASS", os.path.dirname(sys.executable))
    os.environ["PATH"] = os.pathsep.join((os.environ.get("PATH", ""), inner))
    if sys.argv[1:3] == ["-P", "-m"]:
        sys.argv = sys.argv[3:]
        module = "ragforge.__main__" if sys.argv[0] == "ragforge" else sys.argv[0]
        runpy.run_module(module, None, "__main__", True)
    elif sys.argv[1:3] == ["-I", "-S"]:
        sys.argv = sys.argv[3:]
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        from ragforge.cli.start import main
        main()

main()
'''


def build(*, one_file: bool) -> Path:
    """Build the program; return the file, or the folder that it is in."""
    python = WORK / "env" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not python.exists():
        venv.create(WORK / "env", with_pip=True)
    [wheel] = DIST.glob("ragforge_agent-*.whl")
    call(python, "-m", "pip", "install", "--quiet", "pyinstaller>=6.16", f"{wheel}[{EXTRAS}]")
    entry = WORK / "start_ragforge.py"
    entry.write_text(ENTRY)
    listed = "import pkgutil; print(*(m.name for m in pkgutil.iter_modules()))"
    modules = subprocess.run([python, "-c", listed], capture_output=True, text=True, check=True)
    grammars = [name for name in modules.stdout.split() if name.startswith("tree_sitter_")]
    collected = [part for name in ("ragforge", "Stemmer", *grammars) for part in _collect(name)]
    ripgrep = next(python.parent.glob("rg*"))
    call(
        *(python, "-m", "PyInstaller", "--noconfirm", "--log-level=WARN", "--name=ragforge"),
        *("--onefile" if one_file else "--onedir", "--console"),
        *(f"--distpath={WORK / 'built'}", f"--workpath={WORK / 'work'}", f"--specpath={WORK}"),
        *(*collected, "--copy-metadata=ragforge-agent", f"--add-binary={ripgrep}:.", entry),
    )
    return WORK / "built" / "ragforge"


def _collect(name: str) -> list[str]:
    return [f"--collect-all={name}" if name == "ragforge" else f"--collect-submodules={name}"]


def call(*command: object) -> None:
    subprocess.run(list(map(str, command)), check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one-file", action="store_true", help="a file that unpacks at each start")
    one_file = parser.parse_args().one_file
    shutil.rmtree(WORK / "built", ignore_errors=True)
    built = build(one_file=one_file)
    program = built if one_file else built / "ragforge"
    call(program, "--version")
    if one_file:
        print(f"{program}: {program.stat().st_size / 1e6:.0f} MB")
        return
    kind = "zip" if sys.platform == "win32" else "gztar"
    name = f"ragforge-{platform.system().lower()}-{platform.machine().lower()}"
    packed = Path(shutil.make_archive(str(DIST / name), kind, built.parent, built.name))
    print(f"{packed}: {packed.stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
