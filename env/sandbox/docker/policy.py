"""What a worker may ask of a Docker engine: the backend's calls, and containers that can do no more than its own.

Anyone who may call an engine freely is root on its machine. `flows.services.engine_proxy` checks requests against this
module: anything that is not listed here is refused, down to single keys of a body.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import parse_qsl, quote, unquote, urlencode

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveInt, StringConstraints, ValidationError

from stackrank.env.sandbox.base import PROC_HIDDEN, PROC_READ_ONLY
from stackrank.env.sandbox.docker.host_config import BERTH_SECURITY
from stackrank.errors import StackrankError
from stackrank.storable import read_json

OWNER_LABEL = "stackrank.owner"
REPOSITORY = "stackrank-env"
BUILDER = "0:0"
"""The user of the containers in which environments are built; no other container has it."""
HOLDER = "0"
"""The user of the containers that keep images in memory. It may read every file that a sandbox may read."""
HOLDER_CAPABILITIES = ("IPC_LOCK", "DAC_OVERRIDE")
LARGEST_BODY = 1 << 20


@dataclass(frozen=True)
class Allowed:
    """What the operator allows in addition to the calls in this module."""

    runtime: str | None = None
    """The runtime of sandboxes; None for the engine's own."""
    pulls: tuple[str, ...] = ()
    """Prefixes of the names of images that may be pulled."""
    folders: tuple[str, ...] = ()
    """Folders on the engine's machine that builds of environments may read."""


class NotAllowed(StackrankError):
    """The request is not one that the backend makes. The message is one sentence."""

    status: ClassVar[int] = 403
    """The HTTP status of the answer."""


class NoContainer(NotAllowed):
    """The request is about a container that does not exist."""

    status = 404


def _containing(required: tuple[str, ...]) -> AfterValidator:
    def check(paths: list[str]) -> list[str]:
        if missing := set(required) - set(paths):
            raise ValueError(f"{min(missing)} is not among them")
        return paths

    return AfterValidator(check)


class _Closed(BaseModel):
    """A model that refuses unknown keys and values of other types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class _Ulimit(_Closed):
    Name: Literal["core", "nofile"]
    Soft: Annotated[int, Field(ge=0, le=1024)]
    Hard: Annotated[int, Field(ge=0, le=1024)]


class _NoLog(_Closed):
    Type: Literal["none"]
    Config: Annotated[dict[str, str], Field(max_length=0)]


_IN_MEMORY = r"^rw,exec,nosuid,nodev,size=\d+m,uid=1000,gid=1000,nr_inodes=\d+,mode=(0755|1777)$"


class _SandboxHost(_Closed):
    NetworkMode: Literal["none"]
    IpcMode: Literal["private"]
    CapDrop: tuple[Literal["ALL"]]
    SecurityOpt: tuple[Literal["no-new-privileges"]]
    ReadonlyRootfs: Literal[True]
    Tmpfs: dict[Literal["/workspace", "/tmp"], Annotated[str, StringConstraints(pattern=_IN_MEMORY)]]
    ReadonlyPaths: Annotated[list[str], _containing(PROC_READ_ONLY)]
    MaskedPaths: Annotated[list[str], _containing((*PROC_HIDDEN, "/sys/firmware"))]
    Memory: PositiveInt
    MemorySwap: PositiveInt
    PidsLimit: PositiveInt
    NanoCpus: PositiveInt
    Ulimits: list[_Ulimit]
    LogConfig: _NoLog
    AutoRemove: Literal[True]
    Runtime: str | None = None


def _is_berths(options: list[str]) -> list[str]:
    if options != list(BERTH_SECURITY):
        raise ValueError("it is not what a berth has")
    return options


class _BerthHost(_SandboxHost):
    SecurityOpt: Annotated[list[str], AfterValidator(_is_berths)]  # type: ignore[assignment]
    ReadonlyPaths: tuple[()]  # type: ignore[assignment]
    MaskedPaths: tuple[()]  # type: ignore[assignment]


class _HolderHost(_SandboxHost):
    CapAdd: tuple[Literal["IPC_LOCK"], Literal["DAC_OVERRIDE"]]


class _BuildHost(_Closed):
    NetworkMode: Literal["default"]
    Binds: list[str] = []
    Memory: PositiveInt
    PidsLimit: PositiveInt


class _Container(_Closed):
    """The keys of both kinds, most of them unset. WorkingDir is fixed: a bad one once allowed an escape from runc."""

    Image: str
    Entrypoint: list[str]
    Cmd: tuple[()]
    WorkingDir: Literal["/workspace"]
    Labels: dict[str, str]
    Tty: Literal[False]
    AttachStdout: bool
    AttachStderr: bool
    Domainname: None = None
    ExposedPorts: None = None
    Volumes: None = None
    NetworkingConfig: None = None
    MacAddress: None = None
    StopSignal: None = None
    StopTimeout: None = None
    Healthcheck: None = None
    Runtime: None = None


class Sandbox(_Container):
    """The request body that creates a sandbox."""

    User: Literal["1000:1000"]
    Hostname: Literal["sandbox"]
    Env: None = None
    NetworkDisabled: Literal[True]
    OpenStdin: Literal[True]
    StdinOnce: Literal[True]
    AttachStdin: Literal[True]
    HostConfig: _SandboxHost


class Berth(Sandbox):
    """The request body that creates a container in which sandboxes are forked: it may make namespaces, as any user may.

    It sees what is not masked of /proc, as the unprivileged user of every sandbox.
    """

    HostConfig: _BerthHost


class Holder(Sandbox):
    """The request body that creates a container that keeps an image in memory: a sandbox that may lock memory."""

    User: Literal["0"]  # type: ignore[assignment]
    HostConfig: _HolderHost


class Build(_Container):
    """The request body that creates a container for building an environment: as root, with the engine's network."""

    User: Literal["0:0"]
    Hostname: None = None
    Env: list[str]
    NetworkDisabled: Literal[False]
    OpenStdin: Literal[False]
    StdinOnce: Literal[False]
    AttachStdin: Literal[False]
    HostConfig: _BuildHost


