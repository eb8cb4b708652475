"""The proxy before a Docker engine: real sandboxes and environments are made through it, and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import docker as docker_sdk
import pytest

from stackrank.env.environment import Environment
from stackrank.env.sandbox.base import SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.docker import berths, channel, engine
from stackrank.env.sandbox.docker import environments as docker_environments
from stackrank.env.sandbox.docker import policy as docker_policy
from stackrank.env.sandbox.docker.backend import DockerBackend
from stackrank.env.sandbox.docker.policy import Allowed, NotAllowed, check_container
from stackrank.env.sandbox.environments import pip_settings
from stackrank.env.task import Limits
from stackrank.flows.services.engine_proxy import EngineProxy
from tests.fixtures.env import usable

ENGINE = Path("/var/run/docker.sock")
SPEC = SandboxSpec(limits=Limits(timeout_s=30, memory_mb=256), warm=False)
ALLOWED = Allowed(pulls=("allowed/",), folders=tuple(folder for folder in pip_settings()[1] if Path(folder).is_dir()))
Body = dict[str, Any]


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


class _SeenError(Exception):
    """Instead of a container."""


@pytest.fixture
def bodies(monkeypatch: pytest.MonkeyPatch) -> dict[str, Body]:
    """What the backend really sends to make a sandbox, a berth, a holder of the image, and a container for a build."""
    usable("docker")
    sent_bodies: list[Body] = []

    def spy(_self: object, config: Body, *_: object, **__: object) -> None:
        sent_bodies.append(json.loads(json.dumps(config)))
        raise _SeenError

    monkeypatch.setattr(docker_sdk.APIClient, "create_container_from_config", spy)
    with pytest.raises(_SeenError):
        DockerBackend().start(SPEC)  # first it starts the holder
    with pytest.raises(_SeenError):
        DockerBackend()._start_berth("stackrank-sandbox", SPEC)
    with pytest.raises(_SeenError):
        DockerBackend("runsc").start(SPEC)
    del sent_bodies[2]["HostConfig"]["Runtime"]
    base = {"Id": "sha256:0", "Config": {"Env": []}}
    with pytest.raises(_SeenError):
        docker_environments._commit(base, Environment(), "packages", "true", "0", "stackrank.owner")
    return dict(zip(("holder", "berth", "sandbox", "build"), sent_bodies, strict=True))


def _set(*path: str, to: Any) -> Callable[[Body], None]:
    def change(body: Body) -> None:
        for name in path[:-1]:
            body = body[name]
        body[path[-1]] = to

    return change


def _host(key: str, value: Any) -> Callable[[Body], None]:
    return _set("HostConfig", key, to=value)


BOTH: dict[str, Callable[[Body], None]] = {
    "privileged": _host("Privileged", True),
    "privileged, as Go reads it": _host("privileged", True),
    "binds": _host("Binds", ["/:/host"]),
    "binds that can be written": _host("Binds", ["/etc:/etc"]),
    "binds elsewhere": _host("Binds", ["/etc:/etc:ro"]),
    "the engine's socket": _host("Binds", ["/var/run/docker.sock:/s"]),
    "mounts": _host("Mounts", [{"Type": "bind", "Source": "/", "Target": "/host"}]),
    "volumes of others": _host("VolumesFrom", ["other"]),
    "an anonymous volume": _set("Volumes", to={"/x": {}}),
    "a device": _host("Devices", [{"PathOnHost": "/dev/sda", "PathInContainer": "/dev/sda"}]),
    "a request for devices": _host("DeviceRequests", [{"Count": -1}]),
    "device rules": _host("DeviceCgroupRules", ["b 8:* rwm"]),
    "a capability": _host("CapAdd", ["SYS_ADMIN"]),
    "the network of the host": _host("NetworkMode", "host"),
    "the network of another": _host("NetworkMode", "container:other"),
    "a network by its end": _set("NetworkingConfig", to={"EndpointsConfig": {"database": {}}}),
    "processes of the host": _host("PidMode", "host"),
    "memory of the host": _host("IpcMode", "host"),
    "names of the host": _host("UTSMode", "host"),
    "users of the host": _host("UsernsMode", "host"),
    "groups of the host": _host("CgroupnsMode", "host"),
    "another group": _host("CgroupParent", "/"),
    "another runtime": _host("Runtime", "other"),
    "another runtime, outside": _set("Runtime", to="other"),
    "no AppArmor": _host("SecurityOpt", ["apparmor=unconfined"]),
    "all calls": _host("SecurityOpt", ["no-new-privileges", "seccomp=unconfined"]),
    "a kernel setting": _host("Sysctls", {"kernel.msgmax": "1"}),
    "a port": _host("PortBindings", {"80/tcp": [{"HostPort": "80"}]}),
    "a hook of the log": _host("LogConfig", {"Type": "syslog", "Config": {"syslog-address": "tcp://x"}}),
    "it comes back": _host("RestartPolicy", {"Name": "always"}),
    "nobody's": _set("Labels", to={}),
    "a way out of the working folder": _set("WorkingDir", to="/proc/self/fd/8"),
    "no limit of memory": _host("Memory", 0),
    "no limit of processes": _host("PidsLimit", -1),
    "a number that is a text": _host("Memory", "1"),
    "a key that comes later": _set("Whatever", to=None),
    "a driver": _host("VolumeDriver", "local"),
    "killed last": _host("OomScoreAdj", -1000),
}
SANDBOX: dict[str, Callable[[Body], None]] = {
    "a network": _host("NetworkMode", "bridge"),
    "nothing masked": _host("MaskedPaths", []),
    "nothing read-only": _host("ReadonlyPaths", []),
    "one mask less": lambda body: body["HostConfig"]["MaskedPaths"].remove("/proc/kcore"),
    "the root writable": _host("ReadonlyRootfs", False),
    "new privileges": _host("SecurityOpt", []),
    "capabilities kept": _host("CapDrop", []),
    "one capability dropped": _host("CapDrop", ["CHOWN"]),
    "devices in memory": _host("Tmpfs", {"/workspace": "rw,exec,nosuid,dev"}),
    "memory elsewhere": _host("Tmpfs", {"/etc": ""}),
    "swap": _host("MemorySwap", -1),
    "files without limit": _host("Ulimits", [{"Name": "nofile", "Soft": 1 << 20, "Hard": 1 << 20}]),
    "root": _set("User", to="0"),
    "root by its name": _set("User", to="root"),
    "variables": _set("Env", to=["LD_PRELOAD=x"]),
}


MASKED = ("nothing masked", "nothing read-only", "one mask less")
"""What the sandboxes in a berth do themselves."""


@pytest.mark.parametrize(
    ("kind", "case"),
    [
        *((kind, case) for case in BOTH for kind in ("sandbox", "berth", "holder", "build")),
        *(
            (kind, case)
            for case in SANDBOX
            for kind in ("sandbox", "berth", "holder")
            if (kind, case) != ("holder", "root") and not (kind == "berth" and case in MASKED)
        ),
    ],
)
def test_a_container_that_could_do_more_is_refused_in_a_sentence(bodies: dict[str, Body], kind: str, case: str) -> None:
    assert json.loads(check_container(json.dumps(bodies[kind]).encode(), ALLOWED)) == bodies[kind]
    changed = copy.deepcopy(bodies[kind])
    {**BOTH, **SANDBOX}[case](changed)
    assert changed != bodies[kind]
    with pytest.raises(NotAllowed) as refused:
        check_container(json.dumps(changed).encode(), ALLOWED)
    assert 20 < len(str(refused.value)) < 300 and "\n" not in str(refused.value)


def test_the_runtime_is_the_operators(bodies: dict[str, Body]) -> None:
    with pytest.raises(NotAllowed, match="runsc"):
        check_container(json.dumps(bodies["sandbox"]).encode(), Allowed(runtime="runsc"))
    _host("Runtime", "runsc")(bodies["sandbox"])
    assert b"runsc" in check_container(json.dumps(bodies["sandbox"]).encode(), Allowed(runtime="runsc"))


def test_the_last_of_two_equal_keys_is_what_is_checked_and_what_is_sent(bodies: dict[str, Body]) -> None:
    text = json.dumps(bodies["sandbox"])
    twice = text.replace('"NetworkMode": "none"', '"NetworkMode": "host", "NetworkMode": "none"')
    assert twice != text and b"host" not in check_container(twice.encode(), ALLOWED)
    for nonsense in (b"", b"[]", b"null", b"[" * 100_000, b'{"User": "1000:1000"}', b"\xff"):
        with pytest.raises(NotAllowed):
            check_container(nonsense, ALLOWED)


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
