"""The host's side of a sandbox: typed requests to the resident guest."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from stackrank.env.environment import Environment
from stackrank.env.sandbox import replies
from stackrank.env.sandbox.base import Backend, Channel, GuestBug, Refused, SandboxClosed, SandboxError, SandboxSpec
from stackrank.env.sandbox.bootstrap import guest_code
from stackrank.env.sandbox.environments import archive
from stackrank.env.sandbox.guest.core import framing
from stackrank.env.sandbox.guest.core.allowance import PATIENCE
from stackrank.env.sandbox.replies import BadReply, Shape
from stackrank.env.sandbox.variables import variables_of

GRACE_S = 30.0
"""How much longer than its own time limit a request may take before the sandbox counts as dead.

It is this long because processes that compete for the last memory can use all processor time of a sandbox for seconds.
"""

_SENTENCE = 4000
"""Characters kept of an error message from the guest."""

OUTPUT_CAP = 32 << 10
"""Bytes kept of a command's output, from its head and tail."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended."""

    exit: int
    """Exit status; negative: the number of the signal that killed it."""
    output: str
    """Standard output and error, interleaved, capped."""
    timed_out: bool
    waited_s: float
    """After a timeout: seconds spent waiting for a processor, because the machine was busy with other work."""
    dropped: int
    """Bytes of output that were not kept."""
    wall_ms: float
    report: str | None = None
    """Raw report lines if the command was pytest; see `env.scoring.verdict`."""


@dataclass(frozen=True, slots=True)
class Edit:
    """The result of editing a file."""

    created: bool
    first: int
    """The number of the first new line."""
    replaced: int
    added: int
    """The number of new lines; `replaced` is the number of old lines that they replace."""
    changed: bool
    touched: list[int]
    """The first and the last line that changed, numbered as in the file before the edit."""
    syntax_error: str | None
    """The error, if this is a Python file that no longer parses."""
    content: bytes
    """The file after the edit."""


class ChangedFile(NamedTuple):
    """A file of the workspace that changed."""

    path: str
    size: int | None
    """Bytes; None if the file was deleted."""
    syntax_error: str
    """The error, if this is a Python file that existed at the start and no longer parses."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The differences from the baseline."""

    files: dict[str, bytes] = field(default_factory=dict)
    """New and changed files with their full content."""
    deleted: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    """Changed files whose content is left out: links, special files, files that are too large or whose name is no
    text."""


def _grace(timeout_s: float) -> float:
    """Return how many seconds late an answer may come: programs in the sandbox may have waited for a processor."""
    return GRACE_S + (PATIENCE - 1) * timeout_s