@dataclass(frozen=True)
class Call:
    """A call that the proxy lets through."""

    method: str
    path: str
    """A regular expression. Its group `container`, if any, names a container, which has to be stackrank's."""
    query: dict[str, str] = field(default_factory=dict)
    """The allowed parameters, with regular expressions for their values."""
    needs: frozenset[str] = frozenset()
    """The required parameters."""
    body: Literal["", "container", "config", "archive"] = ""
    hijacks: bool = False
    """Whether the connection becomes a raw stream afterwards."""
    builds_only: bool = False
    """Whether the call is allowed only for containers that environments are built in."""


_ID = r"(?P<container>[a-zA-Z0-9][\w.-]*)"
_IMAGE = r"[a-zA-Z0-9][\w.-]*(?:[/:@][a-zA-Z0-9][\w.-]*)*"
_YES_NO = "0|1|[Tt]rue|[Ff]alse"
CALLS = (
    Call("GET", "/_ping"),
    Call("GET", "/version"),
    Call("GET", f"/images/{_IMAGE}/json"),
    Call("POST", "/images/create", {"fromImage": _IMAGE, "tag": r"[\w.:-]+"}, needs=frozenset({"fromImage", "tag"})),
    Call(
        "GET",
        "/containers/json",
        {
            "filters": re.escape(json.dumps({"label": [OWNER_LABEL]})),
            **dict.fromkeys(("all", "size", "trunc_cmd"), _YES_NO),
            "limit": "-1",
        },
        needs=frozenset({"filters"}),
    ),
    Call("POST", "/containers/create", {"name": "stackrank-[a-z0-9-]+"}, body="container"),
    Call("GET", f"/containers/{_ID}/json"),
    Call("GET", f"/containers/{_ID}/stats", {"stream": "0|[Ff]alse", "one-shot": _YES_NO}),
    Call(
        "POST",
        f"/containers/{_ID}/attach",
        dict.fromkeys(("stdin", "stdout", "stderr", "stream", "logs"), _YES_NO),
        hijacks=True,
    ),
    Call("POST", f"/containers/{_ID}/start"),
    Call("POST", f"/containers/{_ID}/unpause"),
    Call("POST", f"/containers/{_ID}/wait", {"condition": "removed"}),
    Call("DELETE", f"/containers/{_ID}", dict.fromkeys(("v", "force"), _YES_NO) | {"link": "0|[Ff]alse"}),
    Call(
        "GET",
        f"/containers/{_ID}/logs",
        dict.fromkeys(("stdout", "stderr", "timestamps"), _YES_NO) | {"follow": "0|[Ff]alse", "tail": r"\d+"},
        builds_only=True,
    ),
    Call("PUT", f"/containers/{_ID}/archive", {"path": "/"}, body="archive", builds_only=True),
    Call(
        "POST",
        "/commit",
        {"container": _ID, "repo": REPOSITORY, "tag": "[0-9a-f]{16}", "pause": _YES_NO},
        needs=frozenset({"container", "repo", "tag"}),
        body="config",
        builds_only=True,
    ),
)


