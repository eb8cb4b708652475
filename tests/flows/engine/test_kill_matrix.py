"""What a run stands on is killed at its start, in its middle and during scoring; verdicts are as if nothing had been.

The processes that play (the flow, a worker) are killed in `test_resume`: what they leave is the same whether Prefect
started them or not. A worker of a pool is killed in `test_pool`. Here: PostgreSQL, under a run that goes on by itself,
and a Docker engine of the test's own, after which a run may have to be resumed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import docker as docker_sdk
import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.env.sandbox.base import SandboxError
from stackrank.env.sandbox.docker import engine as docker_engine
from stackrank.env.sandbox.docker.policy import OWNER_LABEL
from stackrank.settings import settings
from tests.fixtures.acts import ACTS, WITH_ACTS, release
from tests.fixtures.env import usable
from tests.fixtures.playing import drive
from tests.flows.engine.test_resume import POINTS, assert_as_undisturbed, endpoint, scripted_run
from tests.postgres import Cluster, cluster
from tests.support.openai_server import OpenAIServer
from tests.support.session import remove, server_folder
from tests.support.waiting import missing, wait_for

pytestmark = [pytest.mark.exhaustive, pytest.mark.slow]

__all__ = ["endpoint"]
AWAY_S = 1.0


@pytest.fixture
def postgres(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    with cluster() as running:
        monkeypatch.setenv("STACKRANK_DATABASE_URL", running.create())
        yield running


@pytest.mark.parametrize("point", POINTS)
def test_postgresql_is_killed_and_comes_back(postgres: Cluster, endpoint: OpenAIServer, point: str) -> None:
    """The run waits for it: no episode is even cut off."""
    run_id = scripted_run()
    reason: list[str] = []
    playing = threading.Thread(target=lambda: reason.append(drive(run_id)))
    playing.start()
    wait_for(lambda: POINTS[point](run_id), f"an episode at its {point}")
    postgres.kill()
    time.sleep(AWAY_S)
    postgres.start()
    playing.join(timeout=600)
    assert reason == [""]
    assert_as_undisturbed(run_id, endpoint)
    assert sum(row["interruptions"] for row in queries.episodes(connect(), run_id)) == 0


class Engine:
    """A Docker engine beside the machine's own, which the test may kill."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.address = f"unix://{folder}/engine.sock"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        folder = self._folder
        # A killed engine leaves its process id and its containerd's, which the next takes for those of living ones:
        # nobody may have collected the dead yet.
        for file in ("engine.pid", "exec/containerd/containerd.pid"):
            (folder / file).unlink(missing_ok=True)
        self._process = subprocess.Popen(
            # In a network of its own: an engine without a bridge removes the one that others use.
            [
                "unshare", "--net", "dockerd", "-H", self.address, "--data-root", folder / "data",
                "--exec-root", folder / "exec",
                "--pidfile", folder / "engine.pid", "--bridge", "none", "--iptables=false", "--ip6tables=false",
            ],
            stdout=(folder / "engine.log").open("ab"),
            stderr=subprocess.STDOUT,
            env={**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"},
        )  # fmt: skip
        wait_for(self._answers, "the engine")

    def _answers(self) -> bool:
        with contextlib.suppress(docker_sdk.errors.DockerException, OSError):
            return bool(docker_sdk.DockerClient(self.address, timeout=5).ping())
        return False

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(600)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    usable("docker")
    if os.geteuid() or not (shutil.which("dockerd") or Path("/usr/sbin/dockerd").exists()):
        missing("an engine of the test's own needs root and dockerd")
    folder = server_folder("engine")
    docker_engine = Engine(folder)
    try:
        docker_engine.start()
        image = docker_sdk.from_env().images.get(settings().sandbox_image)
        docker_sdk.DockerClient(docker_engine.address, timeout=600).images.load(
            image.save(named=settings().sandbox_image)
        )
        yield docker_engine
    finally:
        docker_engine.stop()
        remove(folder)


@pytest.fixture
def on_engine(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """Sandboxes are containers of that engine."""
    caches = (docker_engine.client, docker_engine.client_with)
    monkeypatch.setenv("DOCKER_HOST", engine.address)
    for cache in caches:
        cache.cache_clear()
    yield engine
    for cache in caches:
        cache.cache_clear()


@pytest.mark.parametrize(("point", "act"), WITH_ACTS)
@pytest.mark.usefixtures("database")
def test_the_docker_engine_is_killed_and_comes_back(
    on_engine: Engine, endpoint: OpenAIServer, point: str, act: str
) -> None:
    """Episodes lose their sandboxes: they go on in new ones, in the run itself or when it is resumed."""
    run_id = scripted_run(sandbox="docker")
    reason: list[str] = []

    def play() -> None:
        with contextlib.suppress(SandboxError):
            reason.append(drive(run_id))

    playing = threading.Thread(target=play)
    playing.start()
    wait_for(lambda: POINTS[point](run_id), f"an episode at its {point}")
    if act:
        ACTS[act](run_id)
    on_engine.kill()
    time.sleep(AWAY_S)
    on_engine.start()
    release(run_id, act)
    playing.join(timeout=600)
    assert not playing.is_alive()
    drive(run_id)
    assert_as_undisturbed(run_id, endpoint, extra=2)
    containers = docker_sdk.DockerClient(on_engine.address).containers

    def sandboxes() -> list[str]:
        # This process still keeps the image in memory, and berths for further sandboxes.
        names = [container.name for container in containers.list(filters={"label": OWNER_LABEL})]
        return [name for name in names if not name.startswith(("stackrank-holder-", "stackrank-berth-"))]

    wait_for(lambda: not sandboxes(), "no sandbox is left")
