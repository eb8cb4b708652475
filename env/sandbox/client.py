"""The host's end of a sandbox: typed requests to the resident guest."""

from __future__ import annotations

import io
import json
import tarfile
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from env.sandbox.base import Backend, Channel, GuestBug, Refused, SandboxError, SandboxSpec
from env.sandbox.bootstrap import guest_code
from env.sandbox.guest import framing

GRACE_S = 30.0
"""How much longer than its own time limit a request may take before the sandbox counts as dead.

So much, because processes that fight for the last memory use up the processor time of the whole sandbox for seconds.
"""

OUTPUT_CAP = 32 << 10
"""Bytes of a command's output that are kept, head and tail."""

# Everything that a program can see of its surroundings is the same in every sandbox.
FIXED_ENVIRONMENT = {
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "USER": "agent",
    "LOGNAME": "agent",
    "TERM": "dumb",
    "COLUMNS": "100",
    "NO_COLOR": "1",
    "PYTHONHASHSEED": "0",
    # Also because a .pyc is told from its source by size and second, and edits are faster than that.
    "PYTHONDONTWRITEBYTECODE": "1",
    "PIP_NO_INPUT": "1",
    "GIT_TERMINAL_PROMPT": "0",
}


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended."""

    exit: int
    """Exit status; negative: the number of the signal that killed it."""
    output: str
    """Standard output and error, interleaved, capped."""
    timed_out: bool
    waited_s: float
    """Of a time that was not enough: seconds without a processor, because the machine was busy with other things."""
    dropped: int
    """Bytes of output that were not kept."""
    wall_ms: float
    report: str | None = None
    """Raw report lines where the command was pytest; see `env.scoring`."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs from the baseline."""

    files: dict[str, bytes] = field(default_factory=dict)
    """New and changed files with their whole content."""
    deleted: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    """Changed, but not carried over: links, special files, too large."""


