"""Exit codes of all commands."""

from __future__ import annotations

FAILED = 1
"""Something failed; one sentence on stderr says what."""
MISUSED = 2
"""Wrong arguments or settings."""
INCOMPLETE = 3
"""An answer is missing or broke off, or something could not be searched or imported."""
INTERRUPTED = 130
"""The user interrupted it."""
BY_SIGNAL = 128
"""Added to the number of the signal that ended it: 129 for SIGHUP, 143 for SIGTERM."""
