"""Modules that are found by the end of a path: Ruby's, Lua's, the shell's and Haskell's."""

from __future__ import annotations

import re

from ragforge.brain.modules.finder import NOTHING, Finder, Located
from ragforge.brain.modules.paths import joined, nearest, only, parent

_LOAD_PATHS = frozenset(("lib", "app", "test", "spec", "src", "models", "controllers"))
_VARIABLE = re.compile(r"^(?:\$\{?[^/]*|\$\([^)]*\))/")


class RubyModules(Finder):
    """`require_relative` is a path; `require` one below a directory such as `lib`."""

    def locate(self, importer: str, module: str) -> Located:
        file = module if module.endswith(".rb") else f"{module}.rb"
        if module.startswith("."):
            place = joined(parent(importer), file)
            found = self._paths.first((place,)) if place else ()
        else:
            found = nearest(
                [path for path in self._paths.ending(file) if _is_loaded(path, file)], importer
            )
        return (found, ()) if found else NOTHING

    def library(self, module: str) -> str | None:
        top = module.partition("/")[0]
        if not module or module[0] in "./" or "#{" in module:
            return None
        local = self._paths.ending(f"{module}.rb") or self._paths.ending(f"lib/{top}.rb")
        return None if local else top


class LuaModules(Finder):
    """`a.b` is `a/b.lua` or `a/b/init.lua`, wherever the one such file is."""

    def locate(self, importer: str, module: str) -> Located:
        base = module.replace(".", "/").strip("/")
        found = self._paths.ending(f"{base}.lua") or self._paths.ending(f"{base}/init.lua")
        return (only(found), ()) if base and len(found) == 1 else NOTHING

    def library(self, module: str) -> str | None:
        top = re.split(r"[./]", module)[0]
        local = not top or self._paths.directories_ending(f"lua/{top}")
        return None if local else top


class ShellModules(Finder):
    """A sourced file, from the script's directory or by the end after a variable."""

    def locate(self, importer: str, module: str) -> Located:
        plain = _VARIABLE.sub("", module)
        if "$" in plain or plain.startswith(("/", "~")):
            return NOTHING
        places = [joined(parent(importer), plain), joined("", plain)]
        found = self._paths.first(place for place in places if place)
        if not found and plain != module:
            found = only(self._paths.ending(plain.lstrip("./")))
        return (found, ()) if found else NOTHING


class HaskellModules(Finder):
    """`A.B.C` is the one file `A/B/C.hs`."""

    def locate(self, importer: str, module: str) -> Located:
        found = only(self._paths.ending(f"{module.replace('.', '/')}.hs"))
        return (found, ()) if found else NOTHING

    def library(self, module: str) -> str | None:
        names = module.split(".")
        if not names[0][:1].isupper() or self._paths.directories_ending(names[0]):
            return None
        return ".".join(names[:2]) or None


def _is_loaded(path: str, end: str) -> bool:
    root = path[: -len(end)].rstrip("/")
    return not root or root.rpartition("/")[2] in _LOAD_PATHS
