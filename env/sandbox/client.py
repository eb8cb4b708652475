"""The host's side of a sandbox: typed requests to the resident guest."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from stackrank.env.environment import Environment
from stackrank.env.sandbox.base import (
    Backend,
    BadReply,
    Channel,
    Refused,
    SandboxClosed,
    SandboxError,
    SandboxSpec,
)
from stackrank.env.sandbox.bootstrap import guest_code
from stackrank.env.sandbox.environments import archive
from stackrank.env.sandbox.guest.core import framing
from stackrank.env.sandbox.guest.core.allowance import PATIENCE
from stackrank.env.sandbox.replies.archive import read_archive
from stackrank.env.sandbox.replies.debugger import Debugged
from stackrank.env.sandbox.replies.frames import Answer, Problem, Reply, read_frame
from stackrank.env.sandbox.replies.programs import Evaluated, Exchanged, Followed, Ran, Tested, Typed
from stackrank.env.sandbox.replies.workspace import (
    Changed,
    ChangedFile,
    Differences,
    Edited,
    Footprint,
    Found,
    Hello,
    Listing,
    Resolved,
)
from stackrank.env.sandbox.results import Changes, CommandResult, Edit, FollowedRun
from stackrank.env.sandbox.variables import variables_of

__all__ = ["ChangedFile", "Changes", "CommandResult", "Edit", "Sandbox"]

GRACE_S = 30.0
"""How much longer than its own time limit a request may take before the sandbox counts as dead.

It is this long because processes that compete for the last memory can use all processor time of a sandbox for seconds.
"""

OUTPUT_CAP = 64 << 10
"""Bytes kept of a command's output, from its head and tail: more than the most characters that an agent can ask for."""
LONGEST_PATH = 4096
"""The most characters of a path; Linux allows no more."""


def _grace(timeout_s: float) -> float:
    """Return how many seconds late an answer may come: programs in the sandbox may have waited for a processor."""
    return GRACE_S + (PATIENCE - 1) * timeout_s


