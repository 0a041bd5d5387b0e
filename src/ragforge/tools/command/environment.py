"""Environment: where programs come from, and the few variables they see."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Mapping

from ragforge.domain.text import split_words
from ragforge.tools.confine import Root

TRUSTED_DIRECTORIES = """
    /usr/bin /bin /usr/local/bin /opt/homebrew/bin /run/current-system/sw/bin
    """.split()  # noqa: SIM905
# ripgrep comes as a wheel: in the directory of our interpreter it is as trusted as we are.
_OURS = frozenset({"rg"})


def find_program(name: str, root: str, in_path: bool = False) -> str | None:
    """Return the path of a program in a trusted directory, never one from the project.

    With `in_path` also one that the user's own PATH has outside the project.
    """
    own = os.environ.get("PATH", "").split(os.pathsep) if in_path else []
    for folder in (*TRUSTED_DIRECTORIES, *filter(os.path.isabs, own)):
        path = os.path.join(folder, name)
        places = (os.path.abspath(path), os.path.realpath(path), os.path.realpath(folder))
        if _is_program(path) and not any(map(Root(root).holds, places)):
            return path
    if name in _OURS:
        path = os.path.join(sysconfig.get_path("scripts"), name)
        if _is_program(path):
            return path
    return None


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


# What approved commands need of the user's environment. It is a list of what is needed, for what
# must be hidden (tokens, keys, addresses with passwords) has any name.
_PASSED_ON = split_words(
    """
    PATH HOME USER LOGNAME SHELL PWD LANG LANGUAGE TERM COLORTERM COLUMNS LINES TZ NO_COLOR
    FORCE_COLOR CLICOLOR CI DEBIAN_FRONTEND XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME
    VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV PYTHONPATH PYTHONHASHSEED PYTHONUNBUFFERED
    PYTHONDONTWRITEBYTECODE PYTHONWARNINGS PYENV_ROOT PYENV_VERSION PIPX_HOME UV_CACHE_DIR
    POETRY_HOME CARGO_HOME CARGO_TARGET_DIR RUSTUP_HOME RUSTUP_TOOLCHAIN RUSTFLAGS RUST_BACKTRACE
    RUST_LOG GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOFLAGS GOTOOLCHAIN GOOS GOARCH CGO_ENABLED
    NVM_DIR NVM_BIN NODE_PATH NODE_ENV NODE_VERSION PNPM_HOME VOLTA_HOME BUN_INSTALL DENO_DIR
    JAVA_HOME JDK_HOME MAVEN_HOME M2_HOME GRADLE_HOME GRADLE_USER_HOME ANDROID_HOME
    ANDROID_SDK_ROOT GEM_HOME GEM_PATH RBENV_ROOT RBENV_VERSION RUBYLIB BUNDLE_PATH COMPOSER_HOME
    DOTNET_ROOT DOTNET_CLI_HOME CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS PKG_CONFIG_PATH
    LD_LIBRARY_PATH DYLD_LIBRARY_PATH LIBRARY_PATH CPATH CMAKE_PREFIX_PATH CMAKE_GENERATOR
    CUDA_HOME CUDA_PATH CUDA_VISIBLE_DEVICES NIX_PATH NIX_SSL_CERT_FILE SSL_CERT_FILE SSL_CERT_DIR
    REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS
    SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT TEMP TMP USERPROFILE APPDATA LOCALAPPDATA
    PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) HOMEDRIVE HOMEPATH NUMBER_OF_PROCESSORS
    """
)
_PROXIES = split_words("http_proxy https_proxy ftp_proxy all_proxy no_proxy")
_CREDENTIALS = re.compile(r"^([a-z0-9+.-]+://)?[^/@\s]*@", re.IGNORECASE)


def select_variables(environ: Mapping[str, str], further: Iterable[str] = ()) -> dict[str, str]:
    """Return the environment of an approved command: what is on the list, and what the user adds.

    Proxies are passed on without their credentials.
    """
    wanted = {*further}
    chosen = {
        name: value
        for name, value in environ.items()
        if name in _PASSED_ON or name.startswith("LC_") or name in wanted
    }
    for name, value in environ.items():
        if name.lower() in _PROXIES and name not in wanted:
            chosen[name] = _CREDENTIALS.sub(r"\1", value)
    return chosen


def build_variables(home: str) -> dict[str, str]:
    """Return the environment of a program; `home` is a separate, empty directory.

    Nothing of our own environment is passed on: neither keys nor variables that control programs.
    """
    return {
        "PATH": os.pathsep.join(path for path in TRUSTED_DIRECTORIES if os.path.isdir(path)),
        "HOME": home,
        "XDG_CONFIG_HOME": home,
        "XDG_CACHE_HOME": home,
        "TMPDIR": home,
        "LC_ALL": "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8",
        "TERM": "dumb",
        "PAGER": "cat",
    }


def build_git_variables(git_dir: str, work_tree: str) -> dict[str, str]:
    """Return the further variables for git: one repository, no configuration, no helpers."""
    return {
        "GIT_DIR": git_dir,
        "GIT_WORK_TREE": work_tree,
        "GIT_CEILING_DIRECTORIES": os.path.dirname(work_tree),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_PAGER": "cat",
        "GIT_EDITOR": "false",
        "GIT_ASKPASS": "false",
        "GIT_SSH_COMMAND": "false",
    }


# A second protection: `repository` already keeps the configuration from git.
GIT_SETTINGS = (
    f"--no-pager -c core.fsmonitor=false -c core.hooksPath={os.devnull} -c core.pager=cat "
    "-c core.sshCommand=false -c protocol.allow=never -c submodule.recurse=false "
    "-c diff.submodule=short -c log.showSignature=false"
).split()
