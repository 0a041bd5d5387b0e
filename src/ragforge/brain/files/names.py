"""Names: which files and directories are left out because of their names."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias

from ragforge.brain.files.secret_files import is_secret_file
from ragforge.domain.text import split_words
from ragforge.records import dataclass

SkipReason: TypeAlias = Literal[
    "ignored",
    "version control",
    "vendored",
    "secret",  # keys and passwords: never read
    "binary",
    "too large",
    "minified",
    "generated",
    "translation",
    "unreadable",
    "special",  # a pipe, a socket, a device: never opened
    "link",  # its target is found under its own name
    "outside",  # a link that leaves the project
    "name",  # not valid UTF-8, or too long for the store
    "too many",
    "outline",  # too many scopes for the size of its text, which is stored in chunks
    "costly",  # parsing it took too much time or memory; if only time, its text is in chunks
    "depth",  # what is nested too deeply in it is missing
]


VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".jj", ".bzr", "CVS", "_darcs"})
VENDORED = split_words(
    """
    node_modules bower_components jspm_packages site-packages third_party __pycache__
    .venv .tox .nox .eggs .mypy_cache .pytest_cache .ruff_cache .hypothesis .gradle .terraform
    .next .nuxt .svelte-kit .parcel-cache .yarn .pnpm-store .dart_tool .bundle elm-stuff
    """
)
# Names alone are not enough: CPython has a package `venv`, Rails keeps own code in `vendor`.
FOREIGN_ANYWHERE = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})
FOREIGN_IN_VENDOR = frozenset({"modules.txt", "autoload.php"})

# Endings that text files share are left out: `.pt` is also a page template, `.mo` Modelica.
BINARY = split_words(
    """
    png jpg jpeg gif bmp ico icns webp avif heic tif tiff psd xcf
    mp3 mp4 m4a m4v wav ogg oga ogv flac aac avi mov mkv webm
    woff woff2 ttf otf eot ttc
    zip gz tgz bz2 xz zst 7z rar jar war ear whl egg gem nupkg apk ipa dmg iso deb rpm crate
    exe dll so dylib o pyc pyo pyd class wasm beam elc
    sqlite sqlite3 db mdb parquet feather arrow avro npy npz h5 hdf5 pkl pickle
    safetensors onnx gguf tflite pth ckpt
    pdf docx xlsx pptx odt ods odp epub gmo ds_store
    """
)
MESSAGES = "/LC_MESSAGES/"
# They repeat the texts of the code in each language, and would hide the code in searches.
TRANSLATIONS = frozenset({"po", "xlf", "xliff"})
MINIFIED = (".min.js", ".min.mjs", ".min.cjs", ".min.css")
GENERATED = split_words(
    """
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock
    poetry.lock pipfile.lock uv.lock pdm.lock pixi.lock conda-lock.yml
    cargo.lock composer.lock gemfile.lock mix.lock podfile.lock package.resolved pubspec.lock
    packages.lock.json flake.lock gradle.lockfile go.sum go.work.sum .terraform.lock.hcl
    """
)
DRAFT = ".ragforge-"
"""How files begin that RagForge writes before it puts them in their place."""
GENERATED_ENDS = (
    *(".map", ".snap", ".ambr"),
    *(".pb.go", ".pb.gw.go", ".pb.cc", ".pb.h", "_pb2.py", "_pb2.pyi", "_pb2_grpc.py"),
    *(".g.dart", ".freezed.dart", ".g.cs", ".designer.cs"),
)


NOTEBOOK = ".ipynb"


def check_filename(path: str) -> SkipReason | None:
    """Return why a file of this name is not indexed, or None."""
    if is_secret_file(path):
        return "secret"
    lower = path.rpartition("/")[2].lower()
    if lower.startswith(DRAFT):
        return "generated"
    _, dot, extension = lower.rpartition(".")
    if dot and (extension in BINARY or (extension == "mo" and MESSAGES in path)):
        return "binary"
    if dot and extension in TRANSLATIONS:
        return "translation"
    if lower.endswith(MINIFIED):
        return "minified"
    if lower in GENERATED or lower.endswith(GENERATED_ENDS):
        return "generated"
    return None


def check_directory_name(name: str) -> SkipReason | None:
    """Return why nothing in a directory of this name is the project's own, or None."""
    if name in VERSION_CONTROL:
        return "version control"
    return "vendored" if name in VENDORED else None


def is_foreign(name: str, children: Collection[str]) -> bool:
    """Tell whether a directory with these children was created by a package manager."""
    if not FOREIGN_ANYWHERE.isdisjoint(children):
        return True
    return name == "vendor" and not FOREIGN_IN_VENDOR.isdisjoint(children)


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Larger files, and more of them, are left out."""

    max_bytes: int = 1_000_000
    max_files: int = 200_000
    notebook_factor: int = 10
    """The outputs in a notebook make it large; they are not kept."""

    def is_too_large(self, path: str, size: int) -> bool:
        """Tell whether a file is larger than one of its kind may be."""
        return size > self.max_bytes and (
            not path.endswith(NOTEBOOK) or size > self.max_bytes * self.notebook_factor
        )
