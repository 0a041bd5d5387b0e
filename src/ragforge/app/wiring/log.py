"""Log: what went wrong, in a file that a bug report can attach."""

from __future__ import annotations

import logging
from contextlib import suppress
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from ragforge.private_files import open_private

FILE_NAME = "ragforge.log"
VARIABLE = "RAGFORGE_LOG"
LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "off": logging.CRITICAL + 1,
}
DEFAULT = "info"
MAX_BYTES = 1_000_000
OLDER_FILES = 2

_FORMAT = "%(asctime)s %(levelname)s %(process)d %(name)s: %(message)s"
_LOGGERS = ("ragforge", "asyncio")  # asyncio reports the failures that no task waited for


def open_log(folder: Path, level_name: str | None, *, debug: bool = False) -> None:
    """Write the records of this process to the log in a folder, and no longer to an earlier one.

    The file is created with the first record. Without a name that is known the level is `info`;
    `debug` beats the name.
    """
    name = "debug" if debug else (level_name or DEFAULT).lower()
    handler = LogFile(folder / FILE_NAME)
    for logger in map(logging.getLogger, _LOGGERS):
        for old in [old for old in logger.handlers if isinstance(old, LogFile)]:
            logger.removeHandler(old)
        logger.addHandler(handler)
        logger.setLevel(LEVELS.get(name, LEVELS[DEFAULT]))


class LogFile(RotatingFileHandler):
    """A rotating file without secrets. A record that cannot be written is dropped.

    It is open only while a record is written: several processes share it, and any may rotate it.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=MAX_BYTES, backupCount=OLDER_FILES, delay=True)
        self.setFormatter(_Redacted(_FORMAT))

    def emit(self, record: logging.LogRecord) -> None:
        super().emit(record)
        with suppress(OSError):
            self.close()

    def handleError(self, record: logging.LogRecord) -> None:
        """Drop the record: the disk is full, or the folder is read-only."""

    def _open(self) -> TextIOWrapper:
        return open_private(Path(self.baseFilename))


class _Redacted(logging.Formatter):
    """Formats a record with the redaction that stored text gets."""

    def format(self, record: logging.LogRecord) -> str:
        from ragforge.memory.secrets.redact import redact  # most runs log nothing

        return redact(super().format(record))