class Sandbox:
    """One sandbox with its guest. Not thread-safe: one episode, one thread."""

    def __init__(self, backend: Backend, spec: SandboxSpec) -> None:
        self._channel: Channel = backend.start(spec)
        self._id = 0
        self._closed = False
        self._news: list[ChangedFile] = []
        self._built = spec.environment is not None
        self.root = self._channel.root
        self.backend = backend.name
        self.shared = self._channel.shared
        """Why what earlier sandboxes left behind may reach programs in this one; empty if it cannot."""
        try:
            self._channel.send(guest_code())
            limits = self._channel.guest_limits
            request: dict[str, Any] = {"root": self.root, "env": variables_of(spec), "limits": limits}
            hello = self._ask("hello", replies.Hello, timeout_s=60, **request)[0]
        except BaseException:
            self.close()
            raise
        self.root = hello["root"]
        self.python_version: tuple[int, ...] = tuple(hello["version"])

    @property
    def name(self) -> str:
        """The name of the sandbox in its backend."""
        return self._channel.name

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.end()
        else:
            self.close()

    @property
    def closed(self) -> bool:
        """Whether `close` ended the sandbox, perhaps in another thread, and not a program in it."""
        return self._closed

    def close(self) -> None:
        """End the sandbox. Returns at once; may be called twice."""
        if not self._closed:
            self._closed = True
            self._channel.close()

    def end(self) -> None:
        """End the sandbox, and wait until nothing in it runs any more: it could signal to the next one.

        Raises SandboxError if it does not end.
        """
        self.close()
        if not self._channel.join(GRACE_S):
            raise SandboxError(f"sandbox {self.name} does not end")

    # ---- requests

    def _ask(self, op: str, shape: type[Shape], **request: Any) -> tuple[Shape, bytes]:
        """Send a request and return the guest's answer. Raises SandboxClosed if `close` ended the wait for it."""
        try:
            return self._request(op, shape, **request)
        except (SandboxError, OSError, ValueError):
            if self._closed:
                raise SandboxClosed(f"sandbox {self.name} was closed") from None
            raise

    def _request(
        self,
        op: str,
        shape: type[Shape],
        *,
        body: bytes = b"",
        timeout_s: float = 10.0,
        grace_s: float = GRACE_S,
        **header: Any,
    ) -> tuple[Shape, bytes]:
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
            header, out = replies.unpack(read_exactly)
            status = replies.check_reply(replies.Status, header)
            if status["ok"] and status["id"] == self._id:
                return replies.check_reply(shape, header), out
        except BadReply as error:
            raise self._bad_reply(error) from None
        if status["id"] != self._id:
            raise self._bad_reply("it answers another request")
        if "refused" in status:
            raise Refused(status["refused"][:_SENTENCE])
        if "bug" in status:
            raise GuestBug(f"a bug in stackrank's guest ({op}):\n{status['bug'][-_SENTENCE:]}")
        raise SandboxError(f"the guest of sandbox {self.name} failed: {status.get('failed', '')[:_SENTENCE]}")

    def _bad_reply(self, reason: object) -> SandboxError:
        self._channel.close()
        return SandboxError(f"sandbox {self.name} sent an invalid answer ({reason})")

    def ping(self) -> None:
        """Raise SandboxError if the sandbox does not answer."""
        self._ask("ping", replies.Status, timeout_s=5)

    def used_s(self) -> float:
        """Return the processor seconds used by all programs that ever ran in the sandbox; see `Channel`."""
        return self._channel.used_s()

    def prepare(self) -> None:
        """Start the warm Python, which makes the first test run and the first debugger session fast."""
        self._ask("prepare", replies.Status, timeout_s=30)

    def put(self, files: Mapping[str, bytes], fresh: bool = False) -> None:
        """Fill the workspace. Its content afterwards is the baseline of `changes`.

        `fresh`: first empty the workspace, and the temporary folders if they belong to the sandbox alone.
        """
        self._ask("put", replies.Status, body=archive(files, mtime=0), timeout_s=60, built=self._built, fresh=fresh)

    def read(self, path: str) -> bytes:
        """Return a file's content. Raises Refused."""
        return self._ask("read", replies.Status, path=path)[1]

    def resolve(self, path: str) -> str:
        """Follow the links of a path. Returns the path relative to the workspace. Raises Refused."""
        return str(self._ask("resolve", replies.Resolved, path=path)[0]["path"])

    def edit(self, path: str, text: str, start: int | None = None, end: int | None = None) -> Edit:
        """Replace lines `start` to `end` (1-based, inclusive), or the whole file; see the guest's `Workspace.edit`."""
        body = text.encode("utf-8", "replace")
        reply, content = self._ask("edit", replies.Edited, body=body, path=path, start=start, end=end, check=True)
        self._note_changes(reply["changed_files"])
        fields = {name: value for name, value in reply.items() if name != "changed_files"}
        return Edit(**fields, content=content)  # type: ignore[arg-type]

    def restore(self, path: str, content: bytes | None) -> str:
        """Give a file exactly this content, or delete it if `content` is None.

        Returns the syntax error of a Python file that no longer parses, else an empty text. Raises Refused.
        """
        changed = self._ask("restore", replies.Restored, body=content or b"", path=path, gone=content is None)[0]
        self._note_changes(changed["changed_files"])
        return "".join(error for _, _, error in changed["changed_files"])

    def listing(self, path: str = ".", depth: int = 1, limit: int = 500) -> replies.Listing:
        """List the entries below a folder. Raises Refused."""
        return self._ask("list", replies.Listing, path=path, depth=depth, limit=limit)[0]

    def search(
        self, pattern: str, path: str = ".", glob: str = "", limit: int = 100, ignore_case: bool = False
    ) -> replies.Found:
        """Find lines that match a regular expression. Raises Refused."""
        request: dict[str, Any] = {"pattern": pattern, "path": path, "glob": glob, "limit": limit}
        return self._ask("search", replies.Found, timeout_s=15, ignore_case=ignore_case, **request)[0]

    def news(self) -> list[ChangedFile]:
        """Return the files that commands, tests, edits and debugged programs changed since the last call.

        A file may appear twice. This sends no request: each answer of the guest already lists the changed files.
        """
        news, self._news = self._news, []
        return news

    def _note_changes(self, changed: Sequence[tuple[str, int | None, str]]) -> None:
        self._news.extend(ChangedFile(*row) for row in changed)

    def changes(self) -> Changes:
        """Return the differences from the baseline."""
        reply, changed = self._ask("changes", replies.Changed, timeout_s=60)
        try:
            deleted = tuple(map(replies.plain_path, reply["deleted"]))
            files, nameless = replies.read_archive(changed)
            return Changes(files=files, deleted=deleted, skipped=(*reply["skipped"], *nameless))
        except BadReply as error:
            raise self._bad_reply(error) from None

    def run(self, command: str, timeout_s: float, cap: int = OUTPUT_CAP) -> CommandResult:
        """Run a shell command in the workspace. All processes it started end with it. Raises Refused."""
        request: dict[str, Any] = {"grace_s": _grace(timeout_s), "command": command, "cap": cap}
        return self._result(*self._ask("run", replies.Ran, timeout_s=timeout_s, **request))

    def test(
        self,
        command: str,
        timeout_s: float,
        key: bytes,
        score: bool,
        cap: int = OUTPUT_CAP,
        suspects: Collection[str] = (),
        canaries: bool = False,
        every: bool = False,
    ) -> CommandResult:
        """Run a test command. If it is pytest, report each test, authenticated by `key` (32 bytes).

        `score`: the run is for a verdict, so its process is as clean as a newly started one. `suspects`: files that may
        not call the reporter. `canaries`: add tests that must fail. `every`: continue after failures, whatever the
        command says.
        """
        body = key + json.dumps(sorted(suspects)).encode()
        options: dict[str, Any] = {"command": command, "cap": cap, "score": score, "canaries": canaries}
        options |= {"every": every, "grace_s": _grace(timeout_s)}
        reply = self._ask("test", replies.Ran, body=body, timeout_s=timeout_s, **options)
        return self._result(*reply)

    def follow(self, command: str, spec: Mapping[str, Any], timeout_s: float) -> tuple[CommandResult, replies.Followed]:
        """Run a Python program under an observer; for `spec`, see the guest's `laboratory`. Raises Refused."""
        request: dict[str, Any] = {"grace_s": _grace(timeout_s), "command": command, "cap": OUTPUT_CAP, "spec": spec}
        reply, output = self._ask("follow", replies.Followed, timeout_s=timeout_s, **request)
        return self._result(reply, output), reply

    def debug(
        self,
        commands: str,
        entry: str,
        timeout_s: float,
        only: Collection[str] = (),
        value_limit: int = 1000,
        session: str = "",
    ) -> replies.Debugged:
        """Execute pdb commands and code; see the guest's `Debugger.act`. Raises Refused.

        Sessions with different names are independent of each other.
        """
        body = commands.encode("utf-8", "replace")
        # The debugger may have to be started before the time for the commands begins.
        grace_s = _grace(timeout_s + 30) + 30
        request: dict[str, Any] = {"grace_s": grace_s, "entry": entry, "only": list(only), "value_limit": value_limit}
        request["session"] = session
        reply = self._ask("debug", replies.Debugged, body=body, timeout_s=timeout_s, **request)[0]
        self._note_changes(reply["changed_files"])
        return reply

    def end_debug(self, session: str) -> None:
        """End a debugger session, if it exists, and forget its breakpoints."""
        self._ask("end_debug", replies.Status, session=session)

    def type(
        self,
        typed: Sequence[str] | None,
        until: Collection[str],
        *,
        timeout_s: float,
        silence_s: float = 0,
        restart: bool = False,
        cap: int = OUTPUT_CAP,
    ) -> tuple[replies.Typed, bytes]:
        """Type texts into the terminal and wait for an event; see the guest's `Terminal.act`. Raises Refused.

        Returns the result, and the bytes that were printed meanwhile.
        """
        # The shell may have to be started first.
        request: dict[str, Any] = {"grace_s": _grace(timeout_s + 30), "silence_s": silence_s, "cap": cap}
        request |= {"typed": None if typed is None else list(typed), "until": list(until), "restart": restart}
        reply, output = self._ask("terminal", replies.Typed, timeout_s=timeout_s, **request)
        if reply["event"] not in (*until, "time", "ended") or (reply["event"] == "output" and not output):
            raise self._bad_reply("it reports an event that was not requested")
        self._note_changes(reply["changed_files"])
        return reply, output

    def serve(self, name: str, argv: Sequence[str], env: Mapping[str, str], prefix: Environment | None) -> None:
        """Start, or restart, a server: a program that reads and writes lines; see `exchange`. Raises Refused.

        `prefix`: one of the specification's prefixes, whose programs come first on the server's PATH.
        """
        folder = f"{self._channel.prefixes}/{prefix.digest}" if prefix is not None else ""
        self._ask("serve", replies.Status, timeout_s=30, name=name, argv=list(argv), env=dict(env), prefix=folder)

    def exchange(self, name: str, data: bytes, timeout_s: float, cap: int) -> tuple[replies.Exchanged, bytes]:
        """Send bytes to a server, and return at most `cap` bytes of whole lines as soon as there is one."""
        request: dict[str, Any] = {"grace_s": _grace(timeout_s), "name": name, "cap": cap}
        reply, lines = self._ask("exchange", replies.Exchanged, body=data, timeout_s=timeout_s, **request)
        self._note_changes(reply["changed_files"])
        return reply, lines

    def stop(self, name: str) -> None:
        """End a server and all processes that it started."""
        self._ask("stop", replies.Status, timeout_s=30, name=name)

    def _result(self, reply: replies.Ran, output: bytes) -> CommandResult:
        self._note_changes(reply["changed_files"])
        return CommandResult(
            exit=reply["exit"],
            output=output.decode("utf-8", "replace").replace("\0", "\ufffd"),
            timed_out=reply["timed_out"],
            waited_s=reply["waited_s"],
            dropped=reply["dropped"],
            wall_ms=reply["wall_ms"],
            report=reply.get("report"),
        )
