"""The log of a server: lines of text, or JSON objects, on standard error."""

from __future__ import annotations

import json
import logging
import re
import sys
import time

from jellyframe.errors import one_line
from jellyframe.grpc.config import LogFormat

LOGGER_NAME = "jellyframe.grpc"
_WORD = re.compile(r"[\w./:@%+\[\]-]+")
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def set_up(level: str, log_format: LogFormat) -> None:
    """Set up the server's log: to standard error, with a minimum level."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines() if log_format == "json" else _TextLines())
    logger = logging.getLogger(LOGGER_NAME)
    logger.handlers[:] = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False


def _extras(record: logging.LogRecord) -> dict[str, object]:
    return {key: value for key, value in vars(record).items() if key not in _STANDARD}


def _time(record: logging.LogRecord) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"


def _quoted(text: str) -> str:
    """Return a value unchanged if it is one word, otherwise in quotation marks: it may come from clients."""
    return text if _WORD.fullmatch(text) else json.dumps(one_line(text), ensure_ascii=False)


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, object] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **_extras(record),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry, default=str)


class _TextLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        extras = "".join(f" {key}={_quoted(str(value))}" for key, value in _extras(record).items())
        line = f"{_time(record)} {record.levelname.lower()} {one_line(record.getMessage())}{extras}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line
