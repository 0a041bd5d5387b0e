"""A private Neo4j server: fetched with Maven or run by Docker, for tests and trials.

    python scripts/neo4j_server.py [--port 7687] [--home FOLDER]

Needs only the standard library, and Java 17 or newer with Maven, or a Docker engine.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # not on Windows: there two first starts at once may both download
    fcntl = None  # type: ignore[assignment]

VERSION = "5.26.30"
OLDEST_JAVA = 17
CACHE = Path(__file__).resolve().parent.parent / ".cache"
START_SECONDS = 180
STOP_SECONDS = 60
DOWNLOAD_SECONDS = 1800
ENOUGH_BYTES = 6_000_000_000

_POM = f"""<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>ragforge</groupId><artifactId>neo4j-jars</artifactId><version>1</version>
  <packaging>pom</packaging>
  <dependencies><dependency>
    <groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>{VERSION}</version>
  </dependency></dependencies>
</project>
"""


class Neo4jUnavailable(Exception):
    """No Neo4j server can be had on this machine; the message says why."""


@dataclass(frozen=True, slots=True)
class _Engine:
    """One way of running a server: its command, and how to end it."""

    command: list[str]
    stop: Callable[[subprocess.Popen[bytes]], object]
    kill: Callable[[subprocess.Popen[bytes]], object]


class Neo4jServer:
    """A server on this machine, without a password; its data live in `home`.

    Used as a context manager it starts and stops. `stop` and `kill` keep port and data, so
    that `start` continues where it ended. A home that was not given is removed at the end.
    `settings` are Neo4j's own, in addition to those it needs.
    """

    def __init__(
        self,
        home: Path | None = None,
        port: int | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.port = _free_port() if port is None else port
        self._temporary = home is None
        self.home = _make_scratch() if home is None else home
        self.settings = dict(settings or {})
        self._process: subprocess.Popen[bytes] | None = None
        self._engine: _Engine | None = None

    @property
    def url(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int | None:
        """The process, while it runs: Java's, or that of the command which holds the container."""
        return None if self._process is None else self._process.pid

    @property
    def log(self) -> Path:
        return self.home / "console.log"

    def __enter__(self) -> Neo4jServer:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start it and wait until it answers. Raises Neo4jUnavailable."""
        if self._process is not None:
            return
        self.home.mkdir(parents=True, exist_ok=True)
        if self._engine is None:
            settings = _SETTINGS | (_FOR_TESTS if self._temporary else {}) | self.settings
            self._engine = _engine(self.home.resolve(), self.port, settings)
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                self._engine.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=os.environ | (_JAVA_FOR_TESTS if self._temporary else {}),
            )
        atexit.register(self.kill)
        try:
            self._wait_until_it_answers(self._process)
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """Shut it down in order; its data stay."""
        if self._process is None or self._engine is None:
            return
        self._engine.stop(self._process)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
        self._ended()

    def kill(self) -> None:
        """End it at once, as a crash would; its data stay."""
        if self._process is None or self._engine is None:
            return
        self._engine.kill(self._process)
        self._process.wait(STOP_SECONDS)
        self._ended()

    def restart(self) -> None:
        """Stop and start again on the same port and data."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Stop it, and remove its home if no caller asked for it."""
        if self._temporary:
            self.kill()
            shutil.rmtree(self.home, ignore_errors=True)
        else:
            self.stop()

    def wait(self) -> int:
        """Wait until the server ends by itself and return its exit code."""
        return 0 if self._process is None else self._process.wait()

    def _ended(self) -> None:
        self._process = None
        atexit.unregister(self.kill)

    def _wait_until_it_answers(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise Neo4jUnavailable(f"Neo4j ended while it started:\n{self._last_lines()}")
            # The port opens before the databases do: the log line comes last.
            if "Started." in self._read_log() and _answers(self.port):
                return
            time.sleep(0.1)
        raise Neo4jUnavailable(
            f"Neo4j did not start within {START_SECONDS} seconds:\n{self._last_lines()}"
        )

    def _read_log(self) -> str:
        return self.log.read_text("utf-8", "replace")

    def _last_lines(self) -> str:
        return "\n".join(self._read_log().splitlines()[-10:])


def _make_scratch() -> Path:
    """Return a new folder, in memory where there is room: a server syncs every write."""
    memory = Path("/dev/shm")
    has_room = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > ENOUGH_BYTES
    return Path(tempfile.mkdtemp(prefix="ragforge-neo4j-", dir=memory if has_room else None))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def _engine(home: Path, port: int, settings: dict[str, str]) -> _Engine:
    reasons = []
    for way in (_java_engine, _docker_engine):
        try:
            return way(home, port, settings)
        except Neo4jUnavailable as error:
            reasons.append(str(error))
    raise Neo4jUnavailable(
        "No Neo4j server can be started here. "
        + " ".join(reasons)
        + f" Install Java {OLDEST_JAVA} or newer with Maven, or start Docker."
    )


def _java_engine(home: Path, port: int, settings: dict[str, str]) -> _Engine:
    java = _java()
    jars = _jars()
    command = [java, "-Xmx1g"]
    command += [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED]
    command += ["-cp", str(jars / "*"), "org.neo4j.server.CommunityEntryPoint"]
    command += [f"--home-dir={home}", f"--config-dir={home / 'conf'}", "--console-mode"]
    address = {"server.bolt.listen_address": f"127.0.0.1:{port}"}
    for name, value in (address | settings).items():
        command += ["-c", f"{name}={value}"]
    return _Engine(command, lambda process: process.terminate(), lambda process: process.kill())


_OPENED = ("java.nio", "java.io", "sun.nio.ch")
_SETTINGS = {
    "server.http.enabled": "false",
    "dbms.security.auth_enabled": "false",
    "dbms.usage_report.enabled": "false",
}
# Tests empty the store all the time and ask with parameters of every length. Planning every query
# again each time takes longer than they do.
_FOR_TESTS = {
    "dbms.cypher.min_replan_interval": "1h",
    "internal.cypher.use_parameter_size": "false",
    "db.tx_log.preallocate": "false",
}
# A server that lives for minutes gains nothing from code that is compiled with care.
_JAVA_FOR_TESTS = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin")) if home else None
    java = java or shutil.which("java")
    if java is None:
        raise Neo4jUnavailable("There is no Java.")
    shown = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', shown)
    if found is None:
        raise Neo4jUnavailable(f"{java} does not run.")
    if int(found[1]) < OLDEST_JAVA:
        raise Neo4jUnavailable(f"Java {found[1]} is too old for Neo4j.")
    return java


def _jars() -> Path:
    """Return the folder of Neo4j's jars, fetching them the first time."""
    given = os.environ.get("RAGFORGE_NEO4J_JARS")
    folder = Path(given) if given else CACHE / f"neo4j-{VERSION}" / "lib"
    if _is_complete(folder):
        return folder
    maven = shutil.which("mvn")
    if maven is None:
        raise Neo4jUnavailable("There is no Maven to fetch Neo4j with.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with hold_lock(folder.parent / "fetch.lock"):
        if not _is_complete(folder):  # another process may have fetched it meanwhile
            _fetch_jars(maven, folder)
    return folder


def _is_complete(folder: Path) -> bool:
    return any(folder.glob("neo4j-server-*.jar"))


def _fetch_jars(maven: str, folder: Path) -> None:
    print(f"Fetching Neo4j {VERSION} with Maven, once.", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="fetch-") as scratch:
        pom, fetched = Path(scratch) / "pom.xml", Path(scratch) / "lib"
        pom.write_text(_POM, "utf-8")
        command = [maven, "-q", "-B", "-f", str(pom), "dependency:copy-dependencies"]
        command += ["-DincludeScope=runtime", f"-DoutputDirectory={fetched}"]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=DOWNLOAD_SECONDS
            )
        except subprocess.TimeoutExpired as error:
            raise Neo4jUnavailable("Maven did not fetch Neo4j in time.") from error
        if done.returncode or not _is_complete(fetched):
            output = (done.stdout + done.stderr).strip().splitlines()
            raise Neo4jUnavailable("Maven cannot fetch Neo4j: " + " ".join(output[:3]))
        fetched.rename(folder)  # whole or not at all


@contextlib.contextmanager
def hold_lock(path: Path) -> Iterator[IO[bytes]]:
    """Hold the lock on a file; wait as long as another process has it."""
    with path.open("wb") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock


def _docker_engine(home: Path, port: int, settings: dict[str, str]) -> _Engine:
    docker = shutil.which("docker")
    if docker is None:
        raise Neo4jUnavailable("There is no Docker.")
    if subprocess.run([docker, "info"], capture_output=True, check=False, timeout=60).returncode:
        raise Neo4jUnavailable("The Docker engine does not answer.")
    name, data = f"ragforge-neo4j-{port}", home / "data"
    data.mkdir(parents=True, exist_ok=True)
    command = [docker, "run", "--rm", "--name", name, "-p", f"127.0.0.1:{port}:7687"]
    command += ["-v", f"{data}:/data", "-e", "NEO4J_AUTH=none"]
    for key, value in settings.items():
        command += ["-e", f"NEO4J_{key.replace('_', '__').replace('.', '_')}={value}"]
    if hasattr(os, "getuid"):
        command += ["--user", f"{os.getuid()}:{os.getgid()}"]
    command.append("neo4j:5.26")

    def tell(word: str) -> Callable[[object], object]:
        return lambda _: subprocess.run([docker, word, name], capture_output=True, check=False)

    return _Engine(command, tell("stop"), tell("kill"))


def main() -> int:
    parser = argparse.ArgumentParser(description="Run a Neo4j server until Ctrl-C.")
    parser.add_argument("--port", type=int, default=7687)
    parser.add_argument("--home", type=Path, default=CACHE / "neo4j-home", help="where data live")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with Neo4jServer(options.home, options.port) as server:
            print(f"Neo4j answers at {server.url}; Ctrl-C stops it.")
            print(f"export RAGFORGE_STORE={server.url}", flush=True)
            return server.wait()
    except Neo4jUnavailable as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    raise SystemExit(main())
