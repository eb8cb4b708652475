"""One line for each thing that happens to a run or an episode, on standard error, where `STACKRANK_LOG` asks for it.

`STACKRANK_LOG=text` is for people, `STACKRANK_LOG=json` for programs: one object a line. Without it, warnings only.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from db.errors import masked

_logger = logging.getLogger("stackrank")


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """`TIME LEVEL message run=3 episode=17`."""
        fields = " ".join(f"{name}={_plain(value)}" for name, value in _fields(record).items())
        return masked(f"{_time(record)} {record.levelname} {record.getMessage()} {fields}".rstrip())


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """One JSON object."""
        about = {"time": _time(record), "level": record.levelname.lower(), "message": record.getMessage()}
        return masked(json.dumps(about | _fields(record), ensure_ascii=False, default=str))


def configure() -> None:
    """Do what `STACKRANK_LOG` says; calling it again changes nothing."""
    kind = os.environ.get("STACKRANK_LOG", "").lower()
    if not _logger.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_Json() if kind == "json" else _Text())
        _logger.addHandler(handler)
        _logger.setLevel(logging.INFO if kind else logging.WARNING)
        _logger.propagate = False


def info(message: str, /, **fields: Any) -> None:
    """Something happened; `fields` say to which run and episode."""
    _logger.info(message, extra={"fields": fields})


def warning(message: str, /, **fields: Any) -> None:
    """Something went wrong that does not end the run."""
    _logger.warning(message, extra={"fields": fields})


@contextmanager
def doing(what: str, /, **fields: Any) -> Iterator[dict[str, Any]]:
    """Say when something starts, and how it ends: with what is put into the dictionary, or with its error."""
    info(f"{what} started", **fields)
    outcome: dict[str, Any] = {}
    try:
        yield outcome
    except BaseException as error:
        info(f"{what} failed", **fields, error=error)
        raise
    info(f"{what} finished", **{**fields, **outcome})


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in getattr(record, "fields", {}).items() if value not in (None, "")}


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _plain(value: Any) -> str:
    text = " ".join(str(value).split())
    return json.dumps(text, ensure_ascii=False) if " " in text else text
