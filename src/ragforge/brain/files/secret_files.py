"""Secret files: keys, passwords and histories of shells, which no part of RagForge reads.

One list for all: the walk of an ingestion, the watcher and the tools. By name where that is enough,
by content where a name is used for both.
"""

from __future__ import annotations

import re

from ragforge.domain.text import split_words

_SAMPLES = split_words("example examples sample samples template tmpl tpl dist")
_ENV = re.compile(r"\.env(?:rc)?(?:[._-].*)?|.+\.env")
_PARTS = re.compile(r"[._-]")

_NAMES = split_words(
    """
    id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk id_xmss
    .netrc _netrc .pgpass pgpass.conf .my.cnf .mylogin.cnf .git-credentials .htpasswd .pypirc
    .dockercfg .s3cfg .boto .vault-token .terraformrc terraform.rc credentials.tfrc.json
    kubeconfig .kubeconfig msal_token_cache.json accesstokens.json azureprofile.json
    application_default_credentials.json
    .bash_history .zsh_history .sh_history .python_history .node_repl_history .psql_history
    .mysql_history .sqlite_history .rediscli_history .irb_history .lesshst
    """
)
_ENDINGS = split_words(
    """
    pem key ppk p8 p12 pfx pkcs12 jks jceks bcfks keystore kdb kdbx keytab keychain agekey ovpn
    tfstate
    """
)
_PLACES = split_words(  # names that mean something else in other folders
    """
    .aws/credentials .aws/config .kube/config .docker/config.json .cargo/credentials
    .cargo/credentials.toml .gem/credentials .bundle/config .m2/settings.xml .oci/config
    .composer/auth.json gh/hosts.yml glab-cli/config.yml gcloud/credentials.db rclone/rclone.conf
    """
)
_PLACE_NAMES = frozenset(place.partition("/")[2] for place in _PLACES)
NAME_PATTERNS = (
    *(".env", ".env.*", ".env-*", ".env_*", "*.env", ".envrc"),
    *sorted(_NAMES),
    *(f"*.{ending}" for ending in sorted(_ENDINGS)),
)
"""What is secret by its name alone, as programs take it that walk directories themselves."""
_FOLDERS = frozenset((".ssh", ".gnupg", ".password-store"))
_PUBLIC = frozenset(("config", "known_hosts", "authorized_keys", "environment"))

_PRIVATE_KEY = re.compile(
    rb"\s*(?:#[^\n]*\n|Bag Attributes|[ \t]+\w[^\n]*\n|\s)*-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY"
)
_ACCOUNT = re.compile(rb'"private_key"\s*:\s*"-----BEGIN|"client_secret"\s*:\s*"[\w-]{16}')
_SETTINGS = re.compile(  # of npm, yarn and pip, with a value that is no reference
    rb"(?m)^[^#\n]*(?:_auth|_authToken|_password|npmAuthToken|npmAuthIdent)[\"']?\s*[=:]\s*"
    rb"[\"']?(?!\s|\$)."
)
_WITH_SETTINGS = (".npmrc", ".yarnrc", ".yarnrc.yml")
_HEAD = 16_384


def is_secret_file(path: str) -> bool:
    """Tell whether a file holds secrets by its name and folder; the path has `/`.

    `.env.example` and the like hold none: they are there to be read.
    """
    folder, _, name = path.lower().rpartition("/")
    # A walk asks this of every file, so what is seldom true is looked at last.
    if ".env" in name and _ENV.fullmatch(name):
        return _SAMPLES.isdisjoint(_PARTS.split(name))
    _, dot, ending = name.removesuffix(".backup").rpartition(".")
    if name in _NAMES or (dot and ending in _ENDINGS):
        return True
    if "." in folder and not _FOLDERS.isdisjoint(folder.split("/")):
        return not name.endswith(".pub") and name not in _PUBLIC
    return name in _PLACE_NAMES and f"{folder.rpartition('/')[2]}/{name}" in _PLACES


def has_secret_content(path: str, data: bytes) -> bool:
    """Tell whether a file is a key, or the credentials of an account, by its content."""
    head = data[:_HEAD]
    name = path.rpartition("/")[2].lower()
    if name in _WITH_SETTINGS:
        return _SETTINGS.search(head) is not None
    if b"PRIVATE KEY-----" in head and _PRIVATE_KEY.match(head):
        return True
    return name.endswith(".json") and _ACCOUNT.search(head) is not None
