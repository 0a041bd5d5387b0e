"""Addresses: which are part of the public internet, and which hosts the user allows beside."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

_NAT64 = IPv6Network("64:ff9b::/96")
_NOT_PUBLIC = tuple(
    map(ip_network, ("168.63.129.16/32", "192.0.0.0/24", "192.88.99.0/24", "fec0::/10"))
)
"""What Python, or some version of it, takes for public: services of clouds to their own machines,
relays, and the former private networks of IPv6."""
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
    if isinstance(found, IPv6Address) and (inner := _find_embedded(found)) is not None:
        found = inner
    return (
        found.is_global
        and not found.is_multicast
        and not found.is_reserved
        and not found.is_unspecified
        and not any(found in network for network in _NOT_PUBLIC)
    )


def _find_embedded(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address leads to."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    if address.teredo is not None:
        return address.teredo[1]
    return address.ipv4_mapped or address.sixtofour


def is_allowed_host(host: str, port: int, allowed: Sequence[str]) -> bool:
    """Tell whether the user allows a host by name, such as `wiki.corp`, `wiki.corp:8080` or
    `*.corp`; `*` is every host.
    """
    return any(
        one in (EVERY_HOST, host, f"{host}:{port}")
        or (one.startswith("*.") and host.endswith(one[1:]))
        for one in (entry.lower().replace("[", "").replace("]", "") for entry in allowed)
    )
