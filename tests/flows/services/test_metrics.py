"""Prometheus metrics, as a scraper sees them."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from stackrank.db.connection.engine import connect
from stackrank.db.writes.store import Store
from stackrank.flows.services.metrics import serve
from tests.support.episodes import create_episodes, start

pytestmark = pytest.mark.slow


def fetch(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=300) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def samples(text: str) -> dict[str, float]:
    """`name{label=value}` -> value."""
    samples = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            samples[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return samples


def fill(database: str) -> None:
    store = Store(connect(database))
    tasks = [{"name": f"t{n}", "digest": f"d{n}"} for n in range(6)]
    benchmark = store.save_benchmark(name="bugs", digest="b", license="", source="", tasks=tasks)
    entrant = store.save_entrant(digest="e", name="one", agent="a")
    run = store.create_run(name="r", benchmark_id=benchmark.id, spec={})
    ids = list(create_episodes(store, run, [(task, entrant, 1) for task in benchmark.task_ids.values()]).values())
    store.start_run(run)
    for episode in ids[:5]:
        start(store, episode)
    fields = {"stop_reason": "submitted", "tokens_in": 100, "tokens_out": 7, "cost_usd": 0.5}
    store.finish_episode(ids[0], verdict="resolved", wall_s=3.0, **fields)
    store.finish_episode(ids[1], verdict="resolved", wall_s=100.0, **fields)
    store.finish_episode(ids[2], verdict="unresolved", wall_s=20.0, **fields)
    store.finish_episode(ids[3], verdict="error", stop_reason="error", error="the sandbox: no engine")
    store.retry_episode(ids[3])


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_what_is_scraped(kind: str, request: pytest.FixtureRequest, database: str) -> None:
    from tests.postgres import cluster

    if kind == "sqlite":
        _check(database)
        return
    with cluster() as running:
        _check(running.create())


def _check(database: str) -> None:
    fill(database)
    engine = connect(database)
    server = serve(engine, 0, "127.0.0.1")
    try:
        base = f"http://127.0.0.1:{server.server_port}"
        assert fetch(f"{base}/health") == (200, "ok\n")
        assert fetch(f"{base}/else")[0] == 404
        metrics = samples(fetch(f"{base}/metrics")[1])
    finally:
        server.shutdown()
        server.server_close()
        engine.dispose()
    assert metrics["stackrank_up"] == 1
    assert metrics["stackrank_runs{status=running}"] == 1
    assert metrics["stackrank_runs{status=failed}"] == 0
    assert metrics["stackrank_episodes_total{verdict=resolved}"] == 2
    assert metrics["stackrank_episodes_total{verdict=error}"] == 0, "the try was repeated"
    assert (metrics["stackrank_episodes_running"], metrics["stackrank_episodes_queued"]) == (1, 2)
    assert metrics["stackrank_retries_total"] == 1
    assert metrics["stackrank_errors_total{cause=the sandbox}"] == 1
    assert metrics["stackrank_errors_total{cause=other}"] == 0
    assert metrics["stackrank_tokens_total{direction=in}"] == 300
    assert metrics["stackrank_cost_usd_total"] == 1.5
    durations = "stackrank_episode_duration_seconds"
    assert metrics[f"{durations}_bucket{{le=5.0,verdict=resolved}}"] == 1
    assert metrics[f"{durations}_bucket{{le=+Inf,verdict=resolved}}"] == 2
    assert metrics[f"{durations}_sum{{verdict=resolved}}"] == 103.0


def test_a_database_that_is_gone(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    engine = connect(f"sqlite:///{file}")
    engine.dispose()
    file.write_bytes(b"not a database at all" * 100)
    server = serve(engine, 0, "127.0.0.1")
    try:
        base = f"http://127.0.0.1:{server.server_port}"
        status, text = fetch(f"{base}/health")
        assert status == 503 and "is not a database" in text
        assert samples(fetch(f"{base}/metrics")[1]) == {"stackrank_up": 0}
    finally:
        server.shutdown()
        server.server_close()


def test_the_command(database: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "stackrank.flows.cli.main", "metrics", "--port", "0"],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        url = next(word for word in line.split() if word.startswith("http"))
        assert "stackrank_up 1.0" in fetch(url)[1]
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(600) == 0
