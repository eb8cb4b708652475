"""The proxy before a Docker engine: real sandboxes and environments are made through it, and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import docker as docker_sdk
import pytest

from stackrank.env.environment import Environment
from stackrank.env.sandbox.base import SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.docker import berths, channel, engine
from stackrank.env.sandbox.docker import policy as docker_policy
from stackrank.env.sandbox.docker.backend import DockerBackend
from stackrank.env.sandbox.docker.policy import Allowed, NotAllowed
from stackrank.env.task import Limits
from stackrank.flows.services.engine_proxy import EngineProxy
from tests.fixtures.env import usable
from tests.flows.services.test_engine_policy import ALLOWED, SPEC

ENGINE = Path("/var/run/docker.sock")


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Path]:
    """The socket of a proxy before this machine's engine."""
    usable("docker")
    path = tmp_path / "docker.sock"
    ready = threading.Event()
    ends: list[Callable[[], object]] = []

    async def run() -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task
        ends.append(lambda: loop.call_soon_threadsafe(task.cancel))
        await EngineProxy(ENGINE, ALLOWED).serve(path, ready.set)

    def serve() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(run())

    thread = threading.Thread(target=serve)
    thread.start()
    ready.wait()
    yield path
    ends[0]()
    thread.join()


@pytest.fixture
def through(proxy: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DockerBackend]:
    """The backend, which has nothing but the proxy."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{proxy}")
    for cached in (engine.client, engine.client_with):
        cached.cache_clear()
    yield DockerBackend()
    for cached in (engine.client, engine.client_with):
        cached.cache_clear()


@pytest.mark.parametrize("berth", [True, False])
def test_all_that_the_backend_does_goes_through(
    through: DockerBackend, berth: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "_PATIENCE_S", 60)
    monkeypatch.setattr(berths, "_KEPT", 0)
    if not berth:
        monkeypatch.setattr(berths, "_REFUSALS", 0)
    assert through.problem() is None
    with Sandbox(through, SPEC) as sandbox:
        sandbox.put({"a.py": b"print(6 * 7)\n"})
        assert sandbox.run("python a.py; echo 1 > b", 30).output == "42\n"
        assert sandbox.changes().files == {"b": b"1\n"}
        big = b"x" * 5_000_000
        sandbox.put({"big": big})
        assert sandbox.read("big") == big
        assert sandbox.used_s() > 0
        own = sandbox._channel.berth.carrier if berth else sandbox._channel  # type: ignore[attr-defined]
        assert isinstance(own, channel.DockerChannel)
        own._check()
        assert through.reap() == []
    assert sandbox.closed
    assert own._exits_by_itself()


def test_an_environment_is_built_through_it(through: DockerBackend) -> None:
    environment = Environment(setup=(f"mkdir made && echo {uuid.uuid4().hex} > made/it",)).with_source({"a": b""})
    spec = SandboxSpec(environment=environment, limits=Limits(timeout_s=30), warm=False)
    through.prepare(spec)
    with Sandbox(through, spec) as sandbox:
        sandbox.put({"a": b""})
        assert len(sandbox.run("cat made/it; ls /opt/stackrank-pip 2>/dev/null", 30).output) == 33
    docker_sdk.DockerClient(f"unix://{ENGINE}").images.remove(through._images[spec], force=True)


@pytest.mark.parametrize(
    "line",
    [
        "POST /containers/x/exec",
        "POST /exec/x/start",
        "POST /build",
        "POST /containers/x/update",
        "POST /containers/x/rename?name=y",
        "POST /containers/x/kill",
        "POST /containers/prune",
        "GET /containers/x/archive?path=/",
        "GET /containers/x/export",
        "POST /containers/x/start?detachKeys=a",
        "POST /containers/x/wait?condition=next-exit",
        "POST /containers/x/attach/ws",
        "GET /containers/json",
        "GET /containers/json?filters=%7B%7D",
        "GET /containers/json?filters=%7B%7D&filters=%7B%22label%22%3A+%5B%22stackrank.owner%22%5D%7D",
        "POST /containers/create?name=postgres",
        "POST /containers/create?name=stackrank-1&platform=x",
        "GET /containers/..%2F..%2Finfo/json",
        "GET /images/../containers/x/json",
        "GET /images//json",
        "GET /info",
        "GET /events",
        "GET /secrets",
        "GET /volumes",
        "POST /volumes/create",
        "POST /networks/create",
        "POST /networks/x/connect",
        "POST /plugins/pull?remote=x",
        "POST /swarm/init",
        "POST /session",
        "POST /grpc",
        "POST /auth",
        "POST /images/load",
        "POST /images/x/tag?repo=postgres",
        "DELETE /images/postgres:17",
        "POST /images/create?fromSrc=-&repo=postgres",
        "POST /images/create?fromImage=other/x&tag=1",
        "POST /images/create?fromImage=allowed/x",
        "POST /commit?container=x&repo=postgres&tag=0123456789abcdef",
        "POST /commit?container=x&repo=stackrank-env&tag=latest",
        "POST /commit?container=x&repo=stackrank-env&tag=0123456789abcdef&changes=VOLUME+/",
        "POST /commit?repo=stackrank-env&tag=0123456789abcdef",
        "PUT /containers/x/archive?path=/etc",
        "DELETE /containers/x?link=1",
        "GET http://other/info",
        "OPTIONS *",
    ],
)
def test_other_calls_are_refused_in_a_sentence(line: str) -> None:
    method, _, target = line.partition(" ")
    for version in ("", "/v1.41"):
        with pytest.raises(NotAllowed) as refused:
            docker_policy.parse_request(method, version + target, ALLOWED)
        assert 20 < len(str(refused.value)) < 300
    assert docker_policy.parse_request("POST", "/images/create?fromImage=allowed/x&tag=1", ALLOWED)
    with pytest.raises(NotAllowed):
        docker_policy.parse_request("POST", "/images/create?fromImage=allowed/x&tag=1", Allowed())


@pytest.fixture
def foreign_container() -> Iterator[str]:
    """The id of a container that is not stackrank's."""
    usable("docker")
    engine = docker_sdk.DockerClient(f"unix://{ENGINE}")
    container = engine.containers.create("stackrank-sandbox:latest", name=f"others-{uuid.uuid4().hex[:8]}")
    yield str(container.id)
    container.remove(force=True)


