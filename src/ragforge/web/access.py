"""Access: who may see the page. A one-time token or a password is exchanged for a cookie."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import ip_address

MAX_ATTEMPTS = 10
"""Maximum number of wrong passwords; later ones are refused."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(slots=True)
class Access:
    """The secrets of one running page, and the names of its host."""

    port: int
    hosts: Sequence[str] = LOOPBACK
    password: str | None = None  # None: the address in the terminal is the only way in
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    key: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    # Browsers send cookies to every port of a host. They send them only below their path, which
    # another user's server on this machine does not know.
    base: str = field(default_factory=lambda: f"/{secrets.token_hex(8)}")
    attempts: int = 0

    @property
    def address(self) -> str:
        """The address to open first; it works once."""
        return f"{self.root}/enter?token={self.token}"

    @property
    def root(self) -> str:
        """The address of the page itself."""
        return f"http://{self.hosts[0]}:{self.port}{self.base}"

    @property
    def form_token(self) -> str:
        """What every form that changes something must carry."""
        return hmac.new(self.key.encode(), b"form", sha256).hexdigest()

    def is_known_host(self, host: str) -> bool:
        """Tell whether a request names this page by a known host, against DNS rebinding."""
        return host.lower() in {f"{name}:{self.port}" for name in self.hosts}

    def is_own_origin(self, origin: str, host: str) -> bool:
        """Tell whether a request comes from a page of ours, opened under the same name."""
        return origin.lower() == f"http://{host.lower()}"

    def use_token(self, given: str) -> bool:
        """Tell whether this is the token, and let it be used once."""
        if not self.token or not _are_same(given, self.token):
            return False
        self.token = ""
        return True

    def check_password(self, given: str) -> bool:
        """Tell whether this is the password. After too many wrong ones, none is right."""
        if self.password is None or self.attempts >= MAX_ATTEMPTS:
            return False
        if _are_same(given, self.password):
            return True
        self.attempts += 1
        return False

    def is_cookie(self, given: str) -> bool:
        return _are_same(given, self.key)

    def is_form_token(self, given: str) -> bool:
        return _are_same(given, self.form_token)


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach a host."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def list_hosts(host: str) -> tuple[str, ...]:
    """Return the names under which a page at this host may be called, the best first."""
    written = f"[{host}]" if ":" in host else host
    return tuple(dict.fromkeys((written, *LOOPBACK)))


def _are_same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), secret.encode())
