"""Keys and values that are wrong: the message names key, origin and what is right."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragforge.config.dotted_keys import find_doubtful_names, list_keys
from ragforge.config.problems import describe_unknown_key
from ragforge.errors import SettingsError
from tests.fakes.trust import load_trusted_settings as load_settings

NAME = "ragforge.config.yaml"
KEYS = sorted(list_keys())


def refusal(project: Path, content: str = "", environ: dict[str, str] | None = None) -> str:
    (project / NAME).write_text(content, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load_settings(project, environ=environ or {})
    return str(caught.value)


def test_a_mistyped_key_suggests_the_nearest_name(project: Path) -> None:
    message = refusal(project, "store: {ulr: x}")
    assert message == f"{NAME}: unknown key 'store.ulr'. Did you mean 'store.url'?"


def test_a_mistyped_section_suggests_the_nearest_name(project: Path) -> None:
    message = refusal(project, "agent: {memroy: {max_context_chars: 5}}")
    assert message == f"{NAME}: unknown key 'agent.memroy'. Did you mean 'agent.memory'?"


def test_a_key_in_the_wrong_section_suggests_the_right_place(project: Path) -> None:
    message = refusal(project, "jobs: {recent_turns_percent: 5}")
    assert message.endswith("Did you mean 'agent.memory.recent_turns_percent'?")


def test_a_key_unlike_any_other_suggests_the_known_ones(project: Path) -> None:
    message = refusal(project, "jobs: {colour: blue}")
    assert message.endswith(
        "Valid names: jobs.lease_seconds, jobs.max_attempts, jobs.closing_seconds, jobs.detach."
    )


def test_a_key_that_is_not_text_is_unknown(project: Path) -> None:
    assert refusal(project, "1: x").startswith(f"{NAME}: unknown key '1'.")


def test_a_key_with_dots_is_explained(project: Path) -> None:
    message = refusal(project, "store.url: x")
    assert message == f"{NAME}: write 'store.url' as nested sections: store: {{url: …}}"


@given(key=st.sampled_from(KEYS), data=st.data())
def test_one_wrong_letter_is_always_recognised(key: str, data: st.DataObject) -> None:
    start = key.rfind(".") + 1
    place = data.draw(st.integers(start, len(key) - 1))
    letter = data.draw(st.sampled_from("qjz"))
    mistyped = key[:place] + letter + key[place + 1 :]
    meant = re.search(r"Did you mean '([^']+)'\?$", describe_unknown_key("f", mistyped))
    assert meant
    assert len(meant[1]) == len(key)
    assert sum(one != other for one, other in zip(meant[1], mistyped, strict=True)) <= 1


@pytest.mark.parametrize(
    ("content", "key", "said"),
    [
        ("jobs: {lease_seconds: soon}", "jobs.lease_seconds", "is 'soon'"),
        ("jobs: {lease_seconds: '60'}", "jobs.lease_seconds", "is '60'"),
        ("jobs: {lease_seconds: yes}", "jobs.lease_seconds", "is True"),
        ("jobs: {lease_seconds: 1.5}", "jobs.lease_seconds", "is 1.5"),
        ("jobs: {lease_seconds: .nan}", "jobs.lease_seconds", "is nan"),
        ("jobs: {lease_seconds: }", "jobs.lease_seconds", "is empty"),
        ("jobs: {lease_seconds: [1]}", "jobs.lease_seconds", "is a list"),
        ("jobs: {lease_seconds: {a: 1}}", "jobs.lease_seconds", "is a section"),
        ("jobs: {lease_seconds: 2024-01-01}", "jobs.lease_seconds", "is 2024-01-01"),
        ("jobs: {lease_seconds: 0}", "jobs.lease_seconds", "from 1 to 86400"),
        ("jobs: {max_attempts: -1}", "jobs.max_attempts", "from 1 to 1000"),
        (
            "agent: {memory: {recent_turns_percent: 101}}",
            "agent.memory.recent_turns_percent",
            "is 101: it must be a whole number from 0 to 100",
        ),
        ("store: {url: 7}", "store.url", "is 7: it must be text that is not empty"),
        ("store: {url: }", "store.url", "is empty"),
        ("store: {neo4j_database: ''}", "store.neo4j_database", "is ''"),
        ("store: 5", "store", "it must be a section that may hold neo4j_database, url"),
        ("agent: {memory: [1]}", "agent.memory", "is a list"),
    ],
)
def test_a_bad_value_is_named_with_what_is_allowed(
    project: Path, content: str, key: str, said: str
) -> None:
    message = refusal(project, content)
    assert message.startswith(f"{NAME}: {key!r} ")
    assert said in message
    assert len(message.splitlines()) == 1


def test_a_long_value_is_cut_in_the_message(project: Path) -> None:
    assert len(refusal(project, f"jobs: {{lease_seconds: {'9' * 4000}}}")) < 200


def test_a_bad_variable_is_named(project: Path) -> None:
    message = refusal(project, environ={"RAGFORGE_JOBS__LEASE_SECONDS": "soon"})
    assert message.startswith("RAGFORGE_JOBS__LEASE_SECONDS: 'jobs.lease_seconds' is 'soon'")


def test_an_unknown_variable_suggests_the_nearest_name(project: Path) -> None:
    message = refusal(project, environ={"RAGFORGE_JOBS__LEASE": "5"})
    assert message.endswith("Did you mean RAGFORGE_JOBS__LEASE_SECONDS?")


def test_a_password_among_the_settings_variables_is_led_to_its_own(project: Path) -> None:
    message = refusal(project, environ={"RAGFORGE_STORE__NEO4J_PASSWORD": "hunter2"})
    assert message.endswith("Did you mean RAGFORGE_NEO4J_PASSWORD?")
    assert "hunter2" not in message


def test_a_bad_option_is_named(project: Path) -> None:
    with pytest.raises(SettingsError, match=r"^--store: 'store\.url' starts with 'ftp://'"):
        load_settings(project, {"store.url": "ftp://x"}, {})


def test_all_problems_are_listed_at_once(project: Path) -> None:
    content = "stroe: 1\njobs: {max_attempts: 0}\nstore: {url: 'ftp://x'}\n"
    environ = {"RAGFORGE_JOBS__LEASE_SECONDS": "0", "RAGFORGE_A__B": "1"}
    message = refusal(project, content, environ)
    assert len(message.splitlines()) == 5


def test_a_bad_value_is_an_error_even_if_a_higher_layer_overrides_it(project: Path) -> None:
    message = refusal(project, "jobs: {max_attempts: 0}", {"RAGFORGE_JOBS__MAX_ATTEMPTS": "3"})
    assert message.startswith(f"{NAME}: 'jobs.max_attempts' is 0")


@pytest.mark.parametrize("key", ["neo4j_password", "neo4j_user"])
def test_credentials_in_a_file_are_refused_with_the_variable_to_use(
    project: Path, key: str
) -> None:
    message = refusal(project, f"store: {{{key}: hunter2}}")
    assert f"'store.{key}' does not belong in a file. Set RAGFORGE_{key.upper()}" in message
    assert "hunter2" not in message


def test_any_other_secret_in_a_file_is_refused_without_showing_it(project: Path) -> None:
    message = refusal(project, "llm: 1\nstore: {api_key: hunter2}")
    assert "Secrets do not belong in a file" in message
    assert "hunter2" not in message


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1))
def test_any_value_of_a_variable_is_valid_or_refused(project: Path, text: str) -> None:
    for variable in ("RAGFORGE_STORE", "RAGFORGE_JOBS__LEASE_SECONDS", "RAGFORGE_CONFIG"):
        loaded = None
        with contextlib.suppress(SettingsError):
            loaded = load_settings(project, environ={variable: text})
        assert loaded is None or loaded.settings.jobs.lease_seconds > 0


def test_a_variable_that_looks_mistyped_is_noticed() -> None:
    environ = {"RAGFORGE_STROE": "x", "RAGFORGE_STORE": "y", "RAGFORGE_TEST_STORE": "z"}
    assert find_doubtful_names(environ) == {"RAGFORGE_STROE": "RAGFORGE_STORE"}
