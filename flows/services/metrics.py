"""Prometheus metrics, read from the database at every scrape, so that all processes report the same."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.connection.errors import DatabaseError
from stackrank.db.totals.counters import BOUNDS
from stackrank.flows.runs.playing.error_policy import FAULT, POLICIES
from stackrank.host.listening import is_known_host, is_loopback, listen
from stackrank.terms import RunStatus, Verdict

_CAUSES = sorted({policy.cause for policy in (*POLICIES.values(), FAULT)})
_Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class DatabaseCollector(Collector):
    """Reads the metrics from the database. If it does not answer, `stackrank_up` is 0 and the rest is missing."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def describe(self) -> Iterable[Metric]:
        """Return nothing, so that the database is not asked when the collector is registered."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the current metrics."""
        up = GaugeMetricFamily("stackrank_up", "Whether the database answers.")
        try:
            totals = queries.totals(self._engine)
            stalled_metrics = list(_stalled_metrics(self._engine))
        except DatabaseError:
            up.add_metric([], 0)
            yield up
            return
        up.add_metric([], 1)
        yield up
        yield from _count_metrics(totals)
        yield from _sum_metrics(totals)
        yield from stalled_metrics


def _stalled_metrics(engine: Engine) -> Iterator[Metric]:
    """Yield metrics of what has stopped: stalled runs, endpoints that are down, and the age of the queue."""
    stalled = queries.health(engine, runs=0)["stalled"]
    yield GaugeMetricFamily("stackrank_runs_stalled", "Runs in progress that no worker plays.", value=len(stalled))
    out = {endpoint for run in queries.runs(engine, status="running") for endpoint in run["outages"] or {}}
    down = GaugeMetricFamily("stackrank_endpoint_down", "Endpoints that a run waits for: 1.", labels=["endpoint"])
    for endpoint in sorted(out):
        down.add_metric([endpoint], 1)
    yield down
    age = queries.queue_age_s(engine)
    yield GaugeMetricFamily(
        "stackrank_queue_age_seconds",
        "How long the next episode has waited, in the run where it waits longest.",
        value=age,
    )


def _count_metrics(totals: dict[str, Any]) -> Iterator[Metric]:
    runs = GaugeMetricFamily("stackrank_runs", "Runs by status.", labels=["status"])
    for status in RunStatus:
        runs.add_metric([status], totals["runs"].get(status, 0))
    episodes = CounterMetricFamily("stackrank_episodes", "Counted episodes by verdict.", labels=["verdict"])
    for verdict in Verdict:
        episodes.add_metric([verdict], totals["verdicts"].get(verdict, {}).get("episodes", 0))
    errors = CounterMetricFamily(
        "stackrank_errors", "Errors of episodes, by cause; most are retried.", labels=["cause"]
    )
    for cause in _CAUSES:
        errors.add_metric([cause], totals["errors"].get(cause, 0))
    errors.add_metric(["other"], sum(count for cause, count in totals["errors"].items() if cause not in _CAUSES))
    yield from (runs, episodes, errors)
    yield GaugeMetricFamily("stackrank_episodes_running", "Episodes in progress.", value=totals["running"])
    yield GaugeMetricFamily("stackrank_episodes_queued", "Episodes that have not started.", value=totals["pending"])
    yield CounterMetricFamily("stackrank_retries", "Retries of episodes.", value=totals["retried"])


def _sum_metrics(totals: dict[str, Any]) -> Iterator[Metric]:
    durations = HistogramMetricFamily(
        "stackrank_episode_duration_seconds", "How long counted episodes took.", labels=["verdict"]
    )
    tokens = CounterMetricFamily("stackrank_tokens", "Tokens of counted episodes.", labels=["direction"])
    for verdict, row in sorted(totals["verdicts"].items()):
        buckets = [(str(float(limit)), count) for limit, count in zip(BOUNDS, row["within"], strict=True)]
        durations.add_metric([verdict], buckets=[*buckets, ("+Inf", row["episodes"])], sum_value=row["wall_s"])
    rows = totals["verdicts"].values()
    tokens.add_metric(["in"], sum(row["tokens_in"] for row in rows))
    tokens.add_metric(["out"], sum(row["tokens_out"] for row in rows))
    yield from (durations, tokens)
    cost = sum(row["cost_usd"] for row in rows)
    yield CounterMetricFamily("stackrank_cost_usd", "Dollars that counted episodes cost, where known.", value=cost)


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: there is a scrape every few seconds."""


def application(engine: Engine, names: Collection[str] | None = None) -> _Application:
    """Make the WSGI application: `/metrics`, and `/health`, which is 200 if the database answers and 503 otherwise.

    `names`: the names by which it is called; None: any.
    """
    registry = CollectorRegistry()
    registry.register(DatabaseCollector(engine))
    metrics: _Application = make_wsgi_app(registry)

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        path = environ.get("PATH_INFO")
        if names is not None and not is_known_host(environ.get("HTTP_HOST", ""), names):
            start_response("421 Misdirected Request", [("Content-Type", "text/plain; charset=utf-8")])
            return [b"name this server by its address, or as --host does\n"]
        if path == "/metrics":
            return metrics(environ, start_response)
        if path == "/health":
            try:
                queries.runs(engine, limit=1)
                status, text = "200 OK", "ok"
            except DatabaseError as error:
                status, text = "503 Service Unavailable", str(error)
        else:
            status, text = "404 Not Found", "there are /metrics and /health"
        start_response(status, [("Content-Type", "text/plain; charset=utf-8")])
        return [f"{text}\n".encode()]

    return answer


def serve(engine: Engine, port: int, host: str) -> WSGIServer:
    """Start serving in a thread. Raises UsageError if the port is not available."""
    # For other machines it has names that only their operators know, and it has nothing that they may not read.
    names = {host} if is_loopback(host) else None
    listen(host, port).close()
    server = make_server(host, port, application(engine, names), server_class=_Server, handler_class=_QuietHandler)
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server
