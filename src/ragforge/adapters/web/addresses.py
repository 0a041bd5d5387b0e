"""Addresses: which are part of the public internet, and which hosts the user allows beside."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_NOT_PUBLIC = tuple(
    map(
        ip_network,
        (
            *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32"),
            *("169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24"),
            *("192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
            *("224.0.0.0/4", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16"),
            "3fff::/20",
        ),
    )
)
"""The special-purpose registries of IANA, whole: what `is_global` says depends on the version of
Python. No site is in 2001::/23, although parts of it are reachable. 168.63.129.16 is a service of a
cloud to its own machines. IPv6 has further ones, all outside of its global unicast addresses."""
EVERY_HOST = "*"


def is_public(address: str) -> bool:
    """Tell whether an IP address is one of the public internet.

    It is not if it is of this machine, a private network, a link, a group, reserved, or a way
    to write one of these as IPv6.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        found = _find_embedded(found) or found
    if isinstance(found, IPv6Address) and found not in _GLOBAL_UNICAST:
        return False
    return not any(found in network for network in _NOT_PUBLIC)


def _find_embedded(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address is translated to."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped


def is_allowed_host(host: str, port: int, allowed: Sequence[str]) -> bool:
    """Tell whether the user allows a host by name, such as `wiki.corp`, `wiki.corp:8080` or
    `*.corp`; `*` is every host.
    """
    return any(
        one in (EVERY_HOST, host, f"{host}:{port}")
        or (one.startswith("*.") and host.endswith(one[1:]))
        for one in (entry.lower().replace("[", "").replace("]", "") for entry in allowed)
    )