class Sandbox:
    """One sandbox with its guest. Not thread-safe: one episode, one thread."""

    def __init__(self, backend: Backend, spec: SandboxSpec) -> None:
        self._channel: Channel = backend.start(spec)
        self._id = 0
        self._closed = False
        self._built = spec.environment is not None
        self.root = self._channel.root
        self.backend = backend.name
        try:
            self._channel.send(guest_code())
            limits = self._channel.guest_limits
            variables = {**FIXED_ENVIRONMENT, **dict(spec.environment.variables if spec.environment else ())}
            hello = self._ask("hello", timeout_s=60, root=self.root, env=variables, limits=limits)[0]
        except BaseException:
            self.close()
            raise
        self.root = hello["root"]
        self.python_version: tuple[int, ...] = tuple(hello["version"])

    @property
    def name(self) -> str:
        """What the sandbox is called where it runs."""
        return self._channel.name

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the sandbox. Returns at once; may be called twice."""
        if not self._closed:
            self._closed = True
            self._channel.close()

    # ---- requests

    def _ask(
        self, op: str, *, body: bytes = b"", timeout_s: float = 10.0, grace_s: float = GRACE_S, **header: Any
    ) -> tuple[dict[str, Any], bytes]:
        if self._closed:
            raise SandboxError(f"sandbox {self.name} was closed")
        self._id += 1
        deadline = time.monotonic() + timeout_s + grace_s
        self._channel.send(framing.pack({"op": op, "id": self._id, "timeout_s": timeout_s, **header}, body))

        def read_exactly(size: int) -> bytes:
            chunks = []
            while size:
                chunk = self._channel.receive(size, deadline)
                chunks.append(chunk)
                size -= len(chunk)
            return b"".join(chunks)

        try:
            reply, out = framing.unpack(read_exactly)
        except ValueError as error:
            raise SandboxError(f"sandbox {self.name} sent an answer that cannot be read: {error}") from None
        if reply.get("id") != self._id:
            raise SandboxError(f"sandbox {self.name} answered another question than the one asked")
        if reply["ok"]:
            return reply, out
        if "refused" in reply:
            raise Refused(reply["refused"])
        if "bug" in reply:
            raise GuestBug(f"a bug in stackrank's guest ({op}):\n{reply['bug']}")
        raise SandboxError(f"the guest of sandbox {self.name} failed: {reply['failed']}")

    def ping(self) -> None:
        """Raises SandboxError when the sandbox does not answer."""
        self._ask("ping", timeout_s=5)

    def prepare(self) -> None:
        """Start what makes the first test run and the first debugger session fast."""
        self._ask("prepare", timeout_s=30)

    def put(self, files: Mapping[str, bytes], fresh: bool = False) -> None:
        """Fill the workspace; what is there then is the baseline of `changes`.

        `fresh`: what is in the workspace and, where they are the sandbox's own, in the temporary folders goes first.
        """
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as tar:
            for path in sorted(files):
                info = tarfile.TarInfo(path)
                info.size = len(files[path])
                info.mode = 0o755 if files[path].startswith(b"#!") else 0o644
                tar.addfile(info, io.BytesIO(files[path]))
        self._ask("put", body=buffer.getvalue(), timeout_s=60, built=self._built, fresh=fresh)

    def read(self, path: str) -> bytes:
        """A file's content. Raises Refused."""
        return self._ask("read", path=path)[1]

    def resolve(self, path: str) -> str:
        """Where a path really leads, links followed, relative to the workspace. Raises Refused."""
        return str(self._ask("resolve", path=path)[0]["path"])

    def edit(self, path: str, text: str, start: int | None = None, end: int | None = None) -> dict[str, Any]:
        """Replace lines `start` to `end` (1-based, inclusive), or the whole file; see the guest's `Workspace.edit`."""
        body = text.encode("utf-8", "replace")
        return self._ask("edit", body=body, path=path, start=start, end=end, check=True)[0]

    def listing(self, path: str = ".", depth: int = 1, limit: int = 500) -> dict[str, Any]:
        """{"entries": [[path, size or None for a directory]], "more": how many were left out}. Raises Refused."""
        return self._ask("list", path=path, depth=depth, limit=limit)[0]

    def search(
        self, pattern: str, path: str = ".", glob: str = "", limit: int = 100, ignore_case: bool = False
    ) -> dict[str, Any]:
        """{"matches": [[path, line number, line]], "more": how many were left out}. Raises Refused."""
        return self._ask(
            "search", timeout_s=15, pattern=pattern, path=path, glob=glob, limit=limit, ignore_case=ignore_case
        )[0]

    def changes(self) -> Changes:
        """What differs from the baseline."""
        reply, archive = self._ask("changes", timeout_s=60)
        files = {}
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            for member in tar:
                source = tar.extractfile(member)
                if source is not None:
                    files[member.name] = source.read()
        return Changes(files=files, deleted=tuple(reply["deleted"]), skipped=tuple(reply["skipped"]))

    def run(self, command: str, timeout_s: float, cap: int = OUTPUT_CAP) -> CommandResult:
        """Run a shell command in the workspace; everything it started ends with it. Raises Refused."""
        return self._result(*self._ask("run", timeout_s=timeout_s, command=command, cap=cap))

    def test(
        self,
        command: str,
        timeout_s: float,
        key: bytes,
        score: bool,
        cap: int = OUTPUT_CAP,
        suspects: Collection[str] = (),
    ) -> CommandResult:
        """Run a test command; where it is pytest, with a report of each test, authenticated by `key` (32 bytes).

        `score`: for a verdict; adds the canaries that `env.scoring` looks for. `suspects`: files that the agent wrote.
        """
        body = key + json.dumps(sorted(suspects)).encode()
        reply = self._ask("test", body=body, timeout_s=timeout_s, command=command, cap=cap, score=score)
        return self._result(*reply)

    def debug(self, commands: str, entry: str, explicit: bool, timeout_s: float) -> dict[str, Any]:
        """Carry out pdb commands, one a line; see the guest's `Debugger.act`. Raises Refused."""
        body = commands.encode("utf-8", "replace")
        # A start of the debugger may come before the commands' own time.
        grace_s = GRACE_S + 30
        return self._ask("debug", body=body, timeout_s=timeout_s, grace_s=grace_s, entry=entry, explicit=explicit)[0]

    @staticmethod
    def _result(reply: dict[str, Any], output: bytes) -> CommandResult:
        return CommandResult(
            exit=reply["exit"],
            output=output.decode("utf-8", "replace").replace("\0", "\ufffd"),
            timed_out=reply["timed_out"],
            waited_s=reply["waited_s"],
            dropped=reply["dropped"],
            wall_ms=reply["wall_ms"],
            report=reply.get("report"),
        )