class Sandbox:
    """One sandbox with its guest. Not thread-safe: one episode, one thread."""

    def __init__(self, backend: Backend, spec: SandboxSpec) -> None:
        self._backend, self._spec = backend, spec
        self._closed = self._halted = False
        self.backend = backend.name
        self._begin()

    def _begin(self) -> None:
        """Start what runs in the sandbox. Raises SandboxError."""
        self._channel: Channel = self._backend.start(self._spec)
        self._id = 0
        self._news: list[ChangedFile] = []
        self._built = self._spec.has_artefacts
        self.root = self._channel.root
        self.shared = self._channel.shared
        """Why what earlier sandboxes left behind may reach programs in this one; empty if it cannot."""
        try:
            self._channel.send(guest_code())
            limits = self._channel.guest_limits
            request: dict[str, Any] = {"root": self.root, "env": variables_of(self._spec), "limits": limits}
            hello = self._ask("hello", Hello, timeout_s=60, **request)[0]
        except BadReply as error:  # nothing but our own guest runs in it yet
            raise SandboxError(str(error)) from None
        except BaseException:
            self._channel.close()
            raise
        self.root = hello.root
        self.python_version: tuple[int, ...] = hello.version

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

    def halt(self) -> None:
        """End all that runs in the sandbox, the guest too. Returns at once. `put` with `fresh` begins it anew."""
        self._halted = True
        self._channel.close()

    def end(self) -> None:
        """End the sandbox, and wait until nothing in it runs any more: it could signal to the next one.

        Raises SandboxError if it does not end.
        """
        self.close()
        if not self._channel.join(GRACE_S):
            raise SandboxError(f"sandbox {self.name} does not end")

    # ---- requests

    def _ask(self, op: str, shape: type[Answer], **request: Any) -> tuple[Answer, bytes]:
        """Send a request and return the guest's answer. Raises SandboxClosed if `close` ended the wait for it."""
        try:
            return self._request(op, shape, **request)
        except (SandboxError, BadReply, OSError, ValueError):
            if self._closed:
                raise SandboxClosed(f"sandbox {self.name} was closed") from None
            if self._halted:
                raise SandboxError(f"sandbox {self.name} was halted") from None
            raise

    def _request(
        self,
        op: str,
        shape: type[Answer],
        *,
        body: bytes = b"",
        timeout_s: float = 10.0,
        grace_s: float = GRACE_S,
        **header: Any,
    ) -> tuple[Answer, bytes]:
        """Send a request and return its answer. Raises Refused, SandboxError, GuestBug; BadReply ends the sandbox."""
        if self._closed:
            raise SandboxError(f"sandbox {self.name} was closed")
        self._id += 1
        deadline = time.monotonic() + timeout_s + grace_s
        self._channel.send(framing.pack({"op": op, "id": self._id, "timeout_s": timeout_s, **header}, body))

        with self._checking(op):
            reply, content = read_frame(shape, self._id, lambda size: self._channel.receive(size, deadline))
        if isinstance(reply, Problem):
            raise reply.as_error(op, self.name)
        return reply, content

    @contextmanager
    def _checking(self, op: str) -> Iterator[None]:
        """Close the sandbox if what it says is not what our guest says."""
        try:
            yield
        except BadReply as error:
            self._channel.close()
            raise BadReply(f"the sandbox sent an invalid answer to {op!r} ({error})") from None

    def ping(self) -> None:
        """Raise SandboxError if the sandbox does not answer."""
        self._ask("ping", Reply, timeout_s=5)

    def used_s(self) -> float:
        """Return the processor seconds used by all programs that ever ran in the sandbox; see `Channel`."""
        return self._channel.used_s()

    def prepare(self) -> None:
        """Start the warm Python, which makes the first test run and the first debugger session fast."""
        self._ask("prepare", Reply, timeout_s=30)

    def put(self, files: Mapping[str, bytes], fresh: bool = False) -> None:
        """Fill the workspace. Its content afterwards is the baseline of `changes`.

        `fresh`: first empty the workspace, and the temporary folders if they belong to the sandbox alone.
        """
        if fresh and self._halted:
            self._halted = False
            if not self._channel.join(GRACE_S):
                raise SandboxError(f"sandbox {self.name} does not end")
            self._begin()
        self._ask("put", Reply, body=archive(files, mtime=0), timeout_s=60, built=self._built, fresh=fresh)

    def read(self, path: str) -> bytes:
        """Return a file's content. Raises Refused."""
        return self._ask("read", Reply, path=path)[1]

    def resolve(self, path: str) -> str:
        """Follow the links of a path. Returns the path relative to the workspace. Raises Refused."""
        if len(path) > LONGEST_PATH:
            raise Refused(f"a path has at most {LONGEST_PATH:,} characters, and this one has {len(path):,}")
        return self._ask("resolve", Resolved, path=path)[0].path

    def edit(self, path: str, text: str, start: int | None = None, end: int | None = None) -> Edit:
        """Replace lines `start` to `end` (1-based, inclusive), or the whole file; see the guest's `Workspace.edit`."""
        body = text.encode("utf-8", "replace")
        reply, content = self._ask("edit", Edited, body=body, path=path, start=start, end=end)
        self._news.extend(reply.changed_files)
        return Edit(
            created=reply.created,
            first=reply.first,
            replaced=reply.replaced,
            added=reply.added,
            changed=reply.changed,
            touched=reply.touched,
            syntax_error=reply.syntax_error,
            content=content,
        )

    def restore(self, path: str, content: bytes | None) -> str:
        """Give a file exactly this content, or delete it if `content` is None.

        Returns the syntax error of a Python file that no longer parses, else an empty text. Raises Refused.
        """
        reply = self._ask("restore", Changed, body=content or b"", path=path, gone=content is None)[0]
        self._news.extend(reply.changed_files)
        return "".join(file.syntax_error for file in reply.changed_files)

    def listing(self, path: str = ".", depth: int = 1, limit: int = 500) -> Listing:
        """List the entries below a folder. Raises Refused."""
        return self._ask("list", Listing, path=path, depth=depth, limit=limit)[0]

    def search(
        self, pattern: str, path: str = ".", glob: str = "", limit: int = 100, ignore_case: bool = False
    ) -> Found:
        """Find lines that match a regular expression. Raises Refused."""
        request: dict[str, Any] = {"pattern": pattern, "path": path, "glob": glob, "limit": limit}
        return self._ask("search", Found, timeout_s=15, ignore_case=ignore_case, **request)[0]

    def news(self) -> list[ChangedFile]:
        """Return the files that commands, tests, edits and debugged programs changed since the last call.

        A file may appear twice. This sends no request: each answer of the guest already lists the changed files.
        """
        news, self._news = self._news, []
        return news

    def changes(self) -> Changes:
        """Return the differences from the baseline."""
        reply, archived = self._ask("changes", Differences, timeout_s=60)
        with self._checking("changes"):
            files, nameless = read_archive(archived)
        return Changes(files=files, deleted=reply.deleted, skipped=(*reply.skipped, *nameless))

    def footprint(self) -> Footprint:
        """Return what programs have left behind, to compare it later."""
        return self._ask("footprint", Footprint, timeout_s=60)[0]

    def use_pids(self, until: int) -> None:
        """Use up process ids, so that the next program gets one above `until`."""
        self._ask("use_pids", Reply, timeout_s=60, until=until)

    def run(self, command: str, timeout_s: float, cap: int = OUTPUT_CAP) -> CommandResult:
        """Run a shell command in the workspace. All processes it started end with it. Raises Refused."""
        request: dict[str, Any] = {"grace_s": _grace(timeout_s), "command": command, "cap": cap}
        return self._result(*self._ask("run", Ran, timeout_s=timeout_s, **request))

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
        reply, output = self._ask("test", Tested, body=body, timeout_s=timeout_s, **options)
        return replace(self._result(reply, output), report=reply.report)

    def eval(self, command: str, timeout_s: float, key: bytes) -> FollowedRun:
        """Run the visible tests like `test`, for no verdict. The records are the failures, if the command is pytest."""
        options: dict[str, Any] = {"command": command, "cap": OUTPUT_CAP, "grace_s": _grace(timeout_s)}
        reply, content = self._ask("eval", Evaluated, body=key + b"[]", timeout_s=timeout_s, **options)
        records, output = content[: reply.records], content[reply.records :]
        result = replace(self._result(reply, output), report=reply.report)
        return FollowedRun(result, records.splitlines(), reply.whole)

    def follow(self, command: str, spec: Mapping[str, Any], timeout_s: float) -> FollowedRun:
        """Run a Python program under an observer; for `spec`, see the guest's `laboratory`. Raises Refused."""
        request: dict[str, Any] = {"grace_s": _grace(timeout_s), "command": command, "cap": OUTPUT_CAP, "spec": spec}
        reply, content = self._ask("follow", Followed, timeout_s=timeout_s, **request)
        records, output = content[: reply.records], content[reply.records :]
        return FollowedRun(self._result(reply, output), records.splitlines(), reply.whole)

    def debug(
        self,
        commands: str,
        entry: str,
        timeout_s: float,
        test: str = "",
        only: Collection[str] = (),
        value_limit: int = 1000,
        session: str = "",
    ) -> Debugged:
        """Execute pdb commands and code; see the guest's `Debugger.act`. Raises Refused.

        Sessions with different names are independent of each other.
        """
        body = commands.encode("utf-8", "replace")
        # The debugger may have to be started before the time for the commands begins.
        grace_s = _grace(timeout_s + 30) + 30
        request: dict[str, Any] = {"grace_s": grace_s, "entry": entry, "only": list(only), "value_limit": value_limit}
        request |= {"test": test, "session": session}
        reply = self._ask("debug", Debugged, body=body, timeout_s=timeout_s, **request)[0]
        self._news.extend(reply.changed_files)
        return reply

    def end_debug(self, session: str) -> None:
        """End a debugger session, if it exists, and forget its breakpoints."""
        self._ask("end_debug", Reply, session=session)

    def type(
        self,
        typed: Sequence[str] | None,
        until: Collection[str],
        *,
        timeout_s: float,
        silence_s: float = 0,
        restart: bool = False,
        cap: int = OUTPUT_CAP,
    ) -> tuple[Typed, bytes]:
        """Type texts into the terminal and wait for an event; see the guest's `Terminal.act`. Raises Refused.

        Returns the result, and the bytes that were printed meanwhile.
        """
        # The shell may have to be started first.
        request: dict[str, Any] = {"grace_s": _grace(timeout_s + 30), "silence_s": silence_s, "cap": cap}
        request |= {"typed": None if typed is None else list(typed), "until": list(until), "restart": restart}
        reply, output = self._ask("terminal", Typed, timeout_s=timeout_s, **request)
        with self._checking("terminal"):
            if reply.event not in (*until, "time", "ended") or (reply.event == "output" and not output):
                raise BadReply("it reports an event that was not requested")
        self._news.extend(reply.changed_files)
        return reply, output

    def serve(
        self, name: str, argv: Sequence[str], env: Mapping[str, str], prefix: Environment | None, traces: bool = False
    ) -> None:
        """Start, or restart, a server: a program that reads and writes lines; see `exchange`. Raises Refused.

        `prefix`: one of the specification's prefixes, whose programs come first on the server's PATH. `traces`: it is a
        debugger, which may trace other programs of the sandbox.
        """
        folder = f"{self._channel.prefixes}/{prefix.digest}" if prefix is not None else ""
        request: dict[str, Any] = {"name": name, "argv": list(argv), "env": dict(env), "prefix": folder}
        self._ask("serve", Reply, timeout_s=30, traces=traces, **request)

    def exchange(self, name: str, data: bytes, timeout_s: float, cap: int) -> tuple[Exchanged, bytes]:
        """Send bytes to a server, and return at most `cap` bytes of whole lines as soon as there is one."""
        request: dict[str, Any] = {"grace_s": _grace(timeout_s), "name": name, "cap": cap}
        reply, lines = self._ask("exchange", Exchanged, body=data, timeout_s=timeout_s, **request)
        with self._checking("exchange"):
            if not (lines or reply.ended or reply.timed_out or reply.flooded):
                raise BadReply("it has no line, and says nothing about why")
        self._news.extend(reply.changed_files)
        return reply, lines

    def stop(self, name: str) -> None:
        """End a server and all processes that it started."""
        self._ask("stop", Reply, timeout_s=30, name=name)

    def _result(self, reply: Ran, output: bytes) -> CommandResult:
        self._news.extend(reply.changed_files)
        return CommandResult(
            exit=reply.exit,
            output=output.decode("utf-8", "replace").replace("\0", "\ufffd"),
            timed_out=reply.timed_out,
            waited_s=reply.waited_s,
            dropped=reply.dropped,
            wall_ms=reply.wall_ms,
        )
