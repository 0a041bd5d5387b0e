"""Shell scripts: a sample file in, its exact outline out."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.brain.conftest import Reading

Sample = Callable[[str], Reading]


def test_the_bash_sample_has_exactly_these_definitions(sample: Sample) -> None:
    found = sample("deploy.sh")
    assert found.outline.language == "bash"
    assert not found.outline.damaged
    assert found.table == [
        "module deploy 1-39",
        "constant TARGET_HOST 9-9",
        "constant RETRIES 10-10",
        "function log 13-17",
        "function build 19-26",
        "function deploy 28-33",
    ]


def test_the_bash_sample_has_exactly_these_imports(sample: Sample) -> None:
    assert sample("deploy.sh").imports == [
        "6: ./lib/common.sh *",
        "7: $HOME/.env *",
    ]


def test_the_bash_sample_uses_these_names(sample: Sample) -> None:
    found = sample("deploy.sh")
    assert found.calls("build") == "npm log skip_tests run_tests return"
    assert found.uses("build") == "name"
    assert found.calls("deploy") == "build rsync log tee"
    assert found.uses("deploy") == "TARGET_HOST name"
    assert found.calls("log") == "echo date"
    assert found.uses("log") == ""


def test_the_bash_sample_is_signed_and_documented(sample: Sample) -> None:
    found = sample("deploy.sh")
    assert found.signature("log") == "log()"
    assert found.signature("build") == "function build"
    assert found.docstrings == {"deploy": "Deploys the site.", "log": "Prints a message."}
