"""Secret files: neither ingested nor shown by a tool, by one list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.brain.files import names
from ragforge.brain.files.secret_files import has_secret_content, is_secret_file
from ragforge.domain.text import split_words
from ragforge.errors import InputError
from ragforge.search.tokenise import WORDS
from ragforge.tools.grep_files import GrepArguments, grep_files
from ragforge.tools.list_files import ListArguments, list_files
from ragforge.tools.read_file import ReadArguments, read_file
from ragforge.tools.workspace import Workspace
from tests.fakes.projects import brain_of, write
from tests.fakes.secrets import pem

SECRET = split_words("""
    .env .env.local .env.production .ENV deploy/.env.staging.local .env-prod .envrc prod.env
    id_rsa .ssh/id_ed25519 .ssh/work .ssh/deploy_key home/.gnupg/secring.gpg server.pem tls.KEY
    a/b/release.p12 x.pfx x.jks android.keystore putty.ppk AuthKey_1.p8 vault.kdbx office.ovpn
    terraform.tfstate terraform.tfstate.backup .netrc _netrc .pgpass .git-credentials .pypirc
    .htpasswd .aws/credentials .kube/config .docker/config.json kubeconfig .vault-token
    .cargo/credentials.toml .config/gh/hosts.yml .bash_history .psql_history .s3cfg .my.cnf
""")
ORDINARY = split_words("""
    .env.example .env.sample .env.template .env.dist .env.local.example example.env env.py
    environment.yml src/env/config .environment id_rsa.pub .ssh/config .ssh/known_hosts
    .ssh/id_ed25519.pub key.py keys.json keyboard.key.md pem.py credentials credentials.py config
    docs/credentials .github/config.json history hosts.yml .npmrc package.json Makefile tokens.css
    monkey donkey.txt .aws/cli/alias kube/config
""")
PASSWORD = "sunshine" + "42"
ACCOUNT = json.dumps({"type": "service_account", "private_key": pem("PRIVATE KEY")})


@pytest.mark.parametrize("path", sorted(SECRET))
def test_a_file_of_keys_or_passwords_is_secret_by_its_name(path: str) -> None:
    assert is_secret_file(path)
    assert names.check_filename(path) == "secret"


@pytest.mark.parametrize("path", sorted(ORDINARY))
def test_a_sample_or_a_public_part_is_not_secret(path: str) -> None:
    assert not is_secret_file(path)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("deploy", pem("OPENSSH PRIVATE KEY")),
        ("certs/own.txt", "# made by hand\n" + pem("RSA PRIVATE KEY")),
        ("my-project-1a2b3c.json", ACCOUNT),
        ("client.json", '{"installed": {"client_secret": "' + "a1B2" * 6 + '"}}'),
        (".npmrc", "//registry.example.com/:_authToken=" + "a1B2" * 9),
        ("sub/.npmrc", "registry=https://example.com\n_auth = dXNlcjpwYXNz\n"),
    ],
)
def test_a_key_or_an_account_is_secret_by_its_content(path: str, content: str) -> None:
    assert has_secret_content(path, content.encode())


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (".npmrc", "registry=https://example.com\n//r.example.com/:_authToken=${NPM_TOKEN}\n"),
        ("package.json", '{"name": "x", "private": true}'),
        ("readme.md", "Paste what begins with -----BEGIN PRIVATE KEY----- here."),
        ("load.py", 'MARK = "-----BEGIN PRIVATE KEY-----"\n'),
        ("cert.txt", "-----BEGIN CERTIFICATE-----\nabc\n"),
    ],
)
def test_a_file_that_only_speaks_of_keys_is_not_secret(path: str, content: str) -> None:
    assert not has_secret_content(path, content.encode())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    write(root, dict.fromkeys([".env", "id_rsa", "tls/server.pem"], f"DB_HOST={PASSWORD}\n"))
    write(root, {"account.json": ACCOUNT, "app.py": "def sunny():\n    return 1\n"})
    write(root, {".env.example": "DB_HOST=\n", ".npmrc": f"_authToken={PASSWORD}abcdef\n"})
    return root


async def test_secret_files_are_not_ingested_and_earlier_ones_are_removed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await open_sqlite(tmp_path / "store.db", WORDS)
    try:
        brain = brain_of(store, root)
        with monkeypatch.context() as before:
            before.setattr(names, "is_secret_file", lambda _: False)
            project = (await brain.ingest())[0].project_id
        assert ".env" in {file.path for file in await store.code.files(project)}

        report, _ = await brain.ingest()

        kept = {file.path for file in await store.code.files(project) if file.state != "skipped"}
        assert kept == {"app.py", ".env.example"}
        assert {one.path for one in report.skipped if one.reason == "secret"} >= {
            ".env",
            "id_rsa",
            "tls/server.pem",
        }
        file = (tmp_path / "store.db").read_bytes() + (tmp_path / "store.db-wal").read_bytes()
        assert b"BEGIN PRIVATE KEY" not in file  # known by their content from the beginning
        assert f"{PASSWORD}abcdef".encode() not in file
    finally:
        await store.close()


@pytest.mark.parametrize("path", [".env", "id_rsa", "tls/server.pem", "account.json", ".npmrc"])
async def test_no_tool_shows_a_secret_file(root: Path, path: str) -> None:
    workspace = Workspace.at(root)

    with pytest.raises(InputError, match="it is left out: secret"):
        await read_file(workspace, ReadArguments(path=path), seconds=60)


async def test_no_search_looks_into_secret_files(root: Path) -> None:
    workspace = Workspace.at(root)

    found = await grep_files(
        workspace, GrepArguments(pattern="**", regex="sun|BEGIN|HOST"), seconds=60
    )
    listed = await list_files(workspace, ListArguments(), seconds=60)

    assert {line.file for line in found.matches} == {"app.py", ".env.example"}
    assert listed.left_out == {"secret": 2}
    assert ".env" not in listed.entries
