"""The decider: attacks by mechanism, and lines that models send. None of them is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge.tools.command.decide import decide
from ragforge.tools.command.plan import Allowed, Refused
from tests.security.attack_lines import ATTACKS
from tests.security.attack_lines import LINES as ATTACK_LINES
from tests.security.benign_lines import BENIGN
from tests.unit.tools.command.allowed_lines import ALLOWED
from tests.unit.tools.command.everyday_lines import EVERYDAY
from tests.unit.tools.command.refused_lines import LINES as REFUSED_LINES

BENIGN_LINES = [line for lines in BENIGN.values() for line in lines]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with secrets in it and next to it, and with repositories inside."""
    root = tmp_path_factory.mktemp("decider") / "project"
    for name in ("src", "tests", "docs", "nested/.git", "nested/deep", "bare/refs", ".git/logs"):
        (root / name).mkdir(parents=True)
    secrets = [".env", ".env.production", ".env.local", "key.pem", "id_rsa", "server.key", ".npmrc"]
    secrets += [".git/config", ".git/credentials", ".git/logs/HEAD", "bare/HEAD", "bare/objects"]
    plain = ["a.txt", "b.txt", "a.json", "package.json", "README.md", "src/app.py", ".git/HEAD"]
    for name in [*secrets, *plain]:
        (root / name).write_text("x\n")
    (root / "env-link").symlink_to(".env")
    (root.parent / "secret").write_text("secret\n")
    return root


def test_there_are_enough_lines_of_both_kinds_and_all_are_new() -> None:
    assert len(set(ATTACK_LINES) - set(REFUSED_LINES)) >= 300
    assert len(set(BENIGN_LINES) - set(ALLOWED) - set(EVERYDAY)) >= 300


@pytest.mark.parametrize("mechanism", ATTACKS)
def test_an_attack_is_refused(mechanism: str, project: Path) -> None:
    allowed = [
        line for line in ATTACKS[mechanism] if isinstance(decide(line, str(project)), Allowed)
    ]
    assert allowed == []


@pytest.mark.parametrize("kind", BENIGN)
def test_a_line_that_only_reads_is_allowed(kind: str, project: Path) -> None:
    decisions = [(line, decide(line, str(project))) for line in BENIGN[kind]]
    refused = [(line, given.reason) for line, given in decisions if isinstance(given, Refused)]
    assert refused == []
