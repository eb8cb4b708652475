"""Log lines on standard error, one for each event of a run or an episode, if `STACKRANK_LOG` asks for them.

`STACKRANK_LOG=text` is for people, `STACKRANK_LOG=json` for programs: one object a line. Without it, only warnings are
printed. Any module may also use `logging.getLogger(__name__)`: its name begins with `stackrank.`, so its records are
printed in the same way.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from stackrank.wording import as_json, masked, visible

_logger = logging.getLogger("stackrank")


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Format a record as `TIME LEVEL message run=3 episode=17`."""
        fields = " ".join(f"{name}={_plain(value)}" for name, value in _fields(record).items())
        return visible(masked(f"{_time(record)} {record.levelname} {record.getMessage()} {fields}".rstrip()))


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Format a record as one JSON object."""
        record_fields = {"time": _time(record), "level": record.levelname.lower(), "message": record.getMessage()}
        return masked(as_json(record_fields | _fields(record)))


class _Handler(logging.Handler):
    """Writes to the current standard error, in the form that the current settings ask for."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line, if the settings ask for it."""
        from stackrank.settings import settings  # imported late: commands that only print their help do not need it

        try:
            kind = settings().log
            if kind or record.levelno >= logging.WARNING:
                sys.stderr.write(f"{_FORMS[kind or 'text'].format(record)}\n")
                sys.stderr.flush()
        except Exception:
            self.handleError(record)


_FORMS = {"text": _Text(), "json": _Json()}


def configure() -> None:
    """Print the records of stackrank's loggers as `STACKRANK_LOG` says; calling it again changes nothing."""
    if not _logger.handlers:
        _logger.addHandler(_Handler())
        _logger.setLevel(logging.INFO)
        _logger.propagate = False


def info(message: str, /, **fields: Any) -> None:
    """Log an event; `fields` name the run and the episode."""
    _logger.info(message, extra={"fields": fields})


def warning(message: str, /, **fields: Any) -> None:
    """Log a problem that does not end the run."""
    _logger.warning(message, extra={"fields": fields})


@contextmanager
def doing(activity: str, /, **fields: Any) -> Iterator[dict[str, Any]]:
    """Log how something starts and ends: with the fields that the body puts into the dictionary, or with its error."""
    info(f"{activity} started", **fields)
    outcome: dict[str, Any] = {}
    try:
        yield outcome
    except BaseException as error:
        info(f"{activity} failed", **fields, error=error)
        raise
    info(f"{activity} finished", **{**fields, **outcome})


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in getattr(record, "fields", {}).items() if value not in (None, "")}


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _plain(value: Any) -> str:
    text = " ".join(str(value).split())
    return json.dumps(text, ensure_ascii=False) if " " in text else text
