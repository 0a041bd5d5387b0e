"""Holders: telling whether the process behind a lease is still alive."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any

from ragforge.domain.work import Holder

log = logging.getLogger(__name__)

_SAME_START_SECONDS = 1.0


@cache
def this_host() -> str:
    return socket.gethostname()


def this_process() -> Holder:
    """Return a new holder for the running process."""
    return Holder(this_host(), os.getpid(), _start_of(os.getpid()) or 0.0)


def describe_process() -> str:
    """Return what tells the running process from all others, as text."""
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
    if host != this_host():
        return False
    start = _start_of(pid)
    return start is None or abs(start - started) > _SAME_START_SECONDS


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
    return None if state == b"Z" else _read_boot_time() + int(facts[18]) / os.sysconf("SC_CLK_TCK")


@cache
def _read_boot_time() -> float:
    with open("/proc/stat", "rb") as file:
        return next(float(line.split()[1]) for line in file if line.startswith(b"btime"))


def _start_by_psutil(pid: int) -> float | None:
    import psutil  # takes a while to load

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return float(process.create_time())
    except psutil.Error:
        return None