def _say(path: Path, data: bytes) -> bytes:
    """What comes back for bytes, until the other end hangs up or has had enough."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(60)
        client.connect(str(path))
        client.sendall(data)
        answer = b""
        while chunk := client.recv(1 << 16):
            answer += chunk
        return answer


def test_containers_of_others_are_not_ours_to_call(proxy: Path, foreign_container: str) -> None:
    calls = ("GET {}/json", "POST {}/start", "POST {}/attach?stream=1", "DELETE {}?force=1", "GET {}/logs?stdout=1")
    for call in (*calls, "POST {}/wait", "PUT {}/archive?path=/", "GET {}/stats?stream=0"):
        line = call.format(f"/v1.41/containers/{foreign_container}")
        answer = _say(proxy, f"{line} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 403 ") and b"is not stackrank's" in answer, call
    query = f"container={foreign_container}&repo=stackrank-env&tag=0123456789abcdef"
    answer = _say(proxy, f"POST /commit?{query} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{{}}".encode())
    assert b"is not stackrank's" in answer
    engine = docker_sdk.DockerClient(f"unix://{proxy}")
    # Other tests remove theirs meanwhile.
    listed = engine.containers.list(all=True, filters={"label": "stackrank.owner"}, ignore_removed=True)
    assert foreign_container not in {container.id for container in listed}


def test_a_sandbox_is_no_place_for_what_builds_may(through: DockerBackend, proxy: Path) -> None:
    with Sandbox(through, SPEC) as sandbox:
        for call in ("GET {}/logs?stdout=1", "PUT {}/archive?path=/"):
            line = call.format(f"/containers/{sandbox.name}")
            assert b"403" in _say(proxy, f"{line} HTTP/1.1\r\nHost: x\r\n\r\n".encode())[:20]


ESCAPE = b"GET /info HTTP/1.1\r\nHost: x\r\n\r\n"


def test_nothing_rides_behind_a_request(proxy: Path, foreign_container: str) -> None:
    attach = b"POST /containers/%s/attach?stream=1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n"
    behind = {
        "a second request": b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n" + ESCAPE,
        "a body that nobody wants": b"GET /version HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(ESCAPE)
        + ESCAPE,
        "two lengths": b"GET /version HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 31\r\n\r\n" + ESCAPE,
        "a length and chunks": b"GET /version HTTP/1.1\r\nHost: x\r\nContent-Length: 31\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + ESCAPE,
        "after an attach to nothing": attach % b"missing" + b"\r\n" + ESCAPE,
        "after an attach to another": attach % foreign_container.encode() + b"\r\n" + ESCAPE,
        "a line in the target": b"GET /version?x=%0d%0aGET%20/info HTTP/1.1\r\nHost: x\r\n\r\n",
        "a head without end": b"GET /version HTTP/1.1\r\nX: " + b"x" * 200_000,
        "no request": b"\x16\x03\x01 nonsense\r\n\r\n",
    }
    for case, data in behind.items():
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            answer = _say(proxy, data)
            assert (
                answer.count(b"HTTP/1.1 ") == 1 and b"Containers" not in answer and b'KernelVersion":""' not in answer
            )
            assert b"ServerVersion" not in answer, case


def test_an_attach_that_the_engine_refuses_becomes_no_stream(proxy: Path) -> None:
    """The container is ours and cannot be attached to, so the engine goes on reading requests."""
    engine = docker_sdk.DockerClient(f"unix://{ENGINE}")
    container = engine.containers.create(
        "stackrank-sandbox:latest", command=["true"], labels={"stackrank.owner": "a:1:2"}
    )
    try:
        container.start()
        container.wait()
        data = b"POST /containers/%s/attach?stream=0 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
        answer = _say(proxy, data % str(container.id).encode() + ESCAPE)
        assert b"ServerVersion" not in answer
    finally:
        container.remove(force=True)


def test_an_engine_that_is_away_is_said(tmp_path: Path, proxy: Path) -> None:
    async def ask() -> bytes:
        path = tmp_path / "other.sock"
        ready = asyncio.Event()
        served = asyncio.ensure_future(EngineProxy(tmp_path / "none", ALLOWED).serve(path, ready.set))
        await ready.wait()
        answer = await asyncio.to_thread(_say, path, b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n")
        served.cancel()
        return answer

    with ThreadPoolExecutor(1) as thread:  # a browser's tests leave a loop in the first one
        assert b"503" in thread.submit(asyncio.run, ask()).result()[:20]
