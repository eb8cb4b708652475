"""What the proxy before a Docker engine lets a worker make: the backend's containers, and none that could do more."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docker as docker_sdk
import pytest

from stackrank.env.environment import Environment
from stackrank.env.sandbox.base import SandboxSpec
from stackrank.env.sandbox.docker import environments as docker_environments
from stackrank.env.sandbox.docker.backend import DockerBackend
from stackrank.env.sandbox.docker.policy import Allowed, NotAllowed, check_container
from stackrank.env.sandbox.environments import pip_settings
from stackrank.env.task import Limits
from tests.fixtures.env import usable

SPEC = SandboxSpec(limits=Limits(timeout_s=30, memory_mb=256), warm=False)
ALLOWED = Allowed(pulls=("allowed/",), folders=tuple(folder for folder in pip_settings()[1] if Path(folder).is_dir()))
Body = dict[str, Any]


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