@dataclass(frozen=True)
class Request:
    """A parsed request that matches one of the calls."""

    call: Call
    version: str
    """The version of the API, such as `/v1.41`, or empty."""
    path: str
    query: dict[str, str]
    container: str
    """The id or name of the container that the request is about; empty if it is about none."""

    def target(self, container: str) -> str:
        """Return the request's target, with `container`, the full id, in place of the given name."""
        path, query = self.path, dict(self.query)
        if "container" in query:
            query["container"] = container
        elif self.container:
            path = f"/containers/{container}" + path.removeprefix(f"/containers/{self.container}")
        return self.version + quote(path, safe="/:") + (f"?{urlencode(query)}" if query else "")


def parse_request(method: str, target: str, allowed: Allowed) -> Request:
    """Parse a request and match it to one of the calls. Raises NotAllowed."""
    raw, _, text = target.partition("?")
    versioned = re.fullmatch(r"(/v\d+\.\d+)?(/.*)", unquote(raw))
    version, path = versioned.groups(default="") if versioned else ("", raw)
    for call in CALLS:
        match = re.fullmatch(call.path, path, re.ASCII)
        if match and call.method == method:
            break
    else:
        raise NotAllowed(f"{method} {path[:100]} is not a request that sandboxes need")
    pairs = parse_qsl(text, keep_blank_values=True)
    query = dict(pairs)
    for name, value in pairs:
        pattern = call.query.get(name)
        if pattern is None or len(pairs) != len(query) or not re.fullmatch(pattern, value, re.ASCII):
            raise NotAllowed(f"{method} {path} may not have the parameter {name}={value[:60]}")
    container = match.groupdict().get("container", "") or query.get("container", "")
    if missing := call.needs - set(query):
        raise NotAllowed(f"{method} {path} needs the parameter {min(missing)}")
    if path == "/images/create":
        image = query.get("fromImage", "")
        if not image.startswith(allowed.pulls):
            raise NotAllowed(f"the image {image} may not be pulled: name it in STACKRANK_ENGINE_PULLS of the proxy")
    return Request(call, version, path, query, container)


def check_container(data: bytes, allowed: Allowed) -> bytes:
    """Check the request body that creates a container, and return it rewritten. Raises NotAllowed."""
    body = _object(data)
    kinds: dict[str, type[Sandbox | Build]] = {BUILDER: Build, HOLDER: Holder}
    host = body.get("HostConfig")
    is_berth = isinstance(host, dict) and host.get("SecurityOpt") == list(BERTH_SECURITY)
    kind = kinds.get(str(body.get("User")), Berth if is_berth else Sandbox)
    try:
        container = kind.model_validate_json(json.dumps(body))
    except ValidationError as error:
        first = min(error.errors(include_url=False), key=lambda problem: problem["type"] != "extra_forbidden")
        field = ".".join(str(part) for part in first["loc"])
        complaint = "is not an allowed key" if first["type"] == "extra_forbidden" else f"is invalid: {first['msg']}"
        name = "container for a build" if kind is Build else "sandbox"
        raise NotAllowed(f"{field} of a {name} {complaint}") from None
    if OWNER_LABEL not in container.Labels:
        raise NotAllowed(f"a container needs the label {OWNER_LABEL}")
    if isinstance(container, Sandbox):
        if container.HostConfig.Runtime != allowed.runtime:
            runtime = allowed.runtime or "of the engine"
            raise NotAllowed(f"a sandbox must have the runtime {runtime} (STACKRANK_SANDBOX_RUNTIME of the proxy)")
        if container.HostConfig.MemorySwap != container.HostConfig.Memory:
            raise NotAllowed("a sandbox may not use swap: MemorySwap must equal Memory")
    elif extra := set(container.HostConfig.Binds) - {f"{folder}:{folder}:ro" for folder in allowed.folders}:
        field = min(extra)
        raise NotAllowed(f"a build may not read {field}: name the folder in STACKRANK_ENGINE_FOLDERS of the proxy")
    return container.model_dump_json(exclude_unset=True).encode()


def check_config(data: bytes) -> bytes:
    """Return the request body of a commit, which is an image's configuration, rewritten. Raises NotAllowed."""
    return json.dumps(_object(data)).encode()


def _object(data: bytes) -> dict[str, Any]:
    try:
        document = read_json(data)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise NotAllowed("the body is not a JSON object")
    return document


def owned_container(inspected: dict[str, Any], call: Call) -> str:
    """Return the full id of a container that the engine described. Raises NotAllowed if `call` may not concern it."""
    config = inspected["Config"]
    if OWNER_LABEL not in (config["Labels"] or {}):
        raise NotAllowed(f"the container {inspected['Name'].lstrip('/')} is not stackrank's")
    if call.builds_only and config["User"] != BUILDER:
        raise NotAllowed(
            f"{call.method} {call.path.rpartition('/')[2]} is for containers that environments are built in"
        )
    if call.body == "archive" and inspected["State"]["Status"] != "created":
        raise NotAllowed("an archive can be put into a container only before it starts")
    return str(inspected["Id"])
