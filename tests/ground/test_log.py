"""`STACKRANK_LOG` controls the log of every module."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from stackrank import log
from stackrank.env.sandbox import pool
from tests.test_layout import ROOT, sources


@pytest.fixture(autouse=True)
def _configured() -> None:
    log.configure()


def test_pool_warning_is_logged_as_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("STACKRANK_LOG", "json")
    pool.log.warning("no sandbox could be started ahead: %s", "postgresql://u:s3cret@h/db")
    (line,) = capsys.readouterr().err.splitlines()
    document = json.loads(line)
    assert (document["level"], document["message"]) == (
        "warning",
        "no sandbox could be started ahead: postgresql://u:***@h/db",
    )


@pytest.mark.parametrize(("kind", "lines"), [("", 1), ("text", 2), ("json", 2)])
def test_default_log_level_is_warning(
    kind: str, lines: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STACKRANK_LOG", kind)
    logging.getLogger("stackrank.agents.somewhere").info("it goes on")
    log.warning("odd", run=3)
    assert len(capsys.readouterr().err.splitlines()) == lines


@pytest.mark.parametrize("room", ["env", "agents", "db", "flows", "dashboard"])
def test_loggers_are_named_after_their_modules(room: str) -> None:
    for path in sources(ROOT / room):
        text = Path(path).read_text(encoding="utf-8")
        assert text.count("getLogger(") == text.count("getLogger(__name__)"), path
