"""Secret files: neither ingested nor shown by a tool, by one list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.brain.files import exclusions
from ragforge.brain.files.compare import is_skipped
from ragforge.brain.files.exclusions import (
    HEAD_BYTES,
    MARKS,
    has_secret_content,
    is_secret_file,
    may_have_credentials,
)
from ragforge.context.excerpts import Location, enrich_locations
from ragforge.domain.text import split_words
from ragforge.errors import InputError
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from ragforge.tools.grep_files import GrepArguments, grep_files
from ragforge.tools.list_files import ListArguments, list_files
from ragforge.tools.read_file import ReadArguments, read_file
from ragforge.tools.search_files import SearchArguments, search_files
from ragforge.tools.workspace import Workspace
from tests.fakes.code import list_files as list_stored_files
from tests.fakes.projects import brain_of, write
from tests.fakes.secrets import pem

SECRET = split_words("""
    .env .env.local .env.production .ENV deploy/.env.staging.local .env-prod .envrc prod.env
    id_rsa .ssh/id_ed25519 .ssh/work .ssh/deploy_key home/.gnupg/secring.gpg server.pem tls.KEY
    a/b/release.p12 x.pfx x.jks android.keystore putty.ppk AuthKey_1.p8 vault.kdbx office.ovpn
    terraform.tfstate terraform.tfstate.backup .netrc _netrc .pgpass .git-credentials .pypirc
    .htpasswd .aws/credentials .kube/config .docker/config.json kubeconfig .vault-token
    .cargo/credentials.toml .config/gh/hosts.yml .bash_history .psql_history .s3cfg .my.cnf
    terraform.tfvars infra/prod.auto.tfvars x.tfvars.json .streamlit/secrets.toml .dev.vars
    local.settings.json .aws/credentials.bak .AWS/Config id_rsa.old id_rsa~ tls.key.orig.2
    terraform.tfstate.1700000000.backup .netrc.save .vault_pass.txt .snowflake/connections.toml
""")
ORDINARY = split_words("""
    .env.example .env.sample .env.template .env.dist .env.local.example example.env env.py
    environment.yml src/env/config .environment id_rsa.pub .ssh/config .ssh/known_hosts
    .ssh/id_ed25519.pub key.py keys.json keyboard.key.md pem.py credentials credentials.py config
    docs/credentials .github/config.json history hosts.yml .npmrc package.json Makefile tokens.css
    monkey donkey.txt .aws/cli/alias kube/config secrets.toml terraform.tfvars.example notes~
    key.bak.py old.orig a.1 .bak ~ 7 streamlit/secrets.toml tfvars terraform.tf
