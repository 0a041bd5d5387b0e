"""The socket filter, run by a small interpreter: for architectures that the tests do not run on."""

from __future__ import annotations

import struct

import pytest

from ragforge.tools.command.sandbox.landlock_launcher import build_filter

CALLS = {
    "x86_64": (0xC000003E, {"socket": 41, "connect": 42, "socketpair": 53, "read": 0}),
    "aarch64": (0xC00000B7, {"socket": 198, "connect": 203, "socketpair": 199, "read": 63}),
}
UNIX, INET, NETLINK = 1, 2, 16
STREAM, DGRAM, RAW, SEQPACKET = 1, 2, 3, 5
CLOEXEC = 0o2000000
ANSWERS = {0x7FFF0000: "yes", 0x0005000D: "no", 0x80000000: "killed"}
NO_NETWORK, NETWORK = False, True


def run(program: list[bytes], number: int, machine: int, *arguments: int) -> str:
    """Return what the filter decides about a call."""
    data = struct.pack("IIQ6Q", number, machine, 0, *arguments, *[0] * (6 - len(arguments)))
    at = loaded = 0
    while True:
        code, if_true, if_false, value = struct.unpack("HBBI", program[at])
        at += 1
        match code:
            case 0x20:
                (loaded,) = struct.unpack_from("I", data, value)
            case 0x54:
                loaded &= value
            case 0x15 | 0x35:
                holds = loaded == value if code == 0x15 else loaded >= value
                at += if_true if holds else if_false
            case 0x06:
                return ANSWERS[value]


@pytest.mark.parametrize("machine", CALLS)
@pytest.mark.parametrize(
    ("network", "is_scoped", "expected"),
    [
        (
            NO_NETWORK,
            False,
            "inet no, stream yes, packets no, connect no, pair yes, packet pair no",
        ),
        (
            NO_NETWORK,
            True,
            "inet no, stream yes, packets yes, connect yes, pair yes, packet pair yes",
        ),
        (NETWORK, False, "inet yes, stream no, packets no, connect yes, pair yes, packet pair no"),
        (
            NETWORK,
            True,
            "inet yes, stream yes, packets yes, connect yes, pair yes, packet pair yes",
        ),
    ],
)
def test_sockets_that_lead_out_are_refused(
    machine: str, network: bool, is_scoped: bool, expected: str
) -> None:
    name, calls = CALLS[machine]
    program = build_filter(machine, network, is_scoped)

    def decide(call: str, *arguments: int) -> str:
        return run(program, calls[call], name, *arguments)

    answers = {
        "inet": decide("socket", INET, STREAM),
        "stream": decide("socket", UNIX, STREAM | CLOEXEC),
        "packets": decide("socket", UNIX, DGRAM),
        "connect": decide("connect", 3),
        "pair": decide("socketpair", UNIX, SEQPACKET),
        "packet pair": decide("socketpair", UNIX, RAW | CLOEXEC),
    }
    assert ", ".join(f"{what} {answer}" for what, answer in answers.items()) == expected
    assert decide("socket", NETLINK, RAW) == decide("socket", INET, DGRAM) == answers["inet"]
    assert decide("read") == "yes"
    assert run(program, 425, name) == "no", "io_uring"


@pytest.mark.parametrize("machine", CALLS)
def test_calls_by_other_numbers_do_not_get_around_it(machine: str) -> None:
    name, calls = CALLS[machine]
    program = build_filter(machine, NO_NETWORK, False)

    assert run(program, 0x40000000 | calls["socket"], name, INET, STREAM) == "no"
    assert run(program, 359, 0x40000003, INET, STREAM) == "killed", "a 32-bit call"
