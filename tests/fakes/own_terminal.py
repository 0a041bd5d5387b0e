"""Runs a module on the terminal that is its input, as the one that Ctrl-C there interrupts."""

from __future__ import annotations

import fcntl
import os
import runpy
import signal
import sys
import termios

if __name__ == "__main__":
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent process may ignore it
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