""")
PASSWORD = "sunshine" + "42"
ACCOUNT = json.dumps({"type": "service_account", "private_key": pem("PRIVATE KEY")})


@pytest.mark.parametrize("path", sorted(SECRET))
def test_a_file_of_keys_or_passwords_is_secret_by_its_name(path: str) -> None:
    assert is_secret_file(path)
    assert exclusions.check_filename(path) == "secret"


@pytest.mark.parametrize("path", sorted(ORDINARY))
def test_a_sample_or_a_public_part_is_not_secret(path: str) -> None:
    assert not is_secret_file(path)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("deploy", pem("OPENSSH PRIVATE KEY")),
        ("wide", pem("PRIVATE KEY").encode("utf-16")),
        ("pair", f"{pem('CERTIFICATE', lines=150)}\n{pem('RSA PRIVATE KEY')}"),
        ("me.asc", pem("PGP PRIVATE KEY BLOCK")),
        ("text", "Private-Key: (2048 bit)\nmodulus:\n    00:ab:cd\n" + pem("PRIVATE KEY")),
        ("putty", "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n"),
        ("age.txt", "# created: today\n# public key: age1x\nAGE-SECRET-KEY-1" + "Q7" * 20),
        ("saved", ACCOUNT),
        ("auth", '{"auths": {"r.example.com": {"auth": "' + "dXNl" * 5 + '"}}}'),
        ("state.json", '{"version": 4, "lineage": "' + "1a2b3c4d-" * 4 + '"}'),
        ("aws.txt", f"[default]\nregion = eu\naws_secret_access_key = {'aB3/' * 10}\n"),
        ("hosts", "machine example.com login ann password " + PASSWORD),
        ("cluster.yaml", f"apiVersion: v1\nusers:\n- user:\n    client-key-data: {'Q7' * 30}\n"),
        ("users", "ann:$2y$05$" + "x" * 50),
        ("pip.conf", f"[global]\nindex-url = https://ann:{PASSWORD}@example.com/simple\n"),
        ("certs/own.txt", "# made by hand\n" + pem("RSA PRIVATE KEY")),
        ("my-project-1a2b3c.json", ACCOUNT),
        ("client.json", '{"installed": {"client_secret": "' + "a1B2" * 6 + '"}}'),
        (".npmrc", "//registry.example.com/:_authToken=" + "a1B2" * 9),
        ("sub/.npmrc", "registry=https://example.com\n_auth = dXNlcjpwYXNz\n"),
    ],
)
def test_a_key_or_an_account_is_secret_by_its_content(path: str, content: str | bytes) -> None:
    data = content if isinstance(content, bytes) else content.encode()
    assert has_secret_content(path, data)
    assert not has_secret_content(path, b"# notes\n" + b"x" * HEAD_BYTES + data)
    assert may_have_credentials(path) or any(mark in data.replace(b"\0", b"") for mark in MARKS)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (".npmrc", "registry=https://example.com\n//r.example.com/:_authToken=${NPM_TOKEN}\n"),
        ("package.json", '{"name": "x", "private": true}'),
        ("readme.md", "Paste what begins with -----BEGIN PRIVATE KEY----- here."),
        ("load.py", 'MARK = "-----BEGIN PRIVATE KEY-----"\n'),
        ("cert.txt", "-----BEGIN CERTIFICATE-----\nabc\n"),
        ("cert.txt", pem("CERTIFICATE")),
        ("test_keys.py", f'KEY = """\n{pem("RSA PRIVATE KEY")}\n"""\n'),
        ("guide.md", "# Keys\n\nWrite:\n\n    machine example.com login ann password x\n"),
        ("setup.cfg", "[metadata]\nname = x\n"),
        ("deploy.yaml", "apiVersion: v1\nkind: Pod\n"),
        ("pip.conf", "[global]\nindex-url = https://example.com/simple\n"),
        ("auth.json", '{"auth": true, "refresh_token": "string"}'),
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
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    try:
        brain = brain_of(store, root)
        with monkeypatch.context() as before:
            before.setattr(exclusions, "is_secret_file", lambda _: False)
            project = (await brain.ingest())[0].project_id
        assert ".env" in {file.path for file in await list_stored_files(store, project)}

        report, _ = await brain.ingest()

        stored = await list_stored_files(store, project)
        kept = {file.path for file in stored if not is_skipped(file)}
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


async def test_a_key_after_long_certificates_is_not_shown_either(root: Path) -> None:
    write(root, {"pair": f"{pem('CERTIFICATE', lines=200)}\n{pem('PRIVATE KEY')}\n"})
    workspace = Workspace.at(root)

    found = await grep_files(workspace, GrepArguments(pattern="**", regex="BEGIN"), seconds=60)

    assert found.matches == ()
    with pytest.raises(InputError, match="it is left out: secret"):
        await read_file(workspace, ReadArguments(path="pair"), seconds=60)


async def test_a_file_whose_name_is_found_is_not_shown_if_it_is_secret(root: Path) -> None:
    write(root, {"deploy_key": pem("OPENSSH PRIVATE KEY")})
    given = SearchArguments(pattern="**", query="deploy_key", context_lines=5)

    found = await search_files(Workspace.at(root), given, seconds=60)

    assert [match.file for match in found.matches] == ["deploy_key"]
    assert "BEGIN" not in found.matches[0].content


@pytest.mark.parametrize("path", [".env", "id_rsa", "account.json"])
async def test_no_secret_file_becomes_part_of_the_context(root: Path, path: str) -> None:
    assert await enrich_locations([Location(path, 1, 0.7, 0.6, "command")], None, "p", root) == []
