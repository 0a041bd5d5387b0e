"""Holders: telling whether the process behind a lease is still alive.

Clocks that can be set are avoided where the system offers better: on Linux a process is
identified by the boot of its machine and the ticks from there to its start.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
import time
from collections.abc import Mapping
from functools import cache
from typing import Any

from ragforge.domain.kinds import Row, Stored
from ragforge.domain.text import check_text
from ragforge.domain.work import Holder

log = logging.getLogger(__name__)

_SAME_START_SECONDS = 0.001 if sys.platform == "linux" else 1.0


@cache
def this_host() -> str:
    """Return the name of this machine and, after a space, of its boot where that is known."""
    return f"{socket.gethostname()} {_read_boot_id()}".rstrip()


def read_boot_clock() -> int | None:
    """Return the milliseconds since the boot, None where the boot has no name.

    All processes of one boot read the same clock, which cannot be set.
    """
    if not _read_boot_id():
        return None
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


def is_this_boot(host: str) -> bool:
    """Tell whether a host is this machine, or a container on it, since it was started."""
    boot = host.partition(" ")[2]
    return boot != "" and boot == _read_boot_id()


def this_process() -> Holder:
    """Return a new holder for the running process."""
    return Holder(this_host(), os.getpid(), _start_of(os.getpid()) or 0.0)


def encode_holder(holder: Holder) -> Row:
    """Return a holder's columns in a lease."""
    check_text("holder.token", holder.token)
    check_text("holder.host", holder.host)
    return {
        "token": holder.token,
        "host": holder.host,
        "pid": holder.pid,
        "started": holder.started,
    }


def decode_holder(row: Stored) -> Holder:
    return Holder(row["host"], row["pid"], row["started"], row["token"])


def describe_process() -> str:
    """Return a text that identifies the running process."""
    holder = this_process()
    return f"{holder.host} {holder.pid} {holder.started}"


def is_gone(process: str) -> bool:
    """Tell whether the process of a description is known to be gone."""
    try:
        host, pid, started = process.rsplit(" ", 2)
        return is_dead(host, int(pid), float(started))
    except ValueError:
        return False


def is_dead(host: str, pid: int, started: float) -> bool:
    """Tell whether the process is known to be gone; one on another host never is."""
    name, _, boot = host.partition(" ")
    if name != socket.gethostname():
        return False
    start = _start_of(pid)
    if not boot and _read_boot_id():  # written by an older version: its start is a time of day
        return start is None
    if boot != _read_boot_id():
        return True
    return start is None or abs(start - started) > _SAME_START_SECONDS


def is_running(pid: int) -> bool:
    """Tell whether a process with this number is alive on this machine."""
    return _start_of(pid) is not None


def log_takeover(what: str, left: Mapping[str, Any]) -> None:
    """Write to the log that a lease is taken over from a process that ended or is late."""
    log.warning("%s is taken over from process %s on %s", what, left["pid"], left["host"])


def _start_of(pid: int) -> float | None:
    if sys.platform != "linux":
        return _start_by_psutil(pid)
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state, *facts = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if state == b"Z" else int(facts[18]) / os.sysconf("SC_CLK_TCK")


@cache
def _read_boot_id() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:  # another system
        return ""


def _start_by_psutil(pid: int) -> float | None:
    import psutil  # slow to load

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return float(process.create_time())
    except psutil.Error:
        return None
