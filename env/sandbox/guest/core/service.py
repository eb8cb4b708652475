"""Answers requests, one at a time, until the channel closes."""

from __future__ import annotations

import fcntl
import gc
import os
import signal
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from .files import Refused
from .framing import ChannelClosed, FdChannel
from .launcher import Launcher
from .processes import KEPT, descendants, kill_tree, protect_self, reap
from .requests import CoreRequests, Reply, Request

_LONGEST = 100_000
"""The most characters that are kept of either end of a problem's description."""


def serve(zip_fd: int, warm: Optional[Tuple[int, int]], parts: Sequence[Callable[[CoreRequests], Any]]) -> None:
    """Answer requests, which are frames on descriptor 0, with frames on descriptor 1. Does not return.

    `warm`: the socket and the process id of a warm Python that is already running. `parts`: classes of further
    requests; earlier ones take precedence, and the core's own requests before all.
    """
    gc.freeze()  # imported modules stay anyway
    gc.enable()
    protect_self()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, replies = _private(0), _private(1)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1):
        os.dup2(null, fd)
    core = CoreRequests(Launcher(zip_fd, requests, warm), requests)
    service = Service(core, [part(core) for part in parts])
    try:
        service.run(FdChannel(requests, replies))
    except ChannelClosed:
        pass
    finally:
        KEPT.clear()
        kill_tree(descendants(os.getpid()))
        os._exit(0)  # nothing is left for Python's own shutdown to do


class Service:
    """Passes each request to the part that has a method for it."""

    def __init__(self, core: CoreRequests, parts: Sequence[Any]) -> None:
        self._core = core
        self._parts: List[Any] = [core, *parts]

    def run(self, channel: FdChannel) -> None:
        """Answer requests. Raises ChannelClosed when the host is gone."""
        while True:
            request, body = channel.receive()
            reply, content = self._answer(request, body)
            for listener in self._core.on_answer:
                listener(request["op"])
            reply["id"] = request.get("id")
            channel.send(reply, content)
            reap()

    def _answer(self, request: Request, body: bytes) -> Reply:
        reply: Dict[str, Any]
        try:
            reply, content = self._handler(request["op"])(request, body)
            reply["ok"] = True
        except Refused as error:
            reply, content = _problem("refused", str(error)), b""
        except (OSError, MemoryError) as error:
            # The agent caused the state of the workspace; before the agent acts, the sandbox itself is at fault.
            kind = "failed" if request["op"] in ("hello", "prepare") else "refused"
            reply, content = _problem(kind, "%s: %s" % (type(error).__name__, error)), b""
        except Exception:
            import traceback

            reply, content = _problem("bug", traceback.format_exc()), b""
        return reply, content

    def _handler(self, name: str) -> Callable[[Request, bytes], Reply]:
        for part in self._parts:
            handler: Optional[Callable[[Request, bytes], Reply]] = getattr(part, "do_" + name, None)
            if handler is not None:
                return handler
        raise ValueError("unknown request %r" % name)


def _problem(problem: str, text: str) -> Dict[str, Any]:
    return {"ok": False, "problem": problem, "text": text[:_LONGEST] + text[_LONGEST:][-_LONGEST:]}


def _private(fd: int) -> int:
    # A descriptor with a high number that is closed on exec, so that no child inherits the channel.
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100)
