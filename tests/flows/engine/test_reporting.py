"""What others see of a run: artifacts, events, messages to a chat, log lines."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from stackrank import log
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.flows.engine import reporting
from stackrank.flows.runs.preparing.stored_run import run_label
from stackrank.flows.runs.specification.spec import SpecError, make_spec
from tests.fixtures.calls import CommandLine
from tests.fixtures.env import usable
from tests.support.waiting import wait_for

pytestmark = pytest.mark.slow


class Chat:
    """A chat's end of a webhook."""

    def __init__(self) -> None:
        self.status = 200
        self.told: list[dict[str, Any]] = []
        chat = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                chat.told.append(json.loads(body))
                self.send_response(chat.status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/services/s3cret"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    chat_server = Chat()
    monkeypatch.setenv("CHAT_URL", chat_server.url)
    yield chat_server
    chat_server.server.shutdown()
    chat_server.server.server_close()


@pytest.mark.parametrize(
    ("setting", "default", "expected"),
    [
        ("", "", ""),
        ("", "https://a.b/c", "https://a.b/c"),
        ("https://d.e/f", "https://a.b/c", "https://d.e/f"),
        ("$CHAT_HOOK", "https://a.b/c", "https://x.y/z"),
    ],
)
def test_which_webhook(setting: str, default: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_HOOK", "https://x.y/z")
    monkeypatch.setenv("STACKRANK_WEBHOOK", default)
    assert reporting.webhook_url(setting) == expected


@pytest.mark.parametrize(
    "url",
    [
        "$NOT_SET",
        "file:///etc/passwd",
        "hooks.example.com/s3cret",
        "http://",
        "http://a:b/s3cret",
        "http://[::1/s3cret",
    ],
)
def test_invalid_webhooks(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STACKRANK_WEBHOOK", raising=False)
    with pytest.raises(reporting.WebhookError, match="not an http or https address") as refused:
        reporting.webhook_url(url)
    assert "s3cret" not in str(refused.value)


def test_a_webhook_that_fails_says_so_without_its_address(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    chat.status = 500
    with pytest.raises(reporting.WebhookError, match=r"127\.0\.0\.1 answered 500") as refused:
        reporting.post_to_webhook(chat.url, "hello")
    assert "s3cret" not in str(refused.value)
    assert chat.told == [{"text": "hello"}]
    with pytest.raises(reporting.WebhookError, match="does not answer"):
        reporting.post_to_webhook("http://127.0.0.1:1/s3cret", "hello")
    monkeypatch.setattr(reporting, "WEBHOOK_TIMEOUT_S", 0.2)
    monkeypatch.setattr(chat.server.RequestHandlerClass, "do_POST", lambda self: time.sleep(2))
    with pytest.raises(reporting.WebhookError, match="Timeout"):
        reporting.post_to_webhook(chat.url, "hello")


def test_thresholds_are_checked() -> None:
    base = {"entrants": [{"agent": "oracle"}]}
    assert make_spec(base, "x").regression.alpha == 0.05
    with pytest.raises(SpecError, match=r"regression\.alpha"):
        make_spec({**base, "regression": {"alpha": 2}}, "x")
    with pytest.raises(SpecError, match=r"did you mean cost"):
        make_spec({**base, "regression": {"costs": 2}}, "x")


def test_names_of_runs() -> None:
    from datetime import datetime

    label = run_label("nightly", datetime(2026, 1, 31, 3, 0), ["a", "b", "c", "d", "e"])
    assert label == "nightly 2026-01-31 03:00 · a, b, c +2"


@pytest.mark.parametrize("kind", ["text", "json", ""])
def test_log_lines(kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.Logger("stackrank-test")
    monkeypatch.setattr(log, "_logger", logger)
    monkeypatch.setenv("STACKRANK_LOG", kind)
    log.configure()
    log.configure()
    with log.doing("episode", run=3, episode=17, what="a b") as outcome:
        outcome["verdict"] = "resolved"
    with pytest.raises(OSError), log.doing("episode", run=3, episode=18):
        raise OSError("postgresql://u:s3cret@h/db is gone")
    log.warning("odd", run=3)
    lines = capsys.readouterr().err.splitlines()
    assert not any("s3cret" in line for line in lines)
    if not kind:
        assert len(lines) == 1 and "odd run=3" in lines[0]
        return
    assert len(lines) == 5
    if kind == "json":
        finished = json.loads(lines[1])
        assert (finished["run"], finished["episode"], finished["verdict"]) == (3, 17, "resolved")
    else:
        assert lines[1].endswith('INFO episode finished run=3 episode=17 what="a b" verdict=resolved')


def _as_if_everything_had_been_solved(database: str, run: int) -> None:
    """Rewrite history: the run before did better."""
    from sqlalchemy import delete, update

    from stackrank.db.connection.transactions import EPISODE, TALLY

    with connect(database).execution_options(write=True).begin() as connection:
        connection.execute(update(EPISODE).where(EPISODE.c.run_id == run).values(verdict="resolved"))
        connection.execute(delete(TALLY).where(TALLY.c.run_id == run))  # it holds what the episodes were before


def test_a_worse_run_is_reported(
    stackrank: CommandLine, prefect_server: str, database: str, chat: Chat, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    from prefect.client.orchestration import get_client

    usable("bubblewrap")
    monkeypatch.setenv("STACKRANK_DASHBOARD_URL", "http://board.example/")
    file = tmp_path / "run.yaml"
    file.write_text(
        "benchmark: bugs\nlimit: 7\nsteps: 1\nsandbox: bubblewrap\nleaderboard: nightly\nwebhook: $CHAT_URL\n"
        "entrants:\n  - {agent: repair, tools: rewrite}\n"
    )
    first = stackrank("run", str(file), "--json").json()
    assert chat.told == [], "nothing to compare with"
    _as_if_everything_had_been_solved(database, first["run"])
    chat.status = 403
    second = stackrank("run", str(file), "--json")
    assert second.status == 0, "what happens to a message does not fail a run"
    run = queries.run(connect(database), second.json()["run"])
    (regression,) = run["regressions"]
    assert (regression["what"], regression["before"], regression["value_before"]) == ("rate", first["run"], 1.0)
    (message,) = chat.told
    explained = queries.explain_night(connect(database), first["run"], run["id"])
    assert explained["worse"]
    for part in (
        regression["sentence"],
        explained["why"],
        f"http://board.example/against?a={first['run']}&b={run['id']}",
    ):
        assert part in message["text"]
    assert "127.0.0.1 answered 403" in second.err and "s3cret" not in second.err
    assert "s3cret" not in json.dumps(run)

    with get_client(sync_client=True) as client:
        # Other tests play runs with the same number on this server.
        flow_runs = {
            flow_run.id
            for flow_run in client.read_flow_runs(limit=200)
            if flow_run.name.startswith("nightly 20") and flow_run.name.endswith("· repair (rewrite)")
        }
        artifacts = {
            artifact.key: artifact for artifact in client.read_artifacts() if artifact.flow_run_id in flow_runs
        }
        assert float(artifacts[f"run-{run['id']}-progress"].data) == 100.0
        (row,) = json.loads(artifacts[f"run-{run['id']}-result"].data)
        assert row["entrant"] == "repair (rewrite)" and row["episodes"] == 7
        summary = artifacts[f"run-{run['id']}-summary"].data
        assert regression["sentence"] in summary and "http://board.example/episode?id=" in summary

        def events() -> list[dict[str, Any]]:
            event_filter = {"filter": {"event": {"name": ["stackrank.regression"]}}}
            return list(client._client.post("/events/filter", json=event_filter).json()["events"])

        sent = wait_for(events, "an event", every_s=0.5)
        assert sent[0]["resource"]["prefect.resource.id"] == "stackrank.leaderboard.nightly"
        assert sent[0]["payload"]["sentence"] == regression["sentence"]
