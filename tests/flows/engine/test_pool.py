"""One run on two machines: workers in network namespaces, with a Prefect server and a PostgreSQL between them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from ipaddress import IPv4Address
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes.store import Store
from tests.fixtures.acts import ACTS, release
from tests.postgres import PASSWORD, Cluster, cluster
from tests.support.forwarder import forwarded
from tests.support.waiting import missing, wait_for

pytestmark = pytest.mark.exhaustive

ROOT = Path(__file__).parents[3]
NAMES = tuple(f"sr{os.getpid()}{letter}" for letter in "ab")
"""Of the namespaces, and of the links to them. Another session of tests on this machine has other names."""
ADDRESSES = {
    name: IPv4Address("10.192.0.1") + 4 * (os.getpid() % 2**19 * 2 + number) for number, name in enumerate(NAMES)
}
"""Our end of each link."""
EPISODES = 6
SILENT_S = "6"


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@pytest.fixture
def networks() -> Iterator[dict[str, str]]:
    """Two namespaces, each with one link to here: name -> our address on it."""
    with ExitStack() as stack:
        try:
            for name, address in ADDRESSES.items():
                ip("netns", "add", name)
                stack.callback(ip, "netns", "delete", name)
                ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
                # Explicitly: a process that outlives the test would keep the namespace, and with it the link.
                stack.callback(ip, "link", "delete", name)
                ip("address", "add", f"{address}/30", "dev", name)
                ip("link", "set", name, "up")
                ip("-n", name, "address", "add", f"{address + 1}/30", "dev", "eth0")
                ip("-n", name, "link", "set", "eth0", "up")
                ip("-n", name, "link", "set", "lo", "up")
        except (subprocess.CalledProcessError, FileNotFoundError) as error:
            reason = f"no network namespace can be made here ({getattr(error, 'stderr', b'').decode() or error})"
            missing(reason)
        yield {name: str(address) for name, address in ADDRESSES.items()}


@pytest.fixture
def postgres(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    monkeypatch.setenv("STACKRANK_SILENT_S", SILENT_S)
    with cluster() as running:
        monkeypatch.setenv("STACKRANK_DATABASE_URL", running.create())
        yield running


LOSSES = [("cut off", "paused"), ("killed", "retuned")]


@pytest.mark.parametrize(("loss", "act"), LOSSES)
def test_one_of_two_machines_is_lost(
    prefect_server: str, networks: dict[str, str], postgres: Cluster, tmp_path: Path, loss: str, act: str
) -> None:
    """Every episode has its verdict, once, whether a machine dies or only nobody hears of it any more."""
    from stackrank.flows.engine.deployments import prepare_pool

    pool = f"netns-{loss.replace(' ', '-')}{act}"
    prepare_pool(pool)
    database = os.environ["STACKRANK_DATABASE_URL"].partition("?")[0].rpartition("/")[2]
    port = urlsplit(prefect_server).port or 0
    stackrank = [sys.executable, "-m", "stackrank.flows.cli.main"]
    with ExitStack() as ends:
        workers: dict[str, subprocess.Popen[bytes]] = {}
        for name, address in networks.items():
            api = ends.enter_context(forwarded(address, ("127.0.0.1", port)))
            tables = ends.enter_context(forwarded(address, str(postgres.folder / ".s.PGSQL.5432")))
            pids = {
                "PREFECT_API_URL": f"http://{address}:{api}/api",
                "STACKRANK_DATABASE_URL": f"postgresql://stackrank:{PASSWORD}@{address}:{tables}/{database}",
                "PREFECT_WORKER_QUERY_SECONDS": "1",
            }
            log = ends.enter_context((tmp_path / f"{name}.log").open("wb"))
            command = ["ip", "netns", "exec", name, *stackrank, "worker", "--pool", pool, "--limit", "1"]
            workers[name] = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **pids}, stdout=log, stderr=log)
            ends.callback(end, workers[name].pid)
        # One shard for each: whoever is ready first plays only one at a time.
        wait_for(lambda: online(pool) == len(NAMES), "two workers", every_s=1)
        spec = ["--agent", "oracle", "--tools", "rewrite", "--limit", str(EPISODES), "--workers", "1", "--name", "pool"]
        file = tmp_path / "run.yaml"
        file.write_text(f"pool: {pool}\nshard_size: {EPISODES // 2}\nsandbox: bubblewrap\nbenchmark: bugs\n")
        run = subprocess.Popen([*stackrank, "run", str(file), *spec], cwd=ROOT)
        ends.callback(end, run.pid)
        store = Store(connect())
        lost = NAMES[1]

        def lost_one_plays() -> bool:
            runs = queries.runs(store.engine)
            players = {row["claimed_by"] for row in store.claims(runs[0]["id"])} if runs else set()
            pids = {str(child.pid) for child in psutil.Process(workers[lost].pid).children(recursive=True)}
            return any(player.split(":")[3] in pids for player in players)

        wait_for(lambda: run.poll() is not None or lost_one_plays(), "the one that is lost at work")
        if act:
            ACTS[act](1)
        if loss == "cut off":
            ip("link", "set", lost, "down")
        else:
            end(workers[lost].pid)
        release(1, act)
        assert run.wait(timeout=600) == 0
    stored = queries.run(connect(), "pool")
    rows = queries.episodes(connect(), stored["id"], counted=None)
    assert (stored["status"], stored["errors"], len(rows)) == ("finished", 0, EPISODES)
    assert Counter(row["verdict"] for row in rows).keys() <= {"resolved", "unresolved"}
    assert sum(row["interruptions"] for row in rows) >= 1


def online(pool: str) -> int:
    """How many workers a pool has."""
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as client:
        return len(client.read_workers_for_work_pool(pool))


def end(pid: int) -> None:
    """Kill a process and all that it started."""
    with contextlib.suppress(psutil.NoSuchProcess):
        top = psutil.Process(pid)
        for process in [*top.children(recursive=True), top]:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
