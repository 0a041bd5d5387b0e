"""Secrets: files whose contents no command shows without permission, as read_file does not.

`holds_secrets` is the only question that the decider asks; `SECRET_NAMES` are the same names as
patterns, for programs that walk directories themselves.
"""

from __future__ import annotations

import re
from fnmatch import translate

from ragforge.brain.files.names import VERSION_CONTROL

# Each is a name in any directory, as grep, ripgrep and diff understand it alike.
SECRET_NAMES = (
    *(".env", ".env.*", "*.env", ".envrc", ".netrc", "_netrc", ".pgpass", ".pypirc", ".npmrc"),
    *(".git-credentials", ".htpasswd", ".vault-token", ".dockercfg", ".boto", ".s3cfg"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.ppk", "*.kdbx"),
    *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk"),
    *("credentials.json", "secrets.json", "secrets.yml", "secrets.yaml", "service-account*.json"),
)
_SECRET = re.compile("|".join(map(translate, SECRET_NAMES)), re.IGNORECASE)
_EXAMPLE = re.compile(r"\.env\.(example|sample|template|dist|defaults?)(\..*)?", re.IGNORECASE)
# Of git's own files, those that only name commits and paths. Others may hold credentials.
_PLAIN_IN_GIT = re.compile(
    r"HEAD|[A-Z]+_HEAD|packed-refs|description|refs/.*|hooks/[^/]*|info/(exclude|sparse-checkout)"
)


def holds_secrets(path: str) -> bool:
    """Tell whether a file, by its path in the project, may hold keys, passwords or credentials."""
    *folders, name = path.split("/")
    for depth, folder in enumerate(folders):
        if folder in VERSION_CONTROL:
            inner = "/".join([*folders[depth + 1 :], name])
            return folder != ".git" or not _PLAIN_IN_GIT.fullmatch(inner)
    return bool(_SECRET.fullmatch(name)) and not _EXAMPLE.fullmatch(name)


def is_version_control(path: str) -> bool:
    """Tell whether a path in the project is of a version control system itself."""
    return not VERSION_CONTROL.isdisjoint(path.split("/"))
