"""Redaction: secrets are removed, everything else stays."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragforge.memory.secrets.redact import redact, redact_json
from tests.fakes.further_secrets import FURTHER, GAPS, grep_key
from tests.fakes.hostile import HOSTILE, NOT_UNICODE
from tests.fakes.secrets import KEYS, LOOK_ALIKES, NAMED, PLACES, Sample, made, pem, shaped

PLACED = [
    Sample(PLACES[number % 8][0], key, PLACES[number % 8][1], what)
    for number, (what, key) in enumerate(FURTHER.items())
]
SAMPLES = [*shaped(), *NAMED, *PLACED, *GAPS]
SOME_KEY = KEYS["GitHub token"][0]

words = st.text("abcdefghijklmnopqrstuvwxyzäöü", min_size=1, max_size=12)
prose = st.lists(words, max_size=30).map(" ".join)
anything = st.text(st.characters(exclude_categories=()), max_size=200)
pieces = st.sampled_from(
    [
        *(part for sample in SAMPLES for part in (sample.before, sample.secret, sample.after)),
        *LOOK_ALIKES,
        *(
            "password",
            "token=",
            "key: ",
            "://",
            "@",
            ":",
            '"',
            "\\",
            "\n",
            " ",
            "-----",
            "eyJ",
            "[redacted: ",
        ),
    ]
)
jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | pieces | anything,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["password", "name", "value", "api_key", "x"]), inner)
    ),
    max_leaves=12,
)


def _id(sample: Sample) -> str:
    return f"{sample.what} after {sample.before[-16:]!r}"


@pytest.mark.parametrize("sample", SAMPLES, ids=_id)
def test_a_secret_is_removed_and_the_text_around_it_stays(sample: Sample) -> None:
    redacted = redact(sample.text)

    assert redacted == sample.redacted
    assert sample.secret[-12:] not in redacted


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_what_only_looks_like_a_secret_is_left_alone(text: str) -> None:
    assert redact(text) is text


@pytest.mark.parametrize("text", [*HOSTILE.values(), NOT_UNICODE, ""])
def test_hostile_text_without_secrets_comes_back_as_the_same_object(text: str) -> None:
    assert redact(text) is text


def test_there_are_enough_samples_of_both_kinds() -> None:
    assert len(SAMPLES) >= 400
    assert len(FURTHER) >= 60
    assert FURTHER.keys().isdisjoint(KEYS.keys() - {"GitLab token"})
    assert len(LOOK_ALIKES) >= 120


def test_every_secret_of_a_long_text_is_removed() -> None:
    text = redact("\n".join(sample.text for sample in SAMPLES))

    left = [sample.secret for sample in SAMPLES if sample.secret in text]
    assert left == []
    assert text.count("[redacted: ") >= len(SAMPLES)


def test_a_secret_is_found_next_to_lone_surrogates_and_letters_that_grow_when_lowered() -> None:
    text = f'\ud83d İİİ 修复 password = "hunter2!" {SOME_KEY} \udc00'

    assert redact(text) == (
        '\ud83d İİİ 修复 password = "[redacted: password]" [redacted: GitHub token] \udc00'
    )


@pytest.mark.parametrize(
    "unit",
    [
        *("password=", "password:", 'password="', "--password ", "token is ", "key", "passpass"),
        *("sk-", "sk-ant-", "eyJ", "eyJa.", "ghp_", "AKIA", "://", "://a:", "a://b:c@", "xoxb-1"),
        *("authorization:bearer:", "bearer ", "basic ", "curl -u ", "a" * 19 + " ", "a", "\\", "<"),
        *("-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "PRIVATE KEY", "Private-Lines: 1\n"),
        *("-----BEGIN PRIVATE KEY-----\\", "discord M" + "a" * 24, "[redacted: ", "secret'\"", "{"),
        "IDENTIFIED BY '",
        "hunter2!",
    ],
)
def test_long_monotonous_text_is_redacted_in_reasonable_time(unit: str) -> None:
    once = redact(unit * (200_000 // len(unit)))

    assert redact(once) == once


@pytest.mark.parametrize("before", ["DB_PASSWORD=", 'password = "', "api_key: ", "sk-proj-"])
def test_a_very_long_secret_is_removed_up_to_its_end(before: str) -> None:
    text = f"{before}{made(70_000)}"

    assert len(redact(text)) < 60


def test_a_long_text_after_an_open_private_key_is_read_once() -> None:
    text = "-----BEGIN PRIVATE KEY-----" + "\\" * 100_000 + "A" * 100_000

    assert redact(text).startswith("-----BEGIN PRIVATE KEY-----\\")


@given(st.lists(pieces | anything, max_size=8).map("".join))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text)

    assert redact(once) == once


@given(anything)
def test_no_text_makes_it_raise(text: str) -> None:
    assert isinstance(redact(text), str)


@given(prose)
def test_plain_words_are_left_alone(text: str) -> None:
    assert redact(text) is text


@given(prose, st.sampled_from(SAMPLES), prose)
def test_words_around_a_secret_are_kept(before: str, sample: Sample, after: str) -> None:
    text = redact(f"{before}\n\n{sample.text}\n\n{after}")

    assert text.startswith(f"{before}\n\n")
    assert text.endswith(f"\n\n{after}")
    assert sample.secret not in text


# encoded and wrapped secrets, and those that a sentence names

BARE = [
    (what, key)
    for what, key in [*((what, keys[0]) for what, keys in KEYS.items()), *FURTHER.items()]
    if what not in ("private key", "Discord token")  # that one needs the word next to it
]


def encode_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "encode",
    [
        encode_base64,
        lambda key: base64.urlsafe_b64encode(key.encode()).decode().rstrip("="),
        lambda key: encode_base64(f"DEBUG=1\nTHING={key}\nPORT=80\n"),
        lambda key: encode_base64(encode_base64(key)),
        lambda key: base64.encodebytes(f"{'x' * 70} {key} {'y' * 90}".encode()).decode().strip(),
        lambda key: key.encode().hex(),
    ],
    ids=["base64", "url-safe", "a file", "twice", "in lines", "hex"],
)
def test_the_encoding_of_a_secret_is_removed(encode: Callable[[str], str]) -> None:
    for what, key in BARE:
        encoded = encode(key)
        redacted = redact(f"data:\n  thing: {encoded}\n  port: 80\n")

        assert not any(line in redacted for line in encoded.split("\n")), what
        assert redacted.endswith("\n  port: 80\n")
        assert redact(redacted) is redacted


@pytest.mark.parametrize(
    "text",
    [
        encode_base64("The quick brown fox jumps over the lazy dog, again and again."),
        encode_base64('{"retries": 3, "name": "shop", "password": "${PASSWORD}"}'),
        "54686520717569636b2062726f776e20666f78206a756d7073206f766572",
        f"{made(64)}\n" * 5,
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "AbcdAbcdAbcdAbcdAbcdAbcd",
    ],
)
def test_other_encodings_are_left_alone(text: str) -> None:
    assert redact(text) is text


@pytest.mark.parametrize("wrap", ["\n", "\r\n", "\n    ", "\n> ", "\\\n", "\\n"])
def test_a_secret_that_is_wrapped_over_two_lines_is_removed(wrap: str) -> None:
    # Of these, what they are known by is on both lines, or before the hint.
    hard = {"Azure function key", "Mailchimp key", "Zapier webhook", "Teams webhook"}
    for what, key in BARE:
        middle = len(key) // 2
        if what in hard or (len(key) < 40 and wrap not in ("\n", "\r\n")):
            continue
        redacted = redact(f"I use {key[:middle]}{wrap}{key[middle:]} and get a 401.\n")

        assert key[:middle] not in redacted, what
        assert key[middle:] not in redacted, what
        assert redacted.endswith(" and get a 401.\n")


def test_a_secret_that_is_wrapped_at_any_width_is_removed() -> None:
    key = KEYS["OpenAI key"][2]
    for width in range(20, 100):
        lines = [key[at : at + width] for at in range(0, len(key), width)]
        redacted = redact("\n".join(["Use this:", *lines, "Then go on."]))
        assert not [line for line in lines if len(line) >= 8 and line in redacted], width
        assert redacted.startswith("Use this:\n[redacted: OpenAI key]\n")
        assert redacted.endswith("\nThen go on.")


@pytest.mark.parametrize(
    "after",
    ["next\n", "PORT=8080\n", "2024-05-01T10:00:00Z INFO ok\n", "name: a1B2c3D4\n", "```\n"],
)
def test_the_line_after_a_secret_stays(after: str) -> None:
    for key in (SOME_KEY, KEYS["OpenAI key"][2], KEYS["AWS access key"][0]):
        assert redact(f"use {key}\n{after}").endswith(f"]\n{after}")


def test_the_id_of_an_aws_key_without_a_digit_is_removed() -> None:
    for name in ("", "KEY_", "id=", "x-"):
        key = "AKIA" + "QWSXEDCRFVTGBYHN"
        assert redact(f"{name}{key} there") == f"{name}[redacted: AWS access key] there"


@pytest.mark.parametrize(
    "text",
    [
        "The password is {}.",
        "the password is {}",
        "The password is: {}\nThanks",
        'password is "{}" for now',
        "The password for the staging database is {}.",
        "The password was changed to {}.",
        "Le mot de passe est {}.",
        "Le mot de passe de la base est {}",
        "Das Passwort ist {}.",
    ],
)
@pytest.mark.parametrize("word", ["swordfish", "letmein", "correct-horse", "hunter2!Kx", "a&b;c9d"])
def test_a_password_that_a_sentence_names_is_removed(text: str, word: str) -> None:
    assert redact(text.format(word)) == text.format("[redacted: password]")


def test_a_passphrase_that_a_sentence_quotes_is_removed() -> None:
    said = 'The passphrase is "{}".'
    assert redact(said.format("correct horse battery staple")) == said.format(
        "[redacted: password]"
    )


@pytest.mark.parametrize(
    "text",
    [
        *("The password is required.", "the password is wrong", "The password is stored, hashed."),
        *("password is None", "The password is not set.", "The password is too short."),
        *("The password for the user is invalid.", "The password was forgotten.", "is correct"),
        *("Le mot de passe est incorrect.", "Das Passwort ist falsch.", "il passe est vide"),
        *("The token is valid.", "the secret is out", "The key is missing.", "it was set to zero"),
        *("The password is swordfish-like in style and spirit", "The passphrase is 'not set'."),
    ],
)
def test_what_a_sentence_says_of_a_password_stays(text: str) -> None:
    assert redact(text) is text


# private keys line by line, and line numbers


def test_every_line_of_a_private_key_that_grep_prints_is_removed() -> None:
    text, secret = grep_key()
    redacted = redact(text)

    assert [line for line in secret if line[:20] in redacted] == []
    assert redacted.startswith("conf/server.txt:7:")
    assert redacted.endswith("conf/other.txt:1:hello")
    assert redacted.count("\n") == text.count("\n")


def test_the_end_of_a_private_key_whose_beginning_was_cut_off_is_removed() -> None:
    text, secret = grep_key()
    redacted = redact("\n".join(text.split("\n")[3:]))

    assert [line for line in secret if line[:20] in redacted] == []
    assert redacted.startswith("conf/server.txt:10:[redacted: private key]\n")


def test_every_line_of_a_private_key_in_separate_strings_is_removed() -> None:
    text, secret = grep_key()
    found = [
        {"file": "server.txt", "line": number, "content": line.split(":", 2)[2]}
        for number, line in enumerate(text.split("\n"))
    ]
    redacted = redact_json({"matches": found})

    assert [line for line in secret if line in json.dumps(redacted)] == []
    assert redacted["matches"][0] == found[0]
    assert redacted["matches"][-1] == found[-1]
    assert redact_json(redacted) is redacted


@pytest.mark.parametrize("sample", SAMPLES, ids=_id)
def test_lines_keep_their_numbers(sample: Sample) -> None:
    assert len(redact(sample.text).splitlines()) == len(sample.text.splitlines())


# JSON


def test_strings_are_redacted_however_deep_they_lie() -> None:
    value = {"a": [1, {"b": f"use {SOME_KEY}"}, None], "c": "fine", SOME_KEY: 2.5}

    assert redact_json(value) == {
        "a": [1, {"b": "use [redacted: GitHub token]"}, None],
        "c": "fine",
        SOME_KEY: 2.5,
    }
    assert SOME_KEY in value["a"][1]["b"]  # type: ignore[index]


def test_what_holds_no_secret_stays_the_same_object() -> None:
    clean = {"x": ["y", {"z": "password = get_password()"}]}
    value = {"clean": clean, "dirty": SOME_KEY}

    assert redact_json(clean) is clean
    assert redact_json(value)["clean"] is clean


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("password", "password"),
        ("DB_PASSWORD", "password"),
        ("userPassword", "password"),
        ("passphrase", "password"),
        ("secret", "secret"),
        ("client_secret", "secret"),
        ("token", "token"),
        ("accessToken", "token"),
        ("api_key", "key"),
        ("X-Api-Key", "key"),
        ("apikey", "key"),
        ("Authorization", "authorization"),
    ],
)
def test_a_string_under_a_secret_name_is_removed_whole(name: str, what: str) -> None:
    assert redact_json({name: "let me in"}) == {name: f"[redacted: {what}]"}


@pytest.mark.parametrize(
    "value",
    [
        "",
        "${TOKEN}",
        "<your-key>",
        "changeme",
        "xxxx",
        "{{ token }}",
        "[redacted: token]",
        None,
        7,
        True,
    ],
)
def test_a_placeholder_under_a_secret_name_stays(value: object) -> None:
    item = {"token": value}

    assert redact_json(item) is item


@pytest.mark.parametrize("name", ["max_tokens", "password_hash", "eos_token", "key", "author", "x"])
def test_an_ordinary_string_under_an_ordinary_name_stays(name: str) -> None:
    item = {name: "let me in"}

    assert redact_json(item) is item


def test_a_value_next_to_a_secret_name_is_removed() -> None:
    env = [{"name": "DB_PASSWORD", "value": "letmein"}, {"name": "PORT", "value": "letmein"}]

    assert redact_json(env) == [
        {"name": "DB_PASSWORD", "value": "[redacted: password]"},
        {"name": "PORT", "value": "letmein"},
    ]


def test_a_bare_string_and_a_tuple_are_redacted_too() -> None:
    assert redact_json(pem("PRIVATE KEY")) == "[redacted: private key]" + "\n" * 7
    assert redact_json((1, SOME_KEY)) == (1, "[redacted: GitHub token]")


def test_nesting_beyond_the_recursion_limit_is_handled() -> None:
    value: object = SOME_KEY
    for _ in range(50_000):
        value = [value]

    found = redact_json(value)
    while isinstance(found, list):
        [found] = found
    assert found == "[redacted: GitHub token]"


def test_what_is_shared_many_times_is_worked_on_once() -> None:
    value: object = [SOME_KEY]
    for _ in range(200):
        value = [value, value]

    found = redact_json(value)
    while isinstance(found, list):
        found = found[-1]
    assert found == "[redacted: GitHub token]"


def test_a_marker_is_not_a_name() -> None:
    value = {"name": "npm_YtbTq4MwlWU1qV2D0BrDMZDVKyCrkRQneew6", "value": "why does this fail?"}
    once = redact_json(value)

    assert once == {"name": "[redacted: npm token]", "value": "why does this fail?"}
    assert redact_json(once) is once


@given(jsons)
def test_redacting_json_twice_is_redacting_it_once(value: object) -> None:
    once = redact_json(value)

    assert redact_json(once) is once
    assert json.dumps(redact_json(value)) == json.dumps(once)


def test_samples_are_the_same_every_time() -> None:
    assert made(12) == made(12)
    assert made(12) != made(12, seed=1)
